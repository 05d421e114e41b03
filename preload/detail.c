/* SPDX-License-Identifier: BSD-3-Clause
 * detail - what is recorded of each call only if the policy asks for it
 */
#include "preload/detail.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/counters.h"
#include "preload/pool.h"
#include "preload/thread.h"
#include "trace/record/record_class.h"

/* What the recorder itself counts in front of a call is measured for the first events, many of which are the first of
 * their site, and for each of so many. */
enum { FIRST = 256, EVERY = 31 };

static void make_detail(struct recorder *r, unsigned counters, bool times, unsigned digits)
{
	struct arena *a = &r->arena;
	struct detail *d = calloc(1, sizeof *d);
	if (!d)
		return;
	d->times = times;
	d->digits = digits;
	d->most = a->size / 2;
	r->record->timing = times ? digits + 1 : 0;
	d->counters = counters;
	ref at = d->counters && arena_room(a, sizeof(struct record_counters) + EVENT_ROOM)
	                 ? arena_alloc(a, sizeof(struct record_counters))
	                 : 0;
	arena_commit(a);
	if (at) {
		struct record_counters *table = arena_at(a, struct record_counters, at);
		for (unsigned i = 0; i < d->counters; i++)
			table->each[i].name = pool_string(r, counters_name(i), strlen(counters_name(i)));
		table->count = d->counters;
		arena_barrier();
		r->record->counters = at;
	} else {
		d->counters = 0;
	}
	r->detail = d;
	arena_notice(&r->arena);
}

void detail_start(struct recorder *r, const char *list, bool times, uint64_t millionths)
{
	if (*list || times)
		make_detail(r, *list ? counters_setup(list) : 0, times, flow_digits(millionths));
}

void detail_join(struct recorder *r, const struct recorder *first)
{
	unsigned digits = first->record->timing ? (unsigned)first->record->timing - 1 : 0;
	make_detail(r, first->detail->counters, first->record->timing != 0, digits);
}

char *detail_notes(const struct recorder *r, char separator, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (unsigned i = 0; r->detail && i < r->detail->counters && used < size; i++)
		if (counters_reason(i)) {
			int n = snprintf(out + used, size - used, "%.*s%s is not counted: %s", used > 0, &separator,
			                 counters_name(i), counters_reason(i));
			if (n < 0 || (size_t)n >= size - used) {
				out[used] = '\0';
				break;
			}
			used += (size_t)n;
		}
	return out;
}

/* Says in the arena why events are not counted. */
static void note_uncounted(struct recorder *r)
{
	struct record_counters *table = arena_at(&r->arena, struct record_counters, r->record->counters);
	for (unsigned i = 0; i < r->detail->counters; i++)
		if (counters_reason(i) && !table->each[i].reason)
			table->each[i].reason = pool_string(r, counters_reason(i), strlen(counters_reason(i)));
}

static bool counts_events(const struct detail *d)
{
	return d->counting && d->thread == (unsigned long)pthread_self();
}

/* From one reading to the next one: the least of a few. */
static void measure_reading(struct detail *d)
{
	int64_t at[5][TRACE_COUNTERS];
	for (int n = 0; d->counting && n < 5; n++)
		counting_read(d->counting, at[n]);
	for (unsigned i = 0; d->counting && i < d->counters; i++)
		for (int n = 1; n < 5; n++)
			if (n == 1 || at[n][i] - at[n - 1][i] < d->reading[i])
				d->reading[i] = at[n][i] - at[n - 1][i];
}

/* An event that is not like others must not be taken for them all. */
static void learn_own(const struct detail *d, int64_t *own, int64_t now)
{
	int64_t step = (now - *own) / 4, most = *own / 8 + 1;
	if (d->measured < FIRST)
		*own = d->measured == 0 || now < *own ? now : *own;
	else
		*own += step > most ? most : step < -most ? -most : step;
}

static void begin_counting(struct recorder *r)
{
	struct detail *d = r->detail;
	counting_end(d->counting);
	d->known = false;
	d->begun = true;
	d->thread = (unsigned long)pthread_self();
	d->counting = counting_begin();
	measure_reading(d);
	note_uncounted(r);
}

/* First of all, the reading: what the recorder does from here on until detail_leave is not the program's. */
void detail_enter(struct recorder *r)
{
	struct detail *d = r->detail;
	int saved = errno;
	/* threads that come one after the other have one recorder */
	if (d->counters && (!d->begun || (d->thread != (unsigned long)pthread_self() && !r->shared)))
		begin_counting(r);
	if (counts_events(d))
		counting_read(d->counting, d->entry);
	errno = saved;
}

