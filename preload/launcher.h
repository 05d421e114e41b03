/* SPDX-License-Identifier: BSD-3-Clause
 * launcher - what the launcher left in the environment of this process: its world, the ranks beside it, its parents
 *
 * No library is asked, not even PMIx: an environment cannot crash, hang or answer later. Each launcher leaves enough
 * (launcher.c has the table). Asked after MPI_Init, because Open MPI 4 adds the variables of a process that was started
 * by itself there. Whatever the variables say, nothing is done but to name files and to wait for fewer ranks.
 */
#ifndef SPOOR_LAUNCHER_H
#define SPOOR_LAUNCHER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How many ranks there will be, as far as launchers tell before MPI_Init; else 1. */
uint64_t launcher_ranks(void);

/* Of MPI_COMM_WORLD, which has `size` ranks: how many are on this node; 0: not known. */
int launcher_local_ranks(int size);

/* Executables of the world; 0: not known. */
int launcher_executables(void);

/* A number that all ranks of this MPI_COMM_WORLD know, and no other world has, without asking anybody (preload/tree.h
 * says why). size: of MPI_COMM_WORLD; pid: this process. */
uint64_t launcher_world(int size, pid_t pid);
/* The number of the world that spawned this one, and *rank, the rank that did; 0: none did, or it is not known. */
uint64_t launcher_parent(uint64_t *rank);

/* The node's name: Slurm's, or the host's. */
void launcher_node(char *name, size_t size);

#endif
