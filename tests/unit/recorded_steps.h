/* SPDX-License-Identifier: BSD-3-Clause
 * recorded_steps - the trace of a program whose ranks compute and then wait for each other: for tests of what is drawn
 * from times. Define SAMPLE_COLLECTIVE as a call that waits for all, with count, datatype and communicator.
 */
#ifndef SPOOR_TEST_RECORDED_STEPS_H
#define SPOOR_TEST_RECORDED_STEPS_H

#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"

enum { STEPS_RANKS = 16, STEPS_MOST = 400, STEPS_COLLECTIVE = 2 };

struct steps {
	int count;
	uint32_t ranks;
	uint64_t compute[STEPS_MOST][STEPS_RANKS]; /* ns */
};

static inline uint64_t steps_longest(const struct steps *s, int step)
{
	uint64_t longest = 0;
	for (uint32_t r = 0; r < s->ranks; r++)
		longest = s->compute[step][r] > longest ? s->compute[step][r] : longest;
	return longest;
}

static inline void steps_record_rank(struct trace *t, uint32_t rank, const struct steps *s)
{
	struct sample x;
	struct arena a;
	struct error error = {""};
	if (arena_create(&a, NULL, 8 * ARENA_MIN_SIZE, NULL) != 0)
		abort();
	sample_start(&x, &a, rank, s->ranks, 0);
	int64_t type = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_INT", 7),
		world = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_COMM_WORLD", 14);
	sample_event(&x, 0, (int64_t[]){1, type, 0, 0, world});
	for (int i = 0; i < s->count; i++) {
		x.compute = s->compute[i][rank];
		/* on a busy node even who comes last waits for the others to be woken */
		x.communicate =
			(random_next() % 500 ? 70000 + random_next() % 90000 : 4000) + steps_longest(s, i) - x.compute;
		sample_event(&x, STEPS_COLLECTIVE, (int64_t[]){1, type, world});
	}
	columns_free(&x.columns);
	if (trace_extract(t, &a, &error) != 0)
		abort();
	arena_close(&a);
}

static inline void steps_record(struct trace *t, const struct steps *s)
{
	struct trace all = {0}, one = {0};
	if (trace_init(&all) != 0)
		abort();
	for (uint32_t rank = 0; rank < s->ranks; rank++) {
		steps_record_rank(&one, rank, s);
		if (merge_into(&all, &one, NULL) != 0)
			abort();
		trace_free(&one);
	}
	if (merge_canonical(t, &all, NULL) != 0)
		abort();
	trace_free(&all);
}

/* The call that waits, and what is computed between two of them. */
static inline const struct trace_site *steps_site(const struct trace *t)
{
	const struct trace_site *s = &t->sites[0];
	while (trace_schema(t, s)->mpi->waits != WAITS_FOR_ALL)
		s++;
	return s;
}

static inline const struct trace_edge *steps_edge(const struct trace *t)
{
	const struct trace_site *s = steps_site(t);
	const struct trace_edge *e = trace_edge_to(s, (uint32_t)(s - t->sites));
	if (!e)
		abort();
	return e;
}

#endif
