/* SPDX-License-Identifier: BSD-3-Clause
 * computation_order - steps whose times are drawn take as long as those of the trace, whichever of them meet
 */
#define SAMPLE_COLLECTIVE "MPI_Allreduce count:i datatype:t comm:c"
#include "proxy/computation_order.h"

#include <math.h>
#include <unistd.h>

#include "proxy/computation_level.h"
#include "proxy/work_text.h"
#include "tests/unit/recorded_steps.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

enum { STEPS = 100, PROGRAM_VISITS = 60 };
enum kind { APART, UNEVEN, ALIKE, BOTH, RARE, ONE, KINDS };
/* Ranks that are long in turn, but not equally often, meet now and then. */
static const double most_off[KINDS] = {0.04, 0.04, 0.04, 0.04, 0.04, 0.15};
static const char *const names[KINDS] = {"each rank its own", "some ranks more",       "all ranks alike",
                                         "partly alike",      "now and then for long", "one of the ranks at a time"};

static double part(void)
{
	return (double)(random_next() % 1000000) / 1e6;
}

/* Around 3 ms. */
static double step_time(enum kind kind, double common, uint32_t rank, uint32_t ranks)
{
	double own = part(), few = 0.03 * part();
	switch (kind) {
	case APART:
		return 0.6e6 + 4.8e6 * own;
	case UNEVEN:
		return (0.6e6 + 4.8e6 * own) * (rank % 2 ? 1.4 : 0.6);
	case ALIKE:
		return 0.6e6 + 4.8e6 * common + 1e6 * few;
	case BOTH:
		return 0.6e6 + 2.4e6 * (own + common);
	case RARE:
		return (own < 0.02 ? 5 : 1) * (2.7e6 + 0.6e6 * part());
	default:
		return (uint32_t)(common * ranks) == rank ? 6e6 : 0.6e6 + 1e6 * few;
	}
}

static void choose_steps(struct steps *s, enum kind kind, uint32_t ranks)
{
	*s = (struct steps){.count = STEPS, .ranks = ranks};
	for (int i = 0; i < s->count; i++) {
		double common = part();
		for (uint32_t r = 0; r < ranks; r++)
			s->compute[i][r] = (uint64_t)step_time(kind, common, r, ranks);
	}
}

struct sums {
	double longest, all; /* the longest of each visit; those of all ranks */
};

/* Of what a program computes in so many visits. limit: of the search for an order; or NULL. */
static struct sums drawn_sums(const struct trace *t, uint64_t left, struct budget *limit)
{
	struct pattern *patterns = calloc(t->patterns.count + 1, sizeof *patterns);
	struct computation_kinds kinds;
	struct sums sums = {0};
	if (!patterns || computation_kinds(t, steps_site(t), steps_edge(t), false, patterns, &kinds) != 0)
		abort();
	computation_level(&kinds, STEPS - 1, left);
	if (limit)
		budget_begin(limit);
	if (computation_order(&kinds, t, steps_site(t), steps_edge(t), patterns, 3) != 0)
		abort();
	if (limit)
		budget_end(limit);
	for (uint64_t v = 0; v < left; v++) {
		double longest = 0;
		for (uint32_t r = 0; r < t->size; r++) {
			double ns = computation_at(&kinds.each[kinds.kind[r]], v, r, t->size);
			longest = fmax(longest, ns);
			sums.all += ns;
		}
		sums.longest += longest;
	}
	computation_kinds_free(&kinds);
	for (uint32_t i = 0; i < t->patterns.count; i++)
		pattern_free(&patterns[i]);
	free(patterns);
	return sums;
}

static double worse(double worst, double drawn, double recorded)
{
	double off = drawn / recorded - 1;
	return fabs(off) > fabs(worst) ? off : worst;
}

static void check_kind(enum kind kind, uint32_t ranks, int turns)
{
	static struct steps s;
	double longest = 0, quarter = 0, all = 0;
	for (int turn = 0; turn < turns; turn++) {
		struct trace t;
		struct sums sums = {0};
		choose_steps(&s, kind, ranks);
		for (int i = 1; i < s.count; i++) {
			sums.longest += (double)steps_longest(&s, i);
			for (uint32_t r = 0; r < ranks; r++)
				sums.all += (double)s.compute[i][r];
		}
		steps_record(&t, &s);
		struct sums drawn = drawn_sums(&t, STEPS - 1, NULL), fewer = drawn_sums(&t, 25, NULL);
		longest = worse(longest, drawn.longest, sums.longest);
		quarter = worse(quarter, fewer.longest * (STEPS - 1) / 25, sums.longest);
		all = worse(worse(all, drawn.all, sums.all), fewer.all * (STEPS - 1) / 25, sums.all);
		trace_free(&t);
	}
	ok(fabs(longest) < most_off[kind], "%s, %u ranks: steps take as long: at most %+.1f %% off", names[kind], ranks,
	   100 * longest);
	ok(fabs(quarter) < most_off[kind], "%s, %u ranks: a quarter of them, too: at most %+.1f %% off", names[kind],
	   ranks, 100 * quarter);
	ok(fabs(all) < 0.01, "%s, %u ranks: they compute as much: at most %+.2f %% off", names[kind], ranks, 100 * all);
}

