/* SPDX-License-Identifier: BSD-3-Clause
 * interleave - the threads of a rank as one sequence: all events, each thread's in its own order, time that never goes
 * back; exact where all times are known; ranks that are missing
 */
#include "trace/read/interleave.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/stream.h"
#include "trace/model/timing.h"

enum { RANKS = 2, THREADS = 3 };
static struct trace t;

/* Rank 0 has three threads, rank 1 one. exact: the times of all events are exact. */
static void make(int how, bool exact)
{
	struct trace all, one;
	if (trace_init(&all) != 0)
		abort();
	for (uint32_t stream = 0; stream < RANKS * THREADS; stream++) {
		struct arena a;
		if (stream % RANKS == 1 && stream > 1)
			continue;
		sample_record(&a, stream % RANKS, RANKS, how);
		struct record *r = arena_at(&a, struct record, a.header->root);
		r->thread = stream / RANKS;
		if (trace_extract(&one, &a, NULL) != 0 || merge_into(&all, &one, NULL) != 0)
			abort();
		trace_free(&one);
		arena_close(&a);
	}
	if (merge_canonical(&t, &all, NULL) != 0)
		abort();
	trace_free(&all);
	for (uint32_t i = 0; i < t.timing_count; i++)
		t.timing[i].digits = exact ? 255 : 4;
}

/* All events of a rank. Returns 0; -1: an error; 1: they are not in order, or not all. */
static int sequence(void *context)
{
	struct interleave *w;
	struct interleaved e;
	struct error error = {""};
	uint64_t next[RANKS * THREADS] = {0}, last = 0, all = 0;
	int64_t events;
	bool ordered = true;
	if (interleave_begin(&w, &t, *(uint32_t *)context, &error) != 0)
		return w || !error.text[0] ? 1 : -1;
	int rv;
	while ((rv = interleave_next(w, &e, &error)) == 0) {
		ordered &= e.event->number == next[e.stream]++ && e.begin >= last && e.end >= e.begin &&
		           stream_rank(&t, e.stream) == *(uint32_t *)context;
		last = e.begin;
		all++;
	}
	for (uint32_t i = 0; rv == 1 && i < RANKS * THREADS; i++)
		ordered &= next[i] == 0 || (rankmap_get(&t.events, i, &events) && next[i] == (uint64_t)events);
	interleave_end(w);
	return rv < 0 ? -1 : ordered && all > 0 ? 0 : 1;
}

static bool is_exact(uint32_t rank)
{
	struct interleave *w;
	uint32_t stream;
	if (interleave_begin(&w, &t, rank, NULL) != 0)
		return false;
	bool exact = interleave_exact(w) && !interleave_cut(w, &stream);
	interleave_end(w);
	return exact;
}

int main(void)
{
	struct interleave *w;
	struct error error = {""};
	make(0, false);
	ok(interleave_begin(&w, &t, RANKS, &error) == -1 && !w && error.text[0], "refused: %s", error.text);
	interleave_end(NULL);
	ok(sequence(&(uint32_t){1}) == 0 && is_exact(1), "one thread: its order");
	ok(sequence(&(uint32_t){0}) == 0 && !is_exact(0), "three threads, by estimate");
	ok(fails_well(sequence, &(uint32_t){0}), "no memory to estimate");
	trace_free(&t);
	make(SAMPLE_DETAIL, true);
	ok(sequence(&(uint32_t){0}) == 0 && is_exact(0), "three threads, by their times");
	ok(fails_well(sequence, &(uint32_t){0}), "no memory for exact times");
	trace_free(&t);
	make(SAMPLE_DETAIL, false);
	ok(sequence(&(uint32_t){0}) == 0 && !is_exact(0), "times that were rounded");
	t.timing[0].digits = t.timing[1].digits = 255;
	ok(!is_exact(0), "or some of them");
	trace_free(&t);
	return tap_end();
}
