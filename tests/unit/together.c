/* SPDX-License-Identifier: BSD-3-Clause
 * together - computations that are long on all ranks at once are drawn so, and others are not, however long the call
 * takes that waits for all
 */
#define SAMPLE_COLLECTIVE "MPI_Allreduce count:i datatype:t comm:c"
#include "replay/together.h"

#include <math.h>

#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"

enum { RANKS = 16, STEPS = 150, COLLECTIVE = 2 };

struct steps {
	uint64_t compute[STEPS][RANKS], longest[STEPS], sum, begin[RANKS];
};

/* Computations of 0.2 to 1.8 ms, the same on all ranks but for some us, or else each rank's own; a rank comes from
 * MPI_Init up to 10 ms after the others. */
static void choose_steps(struct steps *s, bool same)
{
	s->sum = 0;
	for (int i = 0; i < STEPS; i++) {
		uint64_t common = 200000 + random_next() % 1600000;
		s->longest[i] = 0;
		for (int r = 0; r < RANKS; r++) {
			uint64_t ns = (same ? common : 200000 + random_next() % 1600000) + random_next() % 80000;
			s->compute[i][r] = i ? ns : ns + random_next() % 10000000;
			s->longest[i] = s->compute[i][r] > s->longest[i] ? s->compute[i][r] : s->longest[i];
		}
		s->sum += i ? s->longest[i] : 0;
	}
}

static void record_rank(struct trace *t, uint32_t rank, const struct steps *s)
{
	struct sample x;
	struct arena a;
	struct error error = {""};
	if (arena_create(&a, NULL, 8 * ARENA_MIN_SIZE, NULL) != 0)
		abort();
	sample_start(&x, &a, rank, RANKS, 0);
	int64_t type = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_INT", 7),
		world = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_COMM_WORLD", 14);
	sample_event(&x, 0, (int64_t[]){1, type, 0, 0, world});
	for (int i = 0; i < STEPS; i++) {
		x.compute = s->compute[i][rank];
		/* on a busy node even who comes last waits for the others to be woken */
		x.communicate =
			(random_next() % 500 ? 70000 + random_next() % 90000 : 4000) + s->longest[i] - x.compute;
		sample_event(&x, COLLECTIVE, (int64_t[]){1, type, world});
	}
	columns_free(&x.columns);
	if (trace_extract(t, &a, &error) != 0)
		abort();
	arena_close(&a);
}

static void record_all(struct trace *t, const struct steps *s)
{
	struct trace all = {0}, one = {0};
	if (trace_init(&all) != 0)
		abort();
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		record_rank(&one, rank, s);
		if (merge_into(&all, &one, NULL) != 0)
			abort();
		trace_free(&one);
	}
	if (merge_canonical(t, &all, NULL) != 0)
		abort();
	trace_free(&all);
}

/* How long all ranks take for the steps but the first one, by what is drawn for each. */
static double drawn_sum(const struct trace *t)
{
	const struct trace_site *s = &t->sites[0];
	while (trace_schema(t, s)->mpi->waits != WAITS_FOR_ALL)
		s++;
	struct pattern *patterns = calloc(t->patterns.count + 1, sizeof *patterns);
	struct class_times *times[RANKS];
	const struct trace_edge *e = trace_edge_to(s, (uint32_t)(s - t->sites));
	double sum = 0;
	if (!e || !patterns)
		abort();
	for (uint32_t r = 0; r < RANKS; r++)
		times[r] = together_times(t, s, e, r, 7, patterns);
	for (uint64_t i = 1; i < STEPS; i++) {
		double longest = 0;
		for (uint32_t r = 0; r < RANKS; r++)
			longest = fmax(longest, class_times_next(times[r], i));
		sum += longest;
	}
	for (uint32_t r = 0; r < RANKS; r++)
		class_times_destroy(times[r]);
	for (uint32_t i = 0; i < t->patterns.count; i++)
		pattern_free(&patterns[i]);
	free(patterns);
	return sum;
}

int main(void)
{
	static struct steps steps;
	random_seed(5);
	for (int same = 0; same < 2; same++) {
		struct trace t;
		choose_steps(&steps, same);
		record_all(&t, &steps);
		double off = drawn_sum(&t) / (double)steps.sum - 1;
		ok(fabs(off) < 0.05, "%s: drawn steps take as long: %+.1f %%",
		   same ? "all ranks alike" : "each rank its own", 100 * off);
		trace_free(&t);
	}
	return tap_end();
}
