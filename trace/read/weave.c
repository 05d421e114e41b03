/* SPDX-License-Identifier: BSD-3-Clause
 * weave - the events of all threads of a rank as one sequence, in the order of time
 */
#include "trace/read/weave.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/read/clock.h"
#include "trace/model/flow_code.h"
#include "trace/read/needs.h"
#include "trace/model/stream.h"
#include "trace/model/timing.h"

/* One thread, and its next event. */
struct strand {
	uint32_t stream;
	struct walk *walk;
	struct clock *clock;
	struct event event;
	uint64_t timed; /* events that have their exact times in the trace */
	bool ended, cut;
	enum need waits; /* why it cannot be next */
	uint64_t late;   /* by how much all of its times have to be later */
	uint64_t least;  /* it cannot begin before this */
	uint64_t begin, end;
};

struct weave {
	const struct trace *trace;
	struct strand *strands;
	size_t count;
	struct strand *last; /* whose event was the last one */
	struct needs *needs; /* NULL: the order is exact, or there is one thread */
	bool initialized;    /* MPI is, or nobody says when */
	bool begun;
	uint64_t origin, now, until; /* when the first event began, the last one, and when that ended */
};

/* How many events of a stream have their exact times. */
static uint64_t timed(const struct trace *t, uint32_t stream)
{
	const struct trace_timing *timing = timing_find(t, stream);
	return timing && timing->digits == FLOW_EXACT ? timing->events : 0;
}

static bool all_timed(const struct trace *t, uint32_t stream)
{
	int64_t events;
	return rankmap_get(&t->events, stream, &events) && timed(t, stream) == (uint64_t)events;
}

/* Makes the strand's next event begin no earlier than this. */
static void put_off(struct strand *s, uint64_t least)
{
	if (s->begin >= least)
		return;
	s->late += least - s->begin;
	s->end += least - s->begin;
	s->begin = least;
}

/* Goes on to the strand's next event. Returns 0 or -1. */
static int advance(struct strand *s, struct error *error)
{
	int rv = walk_next(s->walk, &s->event, error);
	if (rv < 0)
		return -1;
	s->ended = rv > 0;
	s->cut = s->ended && walk_unordered(s->walk);
	if (s->ended)
		return 0;
	clock_event(s->clock, &s->event, &s->begin, &s->end);
	s->begin += s->late;
	s->end += s->late;
	return 0;
}

static bool others_ended(const struct weave *w, const struct strand *s)
{
	for (size_t i = 0; i < w->count; i++)
		if (&w->strands[i] != s && !w->strands[i].ended)
			return false;
	return true;
}

static enum need must_wait(const struct weave *w, const struct strand *s)
{
	if (!w->initialized && stream_thread(w->trace, s->stream) > 0)
		return NEED_CERTAIN;
	return s->event.schema->mpi->function == FN_MPI_Finalize && !others_ended(w, s)
	               ? NEED_CERTAIN
	               : needs_what(w->needs, s->stream, &s->event);
}

/* What waited and need not any more begins where the last event ends, not before. */
static void look_again(struct weave *w)
{
	for (size_t i = 0; w->needs && i < w->count; i++) {
		struct strand *s = &w->strands[i];
		if (s->ended)
			continue;
		enum need waits = must_wait(w, s);
		if (s->waits && !waits && w->last && s != w->last && s->least < w->until)
			s->least = w->until;
		s->waits = waits;
		put_off(s, s->least);
	}
}

/* The strand whose event is next; NULL: there are no more. If all wait, the trace does not have what one waits for, or
 * it was another one's. */
static struct strand *choose(struct weave *w)
{
	struct strand *best = NULL;
	for (size_t i = 0; i < w->count; i++) {
		struct strand *s = &w->strands[i];
		if (!s->ended &&
		    (!best || s->waits < best->waits || (s->waits == best->waits && s->begin < best->begin)))
			best = s;
	}
	return best;
}

int weave_next(struct weave *w, struct woven *e, struct error *error)
{
	if (w->last && advance(w->last, error) != 0)
		return -1;
	look_again(w);
	struct strand *s = w->last = choose(w);
	if (!s)
		return 1;
	if (!w->begun)
		w->origin = s->begin;
	w->begun = true;
	if (w->needs) {
		needs_take(w->needs, s->stream, &s->event);
		w->initialized |= trace_initializes(s->event.schema);
		put_off(s, w->now); /* times that are drawn may contradict what was done */
	}
	w->now = s->begin;
	w->until = s->end;
	*e = (struct woven){s->stream, &s->event, s->begin - w->origin, s->end - w->origin,
	                    !w->needs && s->event.number < s->timed};
	return 0;
}

/* What the threads need of each other is learnt by walking each once. */
static int learn(struct weave *w, struct error *error)
{
	w->needs = needs_create(w->trace);
	w->initialized = true;
	if (!w->needs)
		return error_set(error, "no memory");
	for (size_t i = 0; i < w->count; i++) {
		struct walk *walk;
		struct event e;
		int rv = walk_begin(&walk, w->trace, w->strands[i].stream, error);
		while (rv == 0 && (rv = walk_next(walk, &e, error)) == 0) {
			if (needs_learn(w->needs, w->strands[i].stream, &e) != 0)
				rv = error_set(error, "no memory");
			if (stream_thread(w->trace, w->strands[i].stream) == 0 && trace_initializes(e.schema))
				w->initialized = false;
		}
		walk_end(walk);
		if (rv < 0)
			return -1;
	}
	return 0;
}

static int begin_strand(struct weave *w, struct strand *s, struct error *error)
{
	s->timed = timed(w->trace, s->stream);
	if (walk_begin(&s->walk, w->trace, s->stream, error) != 0 ||
	    clock_create(&s->clock, w->trace, s->stream, error) != 0)
		return -1;
	return advance(s, error);
}

int weave_begin(struct weave **out, const struct trace *t, uint32_t rank, struct error *error)
{
	uint32_t stream, thread;
	bool exact = true;
	struct weave *w = budget_calloc(1, sizeof *w);
	*out = NULL;
	if (!w)
		return error_set(error, "no memory");
	w->trace = t;
	for (thread = 0; stream_next(t, rank, &thread, &stream); thread++) {
		w->count++;
		exact &= all_timed(t, stream);
	}
	w->strands = budget_calloc(w->count + 1, sizeof *w->strands);
	if (!w->strands) {
		weave_end(w);
		return error_set(error, "no memory");
	}
	size_t n = 0;
	for (thread = 0; stream_next(t, rank, &thread, &stream); thread++)
		w->strands[n++].stream = stream;
	int rv = n == 0 ? stream_missing(t, rank, error) : n > 1 && !exact ? learn(w, error) : 0;
	for (size_t i = 0; rv == 0 && i < n; i++)
		rv = begin_strand(w, &w->strands[i], error);
	if (rv != 0) {
		weave_end(w);
		return -1;
	}
	*out = w;
	return 0;
}

void weave_end(struct weave *w)
{
	if (!w)
		return;
	for (size_t i = 0; w->strands && i < w->count; i++) {
		walk_end(w->strands[i].walk);
		clock_destroy(w->strands[i].clock);
	}
	needs_destroy(w->needs);
	budget_free(w->strands);
	budget_free(w);
}

bool weave_exact(const struct weave *w)
{
	return !w->needs;
}

bool weave_cut(const struct weave *w, uint32_t *stream)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->strands[i].cut) {
			*stream = w->strands[i].stream;
			return true;
		}
	return false;
}
