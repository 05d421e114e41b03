/* SPDX-License-Identifier: BSD-3-Clause
 * rank_clock - a clock of a rank that all ranks agree on without a message, in the replay of a trace without order
 *
 * It is what the rank's calls, and the computation between them, took on average over all ranks, in ns. The last call
 * on that synchronizes all ranks begins an epoch, and the clock is 0 there. All ranks began and ended at about the same
 * time: the clock of one whose calls are others is stretched to that.
 */
#ifndef SPOOR_RANK_CLOCK_H
#define SPOOR_RANK_CLOCK_H

#include "trace/model/trace.h"
#include "trace/read/walk.h"

struct rank_clock {
	const struct trace *trace;
	uint32_t last; /* site of the event before, or UINT32_MAX */
	uint64_t epoch;
	double end, begin, until; /* behind the event before; when this one begins and ends */
	double stretch;
	const int64_t *sizes; /* of communicators, by number */
	size_t size_count;
};

/* Returns 0, or -1 with error set; it is to be closed in any case. The trace must outlive it. */
int rank_clock_open(struct rank_clock *c, const struct trace *t, uint32_t rank, struct error *error);
void rank_clock_close(struct rank_clock *c);
/* Goes on to the rank's next event, and leaves it behind. */
void rank_clock_begin(struct rank_clock *c, const struct event *e);
void rank_clock_end(struct rank_clock *c, const struct event *e);

#endif
