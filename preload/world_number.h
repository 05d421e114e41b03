/* SPDX-License-Identifier: BSD-3-Clause
 * world_number - the number of an MPI_COMM_WORLD, by which its ranks find each other's arenas
 */
#ifndef SPOOR_WORLD_NUMBER_H
#define SPOOR_WORLD_NUMBER_H

#include <stdint.h>
#include <sys/types.h>

#include "preload/pmix.h"

/* A number that all ranks of this MPI_COMM_WORLD know, and no other world has, without asking anybody (preload/tree.h
 * says why). size: of MPI_COMM_WORLD; pid: this process. */
uint64_t world_number(const struct pmix *pmix, int size, pid_t pid);
/* The number of the world that spawned this one, and *rank, the rank that did; 0: none did. */
uint64_t world_number_parent(const struct pmix *pmix, uint64_t *rank);

#endif
