/* SPDX-License-Identifier: BSD-3-Clause
 * cost - what recording takes itself
 */
#include "preload/cost.h"

#include "preload/clock.h"
#include "preload/recorder_internal.h"

void cost_own(struct recorder *r, uint64_t ticks)
{
	r->record->own_ticks += ticks;
	r->last_end += ticks;
}

__attribute__((cold)) void cost_sample(struct recorder *r, const struct call *c)
{
	/* no round number of events: loops may be of such a length; the first events are not like the others */
	enum { EVERY = 61, LATER = 1 << 14, EVERY_LATER = 251, EVERY_RARELY = 509, FIRST = 16, SMOOTH = 8 };
	enum { OUTLIER = 16, EMPTY = TIME_FULL / TIME_ONE / 2 };
	struct record *record = r->record;
	struct site *s = c->site;
	if (r->detail) { /* measured each time */
		r->sample_at = UINT64_MAX;
		return;
	}
	uint64_t now = clock_ticks(), after = now > c->end ? now - c->end : 0, cost = after + r->before;
	record->own_ticks += r->cost * (record->events - r->sampled);
	if (record->events >= r->emptied + EMPTY) {
		record_times_empty(&r->arena, record);
		r->emptied = record->events;
	}
	if (record->events <= FIRST || cost > OUTLIER * r->cost) {
		/* something that happens once, or another process had the processor; or events are dearer now than they
		 * were */
		record->own_ticks += after;
		r->last_end = now;
		r->cost = record->events > FIRST      ? r->cost + r->cost / SMOOTH + 1
		          : r->cost && r->cost < cost ? r->cost
		                                      : cost;
	} else {
		r->cost += cost / SMOOTH - r->cost / SMOOTH;
		s->cost = (uint32_t)(s->cost ? s->cost + cost / SMOOTH - s->cost / SMOOTH : cost);
	}
	r->sampled = record->events;
	r->sample_at = record->events < FIRST   ? 0
	               : r->memo.rarely         ? record->events + EVERY_RARELY /* these are many, and all alike */
	               : record->events > LATER ? record->events + EVERY_LATER
	                                        : record->events + EVERY;
	if (!r->columns.failed)
		arena_notice(&r->arena); /* measure the next one's begin */
}
