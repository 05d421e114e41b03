/* SPDX-License-Identifier: BSD-3-Clause
 * absence - for how long the process was off the processor between two calls
 */
#include "preload/absence.h"

#include "preload/clock.h"

/* Ticks a ms: no counter has more. */
#define TICKS_MOST (UINT64_C(1) << 32)
/* Part of the time between two looks. */
#define SOON 16
/* Calls, each of which comes here twice. */
#define PATIENCE 64

static uint64_t least_gap(const struct recorder *r)
{
	return r->away.ticks_per_ms * ABSENCE_NS / 1000000;
}

static uint64_t ticks_to_ns(const struct recorder *r, uint64_t ticks)
{
	const uint64_t per_ms = r->away.ticks_per_ms;
	return ticks / per_ms * 1000000 + ticks % per_ms * 1000000 / per_ms;
}

/* Is it a call in which the library may make system calls? */
static bool may_ask(const struct recorder *r, const struct site *s)
{
	return s->function < FUNCTIONS && r->waits[s->function];
}

void absence_start(struct recorder *r, bool filtered)
{
	const struct record *record = r->record;
	uint64_t ticks = record->clock_ticks[1] - record->clock_ticks[0],
		 us = (record->clock_ns[1] - record->clock_ns[0]) / 1000;
	r->look_at = UINT64_MAX;
	if (filtered || us == 0 || ticks == 0 || ticks > UINT64_MAX / 1000)
		return;
	r->away.ticks_per_ms = ticks * 1000 / us;
	if (r->away.ticks_per_ms == 0 || r->away.ticks_per_ms > TICKS_MOST)
		return;
	r->away.used = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	r->look_at = clock_ticks() + least_gap(r);
}

/* The place of an edge; one that is not there yet takes the least one's. NULL: it is less than all. */
static struct record_away *away_at(struct record *r, uint32_t from, uint32_t to, uint64_t ns)
{
	struct record_away *least = &r->away[0];
	for (unsigned i = 0; i < RECORD_AWAYS; i++) {
		if (r->away[i].from == from && r->away[i].to == to)
			return &r->away[i];
		if (r->away[i].ns < least->ns)
			least = &r->away[i];
	}
	if (least->ns >= ns)
		return NULL;
	*least = (struct record_away){.from = from, .to = to};
	return least;
}

/* Reads, and books the longest computation since the last reading, where it was not used for. */
static void absence_look(struct recorder *r)
{
	struct away *a = &r->away;
	const uint64_t now = clock_ns(CLOCK_PROCESS_CPUTIME_ID), used = now - a->used, all = ticks_to_ns(r, a->gap);
	struct record_away *at = used < all && a->from && a->to ? away_at(r->record, a->from, a->to, all - used) : NULL;
	if (at)
		at->ns += all - used;
	a->used = now;
	a->gap = 0;
}

/* A call that does not wait asks nothing. Behind a long computation the next ones are looked at, too, for one that
 * waits is to ask before it begins. Then the next look is put off: among calls that only poll, one in a hundred comes
 * here. */
static void postpone(struct recorder *r, uint64_t now)
{
	if (r->away.gap && r->away.patience > 0)
		r->away.patience--;
	else
		r->look_at = now + least_gap(r) / SOON;
}

void absence_before(struct recorder *r, struct call *c)
{
	const uint64_t begin = c->start, gap = begin > r->last_end ? begin - r->last_end : 0;
	if (gap >= least_gap(r) && gap > r->away.gap) {
		r->away.gap = gap;
		r->away.from = r->last->self;
		r->away.to = c->site->self;
		r->away.patience = PATIENCE;
	}
	if (!may_ask(r, c->site)) {
		postpone(r, begin);
		return;
	}
	absence_look(r);
	const uint64_t now = clock_ticks(), took = now - begin;
	r->last_end += took;
	if (c->detail)
		c->entry += took;
	r->record->own_ticks += took;
	r->record->since = c->start = now;
	r->look_at = now + least_gap(r);
}

void absence_behind(struct recorder *r, const struct call *c)
{
	if (!may_ask(r, c->site)) {
		postpone(r, c->end);
		return;
	}
	const uint64_t begin = clock_ticks();
	absence_look(r);
	const uint64_t now = clock_ticks();
	if (!r->detail) { /* else it is measured with the rest */
		r->last_end += now - begin;
		r->record->own_ticks += now - begin;
	}
	r->look_at = now + least_gap(r);
}
