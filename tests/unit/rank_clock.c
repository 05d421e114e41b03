/* SPDX-License-Identifier: BSD-3-Clause
 * rank_clock - the clocks of ranks that do different things go from the same begin to the same end
 */
#include "replay/rank_clock.h"

#include <math.h>

#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"

enum { RANKS = 3, STEPS = 20, MORE = 6 };

/* In each step, rank r has MORE * r more sends than rank 0, one right after the other, and a long computation before
 * the first of them. */
static void record_rank(struct trace *t, uint32_t rank)
{
	struct sample x;
	struct arena a;
	struct error error = {""};
	if (arena_create(&a, NULL, ARENA_MIN_SIZE, NULL) != 0)
		abort();
	sample_start(&x, &a, rank, RANKS, 0);
	int64_t type = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_INT", 7),
		world = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_COMM_WORLD", 14);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t k = 0; k < 1 + MORE * rank; k++) {
			x.compute = k ? 1000 : 1000000;
			sample_event(&x, 0, (int64_t[]){1, type, 0, 0, world});
		}
		sample_event(&x, 1, (int64_t[]){1, type, 0, 0, world});
	}
	columns_free(&x.columns);
	if (trace_extract(t, &a, &error) != 0)
		abort();
	arena_close(&a);
}

/* Where the clock of a rank is behind its last event; its stretch; negative: it went back. */
static double walk_clock(const struct trace *t, uint32_t rank, double *stretch)
{
	struct rank_clock c;
	struct walk *w;
	struct event e;
	if (rank_clock_open(&c, t, rank, NULL) != 0 || walk_begin(&w, t, rank, NULL) != 0)
		abort();
	bool back = false;
	while (walk_next(w, &e, NULL) == 0) {
		double before = c.end;
		rank_clock_begin(&c, &e);
		back |= c.begin < before || c.until < c.begin;
		rank_clock_end(&c, &e);
	}
	double end = c.end;
	*stretch = c.stretch;
	walk_end(w);
	rank_clock_close(&c);
	return back ? -1 : end;
}

int main(void)
{
	struct trace all = {0}, one = {0}, t;
	double stretch, first;
	if (trace_init(&all) != 0)
		abort();
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		record_rank(&one, rank);
		if (merge_into(&all, &one, NULL) != 0)
			abort();
		trace_free(&one);
	}
	if (merge_canonical(&t, &all, NULL) != 0)
		abort();
	trace_free(&all);
	first = walk_clock(&t, 0, &stretch);
	ok(first > 0 && stretch == 1, "the first rank's is not stretched");
	for (uint32_t rank = 1; rank < RANKS; rank++) {
		double end = walk_clock(&t, rank, &stretch);
		ok(fabs(end / first - 1) < 0.03, "rank %u's ends at the same time: %.0f, %.0f", rank, end, first);
		ok(fabs(stretch - 1) < 0.1, "a few short calls more hardly stretch it: %.3f", stretch);
	}
	trace_free(&t);
	return tap_end();
}
