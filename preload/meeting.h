/* SPDX-License-Identifier: BSD-3-Clause
 * meeting - have all ranks of a node come to MPI_Finalize? In shared memory, without a message
 *
 * The ranks meet in the header of one rank's arena. There is nothing to be given up: no message is sent, no lock is
 * held, and a rank that is killed leaves nothing that another one waits for.
 *
 * One word decides for all: how many have come, and two bits. It is only ever changed by compare-and-swap, so all see
 * one outcome, at whatever instant somebody's patience ends:
 *
 *     all have come, and all are ready          they meet
 *     somebody came who is not ready            nobody waits any more, or begins to
 *     somebody's time was up before all came    the same: who comes later finds it closed
 */
#ifndef SPOOR_MEETING_H
#define SPOOR_MEETING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/error.h"

/* Waits in the arena at `path`, which is the same for all, for `size` ranks, the caller among them, until
 * CLOCK_MONOTONIC says `end` (ns). ready: this rank has what the others come for. *choice becomes the least of all
 * ranks' (0 .. INT64_MAX). Messages that the application has under way are seen to meanwhile; errors on MPI_COMM_SELF
 * must be returned. Returns 0 if all came and were ready, else -1 with error set: then it is -1 for all. */
int meeting_hold(const char *path, uint32_t size, uint64_t end, bool ready, int64_t *choice, struct error *error);
/* Says that not all came in this time (ns). Returns -1. */
int meeting_lacks(uint64_t ns, struct error *error);

#endif
