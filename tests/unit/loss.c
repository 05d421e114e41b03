/* SPDX-License-Identifier: BSD-3-Clause
 * loss - what becomes of columns whose ranks differ too much: tallies of exactly what was there
 */
#include "merge/loss.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"
#include "trace/read/walk.h"

enum { RANKS = 6, COLUMNS = 8 };

/* How many values a column has, and the sum of those that are numbers; of arrays, of their lengths. */
struct sums {
	uint64_t count[SAMPLE_SITES][COLUMNS], sum[SAMPLE_SITES][COLUMNS];
};

static void sums_of(struct sums *s, const struct trace *t)
{
	int64_t unused;
	*s = (struct sums){{{0}}, {{0}}};
	for (uint64_t r = 0; rankmap_next(&t->events, &r, &unused); r++) {
		struct walk *w;
		struct event e;
		if (walk_begin(&w, t, (uint32_t)r, NULL) != 0)
			abort();
		while (walk_next(w, &e, NULL) == 0)
			for (size_t k = 0; k < e.schema->count; k++) {
				int64_t v = e.values[k];
				s->count[e.site][k]++;
				if (e.schema->column[k].vector && !value_is_constant(v))
					v = (int64_t)(event_vector(t, &e, v)->size / sizeof v);
				s->sum[e.site][k] += value_is_constant(v) ? 0 : (uint64_t)v;
			}
		walk_end(w);
	}
}

static void test_merge(void)
{
	struct trace_loss a = {.stage[0] = {2, 50}},
			  b = {.lossy = true, .threshold = 9, .stage[0] = {1, 40}, .stage[1] = {3, 7}},
			  c = {.lossy = true, .threshold = 5, .structure = true};
	loss_merge(&a, &b);
	loss_merge(&a, &c);
	ok(a.lossy && a.structure && a.threshold == 5, "the strictest mode");
	ok(a.stage[0].ranks == 3 && a.stage[0].since == 40 && a.stage[1].ranks == 3 && a.stage[1].since == 7,
	   "ranks that gave up something, and the first event at which one did");
}

/* A trace whose last rank is missing: nothing was given up in it yet. */
static void test_finish(uint64_t threshold, bool structure, bool some)
{
	struct trace t;
	struct sums s;
	uint32_t lossy = 0, successors = 0, wrong = 0;
	sample_merged(&t, RANKS, SAMPLE_PART);
	sums_of(&s, &t);
	t.loss = (struct trace_loss){.lossy = true, .structure = structure, .threshold = threshold};
	int changed = loss_finish(&t);
	for (uint32_t i = 0; i < t.site_count; i++)
		for (uint32_t k = 0; k < t.sites[i].column_count; k++) {
			const struct trace_column *c = &t.sites[i].columns[k];
			for (uint32_t g = 0; g < c->count; g++) {
				const struct trace_lossy *l = c->groups[g].lossy;
				lossy += l != NULL;
				successors += l && k + 1 == t.sites[i].column_count;
				if (!l || k + 1 == t.sites[i].column_count)
					continue;
				wrong += tally_count(&l->values) != s.count[i][k] || l->why != WHY_RANKS ||
				         tally_sum(&l->values) != s.sum[i][k] ||
				         tally_constants(&l->values) + TALLY_EXACT < l->values.count;
			}
		}
	ok(changed == (int)lossy && (lossy > 0) == some && (successors > 0) == (some && structure),
	   "lossy:%d%s: %u columns without order", (int)threshold, structure ? " with structure" : "", lossy);
	ok(wrong == 0 && trace_check(&t, NULL) == 0, "as many values, and the same sums");
	ok(loss_finish(&t) == 0, "once is enough");
	trace_free(&t);
}

static struct trace whole;

static int finish_copy(void *context)
{
	struct trace t;
	long left = fail_left;
	(void)context;
	fail_left = 0; /* the copy is not what is tested */
	if (trace_init(&t) != 0 || merge_into(&t, &whole, NULL) != 0)
		abort();
	fail_left = left;
	t.loss = (struct trace_loss){.lossy = true, .structure = true, .threshold = 0};
	int rv = loss_finish(&t);
	trace_free(&t);
	return rv < 0 ? -1 : 0;
}

int main(void)
{
	test_merge();
	test_finish(1000, true, false);
	test_finish(3, false, true);
	test_finish(0, false, true);
	test_finish(0, true, true);
	sample_merged(&whole, RANKS, SAMPLE_PART);
	ok(fails_well(finish_copy, NULL), "no memory");
	trace_free(&whole);
	return tap_end();
}
