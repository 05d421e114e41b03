/* SPDX-License-Identifier: BSD-3-Clause
 * hang - what a job that was killed was waiting for, as far as its trace can tell
 *
 *     MPI_Bcast did not end: 3 ranks (0-1,3) were in it for 218.1 s together. Rank 2 did not come: it computed for
 *     72.7 s after MPI_Barrier.
 *
 * Who did not come is said of calls that are collective: which ranks were in no call of this function. Of a receive
 * it is said from whom, if the site received from one rank only before. The parameters of a call in flight are in no
 * trace: it has not returned.
 */
#ifndef SPOOR_INSIGHT_HANG_H
#define SPOOR_INSIGHT_HANG_H

#include <stddef.h>

#include "trace/model/unended.h"

/* The ranks that did not come to it, as a set: those that were in no call of its function, of MPI_COMM_WORLD (those
 * that left no trace as well). Empty if it is not collective, or of another communicator. Returns 0 or -1; the caller
 * frees *out. */
int hang_missing(struct rankmap *out, const struct trace *t, const struct trace_unended *call);

/* "0-3,8", cut to size with "..." if there are many runs. Returns out. */
const char *hang_ranks(char *out, size_t size, const struct trace *t, const struct rankmap *ranks);
/* The whole in some sentences: the verdict of verdict.h, and where it proves nothing, who was where. Empty if
 * nothing is known. *found is the verdict; patience, end: as verdict_find has them. Returns out. */
#define HANG_VERDICT 1536
struct verdict;
struct run_end;
const char *hang_verdict(char out[HANG_VERDICT], const struct trace *t, struct verdict *found, uint64_t patience,
                         const struct run_end *end);

#endif
