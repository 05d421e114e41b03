/* SPDX-License-Identifier: BSD-3-Clause
 * interleave - the events of all threads of a rank as one sequence, in the order of time
 */
#include "trace/read/interleave.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/read/event_clock.h"
#include "trace/model/flow_code.h"
#include "trace/read/dependencies.h"
#include "trace/model/stream.h"
#include "trace/model/timing.h"

/* One thread, and its next event. */
struct timed_thread {
	uint32_t stream;
	struct walk *walk;
	struct event_clock *clock;
	struct event event;
	uint64_t timed; /* events that have their exact times in the trace */
	bool ended, cut;
	enum dependency waits; /* why it cannot be next */
	uint64_t late;         /* by how much all of its times have to be later */
	uint64_t least;        /* it cannot begin before this */
	uint64_t begin, end;
};

struct interleave {
	const struct trace *trace;
	struct timed_thread *threads;
	size_t count;
	struct timed_thread *last;         /* whose event was the last one */
	struct dependencies *dependencies; /* NULL: the order is exact, or there is one thread */
	bool initialized;                  /* MPI is, or nobody says when */
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

/* Makes the thread's next event begin no earlier than this. */
static void put_off(struct timed_thread *s, uint64_t least)
{
	if (s->begin >= least)
		return;
	s->late += least - s->begin;
	s->end += least - s->begin;
	s->begin = least;
}

/* Goes on to the thread's next event. Returns 0 or -1. */
static int advance(struct timed_thread *s, struct error *error)
{
	int rv = walk_next(s->walk, &s->event, error);
	if (rv < 0)
		return -1;
	s->ended = rv > 0;
	s->cut = s->ended && walk_unordered(s->walk);
	if (s->ended)
		return 0;
	event_clock_next(s->clock, &s->event, &s->begin, &s->end);
	s->begin += s->late;
	s->end += s->late;
	return 0;
}

static bool others_ended(const struct interleave *w, const struct timed_thread *s)
{
	for (size_t i = 0; i < w->count; i++)
		if (&w->threads[i] != s && !w->threads[i].ended)
			return false;
	return true;
}

static enum dependency must_wait(const struct interleave *w, const struct timed_thread *s)
{
	if (!w->initialized && stream_thread(w->trace, s->stream) > 0)
		return DEPENDENCY_CERTAIN;
	return s->event.schema->mpi->function == FN_MPI_Finalize && !others_ended(w, s)
	               ? DEPENDENCY_CERTAIN
	               : dependencies_of(w->dependencies, s->stream, &s->event);
}

/* What waited and need not any more begins where the last event ends, not before. */
static void look_again(struct interleave *w)
{
	for (size_t i = 0; w->dependencies && i < w->count; i++) {
		struct timed_thread *s = &w->threads[i];
		if (s->ended)
			continue;
		enum dependency waits = must_wait(w, s);
		if (s->waits && !waits && w->last && s != w->last && s->least < w->until)
			s->least = w->until;
		s->waits = waits;
		put_off(s, s->least);
	}
}

/* The thread whose event is next; NULL: there are no more. If all wait, the trace does not have what one waits for, or
 * it was another one's. */
static struct timed_thread *choose(struct interleave *w)
{
	struct timed_thread *best = NULL;
	for (size_t i = 0; i < w->count; i++) {
		struct timed_thread *s = &w->threads[i];
		if (!s->ended &&
		    (!best || s->waits < best->waits || (s->waits == best->waits && s->begin < best->begin)))
			best = s;
	}
	return best;
}

int interleave_next(struct interleave *w, struct interleaved *e, struct error *error)
{
	if (w->last && advance(w->last, error) != 0)
		return -1;
	look_again(w);
	struct timed_thread *s = w->last = choose(w);
	if (!s)
		return 1;
	if (!w->begun)
		w->origin = s->begin;
	w->begun = true;
	if (w->dependencies) {
		dependencies_take(w->dependencies, s->stream, &s->event);
		w->initialized |= trace_initializes(s->event.schema);
		put_off(s, w->now); /* times that are drawn may contradict what was done */
	}
	w->now = s->begin;
	w->until = s->end;
	*e = (struct interleaved){s->stream, &s->event, s->begin - w->origin, s->end - w->origin,
	                          !w->dependencies && s->event.number < s->timed};
	return 0;
}

/* What the threads need of each other is learnt by walking each once. */
static int learn(struct interleave *w, struct error *error)
{
	w->dependencies = dependencies_create(w->trace);
	w->initialized = true;
	if (!w->dependencies)
		return error_set(error, "no memory");
	for (size_t i = 0; i < w->count; i++) {
		struct walk *walk;
		struct event e;
		int rv = walk_begin(&walk, w->trace, w->threads[i].stream, error);
		while (rv == 0 && (rv = walk_next(walk, &e, error)) == 0) {
			if (dependencies_learn(w->dependencies, w->threads[i].stream, &e) != 0)
				rv = error_set(error, "no memory");
			if (stream_thread(w->trace, w->threads[i].stream) == 0 && trace_initializes(e.schema))
				w->initialized = false;
		}
		walk_end(walk);
		if (rv < 0)
			return -1;
	}
	return 0;
}

static int begin_thread(struct interleave *w, struct timed_thread *s, struct error *error)
{
	s->timed = timed(w->trace, s->stream);
	if (walk_begin(&s->walk, w->trace, s->stream, error) != 0 ||
	    event_clock_create(&s->clock, w->trace, s->stream, error) != 0)
		return -1;
	return advance(s, error);
}

int interleave_begin(struct interleave **out, const struct trace *t, uint32_t rank, struct error *error)
{
	uint32_t stream, thread;
	bool exact = true;
	struct interleave *w = budget_calloc(1, sizeof *w);
	*out = NULL;
	if (!w)
		return error_set(error, "no memory");
	w->trace = t;
	for (thread = 0; stream_next(t, rank, &thread, &stream); thread++) {
		w->count++;
		exact &= all_timed(t, stream);
	}
	w->threads = budget_calloc(w->count + 1, sizeof *w->threads);
	if (!w->threads) {
		interleave_end(w);
		return error_set(error, "no memory");
	}
	size_t n = 0;
	for (thread = 0; stream_next(t, rank, &thread, &stream); thread++)
		w->threads[n++].stream = stream;
	int rv = n == 0 ? stream_missing(t, rank, error) : n > 1 && !exact ? learn(w, error) : 0;
	for (size_t i = 0; rv == 0 && i < n; i++)
		rv = begin_thread(w, &w->threads[i], error);
	if (rv != 0) {
		interleave_end(w);
		return -1;
	}
	*out = w;
	return 0;
}

void interleave_end(struct interleave *w)
{
	if (!w)
		return;
	for (size_t i = 0; w->threads && i < w->count; i++) {
		walk_end(w->threads[i].walk);
		event_clock_destroy(w->threads[i].clock);
	}
	dependencies_destroy(w->dependencies);
	budget_free(w->threads);
	budget_free(w);
}

bool interleave_exact(const struct interleave *w)
{
	return !w->dependencies;
}

bool interleave_cut(const struct interleave *w, uint32_t *stream)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->threads[i].cut) {
			*stream = w->threads[i].stream;
			return true;
		}
	return false;
}
