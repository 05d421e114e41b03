/* SPDX-License-Identifier: BSD-3-Clause
 * snapshot - a copy of a running process' arena, as it was at one instant
 *
 * The process is neither stopped nor slowed, and need not know. What it changes while the arena is copied is read
 * again, all of it together, until it stays the same for as long as that takes:
 *
 *     copied      a b c d e f        c and e have changed when all is compared:
 *     together    c e, and once more: c e are the same   -> at the end of the first reading both were so
 *     compared    a b d f are still what was copied       -> at that instant the arena was a b c d e f
 *
 * A process that waits in a call changes nothing. One that calls MPI_Test in a loop changes some fifty words, which are
 * read in less time than a call takes.
 */
#ifndef SPOOR_SNAPSHOT_H
#define SPOOR_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

/* Copies what is used of the arena in the file, which has `size` bytes, to `to`, which is zeroed. The file is mapped:
 * if its owner truncates it meanwhile, the reader gets SIGBUS; so only who owns it should ask. False: it changed faster
 * than it can be read, or cannot be mapped. What was copied is as untrusted as the file. */
bool snapshot_take(uint8_t *to, uint64_t size, int fd);

#endif