/* A file may say that there are very many such edges. */
static void check_budget(void)
{
	static struct steps s;
	struct budget budget = {.memory = 1 << 24, .steps = 100000};
	struct trace t;
	choose_steps(&s, APART, 8);
	steps_record(&t, &s);
	drawn_sums(&t, STEPS - 1, &budget);
	ok(budget.spent, "orders that are tried are steps of the budget");
	trace_free(&t);
}

/* Each value is drawn once, in any order, by any rank. */
static void check_once(void)
{
	struct computation c = {.drawn = true, .count = COMPUTATION_PARTS};
	bool good = true;
	for (uint32_t i = 0; i < c.count; i++)
		c.parts[i] = (struct computation_part){.times = 1, .ns = i};
	for (c.count = 1; c.count <= COMPUTATION_PARTS; c.count++)
		for (unsigned apart = 0; apart <= 256; apart += 32) {
			uint64_t seen = 0;
			c.visits = c.count;
			c.apart = apart;
			c.seed = apart + c.count;
			for (uint64_t v = 0; v < c.count; v++)
				seen |= UINT64_C(1) << (unsigned)computation_at(&c, v, apart % 7, 7);
			good &= seen == (UINT64_C(1) << c.count) - 1;
		}
	ok(good, "each value is drawn once");
}

/* The functions of the program say the same. */
static void check_program(const struct computation *drawn, const struct computation *varied)
{
	char path[4200], command[9000];
	const char *folder = getenv("TMPDIR"), *compiler = getenv("CC");
	snprintf(path, sizeof path, "%s/computation_order.%ld", folder ? folder : "/tmp", (long)getpid());
	snprintf(command, sizeof command, "%s -x c -std=c99 -w -o %s -", compiler ? compiler : "cc", path);
	FILE *f = popen(command, "w");
	fprintf(f, "#include <stdio.h>\nstatic long rank = 2, size = 5, work_seen[2], work_varied_seen[2];\n%s%s%s",
	        work_text_place, work_text_drawn, work_text_varied);
	fputs("static const struct work_bin bins[] = {", f);
	for (uint32_t i = 0; i < drawn->count; i++) {
		const struct computation_part *p = &drawn->parts[i];
		fprintf(f, "{%llu, %.17g, %.17g},", (unsigned long long)p->times, p->ns - p->width / 2,
		        p->ns + p->width / 2);
	}
	fprintf(f,
	        "};\nint main(void)\n{\n\tfor (int i = 0; i < %d; i++)\n\t\tprintf(\"%%.17g %%.17g\\n\", "
	        "work_drawn(0, bins, %u, %u, %u), work_varied(1, %.17g, %u, %u, %u, 3));\n\treturn 0;\n}\n",
	        PROGRAM_VISITS, drawn->count, drawn->apart, drawn->seed, computation_width(varied), varied->visits,
	        varied->apart, varied->seed);
	bool good = pclose(f) == 0 && (f = popen(path, "r"));
	double a, b;
	for (uint64_t v = 0; good && v < PROGRAM_VISITS; v++)
		good = fscanf(f, "%lf %lf", &a, &b) == 2 && fabs(a - computation_at(drawn, v, 2, 5)) < 1e-9 &&
		       fabs(b - computation_at(varied, v, 2, 5)) < 1e-9;
	ok(good && pclose(f) == 0, "apart %u, seed %u: a program draws the same", drawn->apart, drawn->seed);
	unlink(path);
}

int main(void)
{
	random_seed(8);
	check_once();
	check_budget();
	struct computation drawn = {.drawn = true,
	                            .visits = 41,
	                            .count = 3,
	                            .parts = {{.times = 5, .ns = 1, .width = 1},
	                                      {.times = 34, .ns = 3, .width = 2},
	                                      {.times = 2, .ns = 9, .width = 0}}};
	struct computation varied = {.visits = 41, .count = 1, .parts = {{.times = 1, .ns = 3, .width = 0.6}}};
	for (unsigned apart = 0; apart <= 256; apart += 128) {
		drawn.apart = varied.apart = apart;
		drawn.seed = 7, varied.seed = 8;
		check_program(&drawn, &varied);
	}
	for (int kind = 0; kind < KINDS; kind++) {
		check_kind((enum kind)kind, 2, 25);
		check_kind((enum kind)kind, 8, 3);
	}
	return tap_end();
}