void detail_begin(struct recorder *r, struct call *c)
{
	struct detail *d = r->detail;
	int saved = errno;
	uint64_t events = r->record->events;
	d->measuring = (events < FIRST || events % EVERY == 0) && counts_events(d);
	if (counts_events(d))
		memcpy(c->counts, d->entry, sizeof c->counts);
	if (d->measuring)
		counting_read(d->counting, d->begin);
	errno = saved;
}

void detail_end(struct recorder *r, struct call *c)
{
	struct detail *d = r->detail;
	int saved = errno;
	int64_t now[TRACE_COUNTERS];
	if (counts_events(d)) {
		counting_read(d->counting, now);
		for (unsigned i = 0; i < d->counters; i++) {
			int64_t entry = c->counts[i];
			if (d->measuring)
				learn_own(d, &d->front[i], d->begin[i] - entry - d->reading[i]);
			/* from here on: what was computed before the call, and the call's own */
			c->before[i] = entry - d->left[i] - d->reading[i];
			c->counts[i] = now[i] - (d->measuring ? d->begin[i] : entry + d->front[i]);
		}
		c->follows = d->known;
		c->counted = true;
		d->known = false;
	}
	errno = saved;
}

/* The place of a site's or an edge's details; NULL: no room. */
static struct record_detail *detail_of(struct recorder *r, ref *at)
{
	struct arena *a = &r->arena;
	uint64_t size = sizeof(struct record_detail) + r->detail->counters * sizeof(struct record_time);
	if (!*at) {
		ref new = arena_room(a, size + FLOW_ROOM) ? arena_alloc(a, size) : 0;
		arena_commit(a);
		if (!new)
			return NULL;
		arena_barrier();
		*at = new;
	}
	return arena_at(a, struct record_detail, *at);
}

static void count_events(struct recorder *r, struct record_time *to, const int64_t *values, uint64_t visit)
{
	for (unsigned i = 0; to && i < r->detail->counters; i++)
		if (!counters_reason(i) && arena_room(&r->arena, TIME_ROOM))
			record_time_add(&r->arena, &to[i], values[i] > 0 ? (uint64_t)values[i] : 0, visit);
}

static bool keep_times(struct recorder *r, struct record_detail *to, uint64_t ticks)
{
	struct detail *d = r->detail;
	/* the rest of the arena is for the events */
	if (!to || d->bytes >= d->most || !arena_room(&r->arena, FLOW_ROOM + EVENT_ROOM + r->arena.size / 16))
		return false;
	int64_t given = flow_add(&r->arena, &to->flow, flow_code(ticks, d->digits), d->digits);
	d->bytes += given > 0 ? (uint64_t)given : 0;
	return given >= 0;
}

void detail_commit(struct recorder *r, struct call *c, struct record_edge *e, uint64_t communicate)
{
	struct detail *d = r->detail;
	struct site *s = c->site;
	struct record_detail *call = detail_of(r, &s->detail), *edge = e ? detail_of(r, &e->detail) : NULL;
	if (c->counted) {
		count_events(r, call ? call->counts : NULL, c->counts, s->visits);
		if (c->follows && edge) {
			count_events(r, edge->counts, c->before, s->visits);
			count_events(r, record_edge_counts(&r->columns, e, d->counters), c->before, s->visits);
		}
	}
	if (!d->times)
		return;
	if (r->record->events == 0)
		d->at = r->record->first_ticks = c->start;
	/* Ranks and threads are compared by these times: they are those of the clock, with what the tracer itself used,
	 * and with what passed when it lost the processor. */
	uint64_t compute = c->start > d->at ? c->start - d->at : 0;
	d->at += compute + communicate;
	/* without the computation before it, nobody would know when an event began */
	if ((r->last != &call_nowhere && !keep_times(r, edge, compute)) || !keep_times(r, call, communicate))
		detail_stop(r);
}

void detail_stop(struct recorder *r)
{
	r->detail->known = false;
	if (r->detail->times)
		r->record->untimed = r->record->events + 1;
	r->detail->times = false;
}

void detail_leave(struct recorder *r, const struct call *c)
{
	struct detail *d = r->detail;
	int saved = errno;
	if (d->measuring && counters_yield(d->counting))
		note_uncounted(r);
	d->known = c->counted;
	d->measured += d->measuring && c->counted;
	d->measuring = false;
	if (c->counted)
		counting_read(d->counting, d->left);
	errno = saved;
	r->last_end = clock_ticks();
	r->record->own_ticks += (c->start - c->entry) + (r->last_end - c->end);
}
