/* SPDX-License-Identifier: BSD-3-Clause
 * clock_offset - how far the clock of another node is from this one's
 */
#include "merge/clock_offset.h"

#include "trace/model/timing.h"

/* Counters, and clocks that are set slowly, are at most this part apart (500 ppm). More: somebody set CLOCK_REALTIME
 * while the job ran, and it says nothing of the start. */
#define DRIFT_PARTS 2000

static int64_t middle(int64_t a, int64_t b)
{
	return a + (b - a) / 2;
}

void clock_offset_add(struct clock_offset *o, struct clock_reading sent, struct clock_reading there,
                      struct clock_reading back)
{
	int64_t way = back.events - sent.events;
	if (way < 0 || (o->way >= 0 && way >= o->way))
		return;
	*o = (struct clock_offset){.way = way,
	                           .events = there.events - middle(sent.events, back.events),
	                           .real = there.real - middle(sent.real, back.real),
	                           .at = there.events};
}

void clock_offset_apply(const struct clock_offset *o, struct trace *t)
{
	for (uint32_t i = 0; o->way >= 0 && i < t->timing_count; i++) {
		struct trace_timing *r = &t->timing[i];
		int64_t lasted = o->at - r->start, drift = o->events - o->real;
		if (lasted <= 0 || drift > lasted / DRIFT_PARTS || -drift > lasted / DRIFT_PARTS) {
			r->start -= o->events;
			continue;
		}
		/* its clock gained `drift` in that time, so that each of its ns is less */
		r->start -= o->real;
		r->ns -= (uint64_t)(int64_t)((double)r->ns * (double)drift / (double)lasted);
	}
}
