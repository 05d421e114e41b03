/* SPDX-License-Identifier: BSD-3-Clause
 * together - computations that are long on all ranks at once are drawn so, and others are not, however long the call
 * takes that waits for all
 */
#define SAMPLE_COLLECTIVE "MPI_Allreduce count:i datatype:t comm:c"
#include "insight/together.h"

#include <math.h>

#include "tests/unit/recorded_steps.h"
#include "tests/unit/tap.h"

enum { RANKS = STEPS_RANKS, STEPS = 150 };

enum kind { ALIKE, OWN, ONE_RANK, KINDS };

struct sums {
	/* Of the steps but the first one: the longest of each; of each rank; how far the longest is above the mean */
	double sum, each[RANKS], alone;
};

/* Computations of 0.2 to 1.8 ms, the same on all ranks but for some us, or else each rank's own; or few of which one
 * rank has all. A rank comes from MPI_Init up to 10 ms after the others. */
static void choose_steps(struct steps *s, struct sums *sums, enum kind kind)
{
	*s = (struct steps){.count = kind == ONE_RANK ? 4 : STEPS, .ranks = RANKS};
	*sums = (struct sums){.sum = 0};
	for (int i = 0; i < s->count; i++) {
		uint64_t common = 200000 + random_next() % 1600000;
		for (int r = 0; r < RANKS; r++) {
			uint64_t own = 200000 + random_next() % 1600000, few = random_next() % 80000,
				 ns = kind == ALIKE ? common + few
			              : kind == OWN ? own + few
			              : r           ? 500
			                            : 10000000;
			s->compute[i][r] = i ? ns : ns + random_next() % 10000000;
			sums->each[r] += i ? (double)ns : 0;
		}
		sums->sum += i ? (double)steps_longest(s, i) : 0;
	}
}

/* How long the steps but the first one take, by what is drawn for each rank. */
static void draw_steps(const struct trace *t, struct sums *drawn, int count)
{
	const struct trace_site *s = steps_site(t);
	struct pattern *patterns = calloc(t->patterns.count + 1, sizeof *patterns);
	struct class_times *times[RANKS];
	const struct trace_edge *e = steps_edge(t);
	*drawn = (struct sums){.sum = 0};
	if (!patterns)
		abort();
	for (uint32_t r = 0; r < RANKS; r++)
		times[r] = together_times(t, s, e, r, 7, patterns);
	for (int i = 1; i < count; i++) {
		double longest = 0, mean = 0;
		for (uint32_t r = 0; r < RANKS; r++) {
			double ns = class_times_next(times[r], (uint64_t)i, class_times_factor(t, r));
			longest = fmax(longest, ns);
			drawn->each[r] += ns;
			mean += ns / RANKS;
		}
		drawn->sum += longest;
		drawn->alone = fmax(drawn->alone, longest - mean);
	}
	for (uint32_t r = 0; r < RANKS; r++)
		class_times_destroy(times[r]);
	for (uint32_t i = 0; i < t->patterns.count; i++)
		pattern_free(&patterns[i]);
	free(patterns);
}

/* Thirty times as many ranks were killed in their first call: they are no ranks of the site. */
static void add_killed(struct trace *t)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct rankmap_builder b = {.references = false};
		struct rankmap none = {.level = 0};
		rankmap_add(&b, (struct rank_piece){.first = RANKS, .count = 30 * RANKS, .step = 1});
		if (rankmap_take(&b, &none) != 0 || rankmap_union(&t->sites[i].visits, &t->sites[i].visits, &none) != 0)
			abort();
		rankmap_free(&none);
	}
}

int main(void)
{
	static const char *const names[KINDS] = {"all ranks alike", "each rank its own", "one rank has all"};
	static struct steps steps;
	struct sums sums, drawn;
	random_seed(5);
	for (int kind = 0; kind < KINDS; kind++) {
		struct trace t;
		choose_steps(&steps, &sums, (enum kind)kind);
		steps_record(&t, &steps);
		draw_steps(&t, &drawn, steps.count);
		double longest = 100 * (drawn.sum / sums.sum - 1), rank = 0;
		for (int r = 0; r < RANKS; r++)
			rank = fmax(rank, 100 * fabs(drawn.each[r] - sums.each[r]) / sums.sum);
		ok(fabs(longest) < 5, "%s: drawn steps take as long: %+.1f %%", names[kind], longest);
		ok(kind != ALIKE || drawn.alone < 0.1e6, "%s: no rank is long alone: at most by %.0f us", names[kind],
		   drawn.alone / 1e3);
		ok(rank < 1.5, "%s: each rank computes as long: at most %.1f %% off", names[kind], rank);
		add_killed(&t);
		draw_steps(&t, &drawn, steps.count);
		ok(fabs(100 * (drawn.sum / sums.sum - 1) - longest) < 1e-6, "%s: whatever other ranks never came back",
		   names[kind]);
		trace_free(&t);
	}
	return tap_end();
}
