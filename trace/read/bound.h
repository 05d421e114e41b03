/* SPDX-License-Identifier: BSD-3-Clause
 * bound - how large a lossy trace can get: sites x columns x (threshold + bins), whatever the program does and however
 * long it runs
 *
 * A column in order has at most as many tokens as the threshold says, and 4 x threshold + 16 nodes of what ranks differ
 * by; one that lost its order is one tally. A site and each of its edges have one histogram of k bins. So the bytes of
 * a trace are bounded by its *shape*:
 *
 *     sites, their columns and edges       the program's: its call sites, and which follows which
 *     nodes of the maps of visits, of RANK how many kinds of ranks there are (which sites they visit, how often)
 *     threshold, k                         the policy's
 *     elements of the longest array        of columns whose values are arrays: one of them counts as one token
 *     strings, frames                      names of functions, files, hosts; the program's code
 *
 * None of it grows with the number of events. What each of them may take in the file is doc/trace-format.md's, in the
 * worst case: numbers of five or ten bytes, where one is usual. Not bounded, but counted as what they are: tables of
 * objects (a row for each communicator, datatype, ... that the program makes), with structure exact columns that keep
 * their order (successors and handles), with timing: full the times of events.
 */
#ifndef SPOOR_BOUND_H
#define SPOOR_BOUND_H

#include "trace/model/trace.h"

struct bound {
	uint64_t sites, columns, edges, behaviours; /* the shape: nodes of maps of ranks are behaviours */
	uint64_t exact;                             /* columns that keep their order */
	uint64_t entries;                           /* tokens, stretches, nodes and bins that there are */
	uint64_t entries_most;                      /* and may be */
	uint64_t bytes_most;                        /* of the file without META and FULL */
};

/* Of a trace whose mode was lossy. Returns 0, or 1: it was not, and there is no bound. */
int bound_make(struct bound *b, const struct trace *t);

#endif
