/* SPDX-License-Identifier: BSD-3-Clause
 * own_time - what the tracer itself used between two calls, where the time of each event is recorded
 *
 * Recording all times costs some 0.3 us an event, as long as a short computation. All sums are without it; the times of
 * single events are when they were, and what passed between two of them has it. How much it was is known of each rank,
 * in all: each event owes its share, and where less passed than is owed the rest is taken from what passes later. So
 * what is left of a rank's computation is what its total says.
 */
#ifndef SPOOR_OWN_TIME_H
#define SPOOR_OWN_TIME_H

#include "trace/model/means.h"
#include "trace/model/trace.h"

struct own_time {
	double each, owed; /* ns */
};

/* stream: as in trace/model/stream.h. Where nothing is known, nothing is taken off. */
static inline void own_time_begin(struct own_time *o, const struct trace *t, uint32_t stream)
{
	uint64_t total = 0;
	int64_t events = 0;
	*o = (struct own_time){0};
	if (trace_total_get(&t->total[TOTAL_OVERHEAD], stream, &total) && rankmap_get(&t->events, stream, &events) &&
	    events > 0)
		o->each = (double)total / (double)events;
}

/* To be told before each event what passed since the last one, in ns; 0 before the first one. Returns the
 * application's part. */
static inline double own_time_without(struct own_time *o, double ns)
{
	o->owed += o->each;
	const double paid = o->owed < ns ? o->owed : ns;
	o->owed -= paid;
	return ns - paid;
}

#endif
