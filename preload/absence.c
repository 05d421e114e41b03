/* SPDX-License-Identifier: BSD-3-Clause
 * absence - for how long the process was off the processor between two calls
 */
#include "preload/absence.h"

#include "preload/clock.h"

/* Ticks a ms: no counter has more. */
#define TICKS_MOST (UINT64_C(1) << 32)
/* Calls that do not wait, behind a long computation. */
#define PATIENCE 64
/* Visits after which a call is no longer followed by a long computation. */
#define VISITS 32
/* In site.unusual: that of a call that is late, and, above all that a call may be, how many visits are left. */
#define LATE    (((struct call){.late = true}).unusual)
#define A_VISIT 0x100u
/* Part of ABSENCE_NS that a reading takes at most. Where it took longer, somebody else had the processor. */
#define READING 32

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
	struct away *a = &r->away;
	uint64_t ticks = record->clock_ticks[1] - record->clock_ticks[0],
		 us = (record->clock_ns[1] - record->clock_ns[0]) / 1000;
	a->least = UINT64_MAX;
	if (filtered || us == 0 || ticks == 0 || ticks > UINT64_MAX / 1000)
		return;
	a->ticks_per_ms = ticks * 1000 / us;
	if (a->ticks_per_ms == 0 || a->ticks_per_ms > TICKS_MOST)
		return;
	a->used = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	a->least = a->ticks_per_ms * ABSENCE_NS / 1000000;
	a->look_at = clock_ticks() + a->least;
	a->next = true; /* MPI_Init may be followed by one */
	arena_notice(&r->arena);
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

/* Reads; begin: when that began. Returns how many of the ticks since then are the tracer's. */
static uint64_t absence_read(struct recorder *r, uint64_t begin)
{
	absence_look(r);
	const uint64_t now = clock_ticks(), took = now > begin ? now - begin : 0, most = r->away.least / READING;
	r->away.look_at = now + r->away.least;
	return took < most ? took : most;
}

void absence_note(struct recorder *r, const struct call *c, uint64_t ticks)
{
	struct away *a = &r->away;
	r->last->unusual = LATE | VISITS * A_VISIT;
	if (ticks > a->gap) {
		a->gap = ticks;
		a->from = r->last->self;
		a->to = c->site->self;
		a->patience = PATIENCE;
	}
	a->next = true;
	arena_notice(&r->arena);
}

void absence_look_before(struct recorder *r, struct call *c)
{
	const uint64_t gap = c->start > r->last_end ? c->start - r->last_end : 0;
	r->away.next = false;
	c->late = true;
	if (gap >= r->away.least && r->last != &call_nowhere)
		absence_note(r, c, gap);
	if (!r->away.gap || !may_ask(r, c->site))
		return;
	const uint64_t own = absence_read(r, c->start);
	r->last_end += own;
	if (c->detail)
		c->entry += own;
	r->record->own_ticks += own;
	r->record->since = c->start += own;
}

void absence_behind(struct recorder *r, struct call *c)
{
	const uint64_t begin = c->end;
	if (c->slow || c->rec != r || begin < r->away.look_at || r->away.least == UINT64_MAX || !may_ask(r, c->site))
		return;
	r->away.behind = absence_read(r, begin);
	const uint64_t now = clock_ticks();
	c->end = now > begin + r->away.behind ? now - r->away.behind : begin;
	if (c->detail) /* it is measured with the rest */
		r->away.behind = 0;
}

void absence_after(struct recorder *r, const struct call *c)
{
	struct away *a = &r->away;
	struct site *s = c->site;
	r->last_end += a->behind;
	r->record->own_ticks += a->behind;
	a->behind = 0;
	if (s && s->unusual)
		s->unusual = s->unusual > (LATE | A_VISIT) ? s->unusual - A_VISIT : 0;
	if (a->gap && a->patience > 0)
		a->patience--;
	a->next = (s && s->unusual) || (a->gap && a->patience > 0);
	if (a->next)
		arena_notice(&r->arena);
}
