/* SPDX-License-Identifier: BSD-3-Clause
 * rank_groups - which ranks behave alike
 */
#include "trace/read/rank_groups.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

/* The group of a rank; NULL: it is in none. */
static const struct rank_group *group_of_rank(const struct rank_groups *g, uint32_t rank)
{
	int64_t unused;
	for (size_t i = 0; i < g->count; i++)
		if (rankmap_get(&g->groups[i].ranks, rank, &unused))
			return &g->groups[i];
	return NULL;
}

static int make_again(void *context)
{
	struct rank_groups g;
	int rv = rank_groups_make(&g, context);
	rank_groups_free(&g);
	return rv;
}

static void test_none(void)
{
	struct trace t;
	struct rank_groups g;
	if (trace_init(&t) != 0)
		abort();
	ok(rank_groups_make(&g, &t) == 0 && g.count == 0, "a trace without ranks has no groups");
	rank_groups_free(&g);
	trace_free(&t);
}

/* What all groups computed, relative to what all ranks did. */
static double all_computed(const struct trace *t)
{
	struct rank_groups g;
	double sum = 0;
	if (rank_groups_make(&g, t) != 0)
		abort();
	for (size_t i = 0; i < g.count; i++)
		sum += g.groups[i].compute_ns * (double)g.groups[i].count;
	rank_groups_free(&g);
	return sum / (double)t->total[TOTAL_COMPUTE].sum;
}

static void test_sums(void)
{
	struct trace t;
	bool good = true;
	sample_merged(&t, 8, SAMPLE_CLASSES);
	for (int i = 0; i < 3; i++, t.total[TOTAL_COMPUTE].sum = t.total[TOTAL_COMPUTE].sum * 2 / 3) {
		double all = all_computed(&t);
		good &= all > 1 - 1e-9 && all < 1 + 1e-9;
	}
	ok(good, "whatever the classes say, the groups compute as long as all ranks");
	trace_free(&t);
}

static void test_sample(void)
{
	struct trace t;
	struct rank_groups g;
	uint64_t ranks = 0;
	sample_merged(&t, 8, SAMPLE_CLASSES);
	ok(rank_groups_make(&g, &t) == 0 && g.count > 1, "eight ranks are several groups");
	for (size_t i = 0; i < g.count; i++)
		ranks += rankmap_size(&g.groups[i].ranks);
	const struct rank_group *slow = group_of_rank(&g, 1), *usual = group_of_rank(&g, 4);
	ok(ranks == 8 && slow && usual, "each rank is in one group");
	ok(slow && usual && slow != usual && slow->compute_ns > 2 * usual->compute_ns &&
	           (slow->differs[RANK_GROUP_TIME] || usual->differs[RANK_GROUP_TIME]),
	   "rank 1 computes longer");
	ok(fails_well(make_again, &t), "no memory");
	rank_groups_free(&g);
	struct budget budget = {.memory = 1 << 24, .steps = 20};
	budget_begin(&budget);
	ok(make_again(&t) == -1, "no more steps than the reader may take");
	budget_end(&budget);
	trace_free(&t);
}

/* Ranks 0 to 5 spend a second in the calls of a site, the others twice as much. */
static void set_waits(struct trace *t)
{
	struct trace_site *s = &t->sites[1];
	struct rankmap_builder b = {.references = false};
	rankmap_free(&s->means.map);
	rankmap_add(&b, (struct rank_piece){.first = 0, .count = 6, .step = 1, .value = 0});
	rankmap_add(&b, (struct rank_piece){.first = 6, .count = 2, .step = 1, .value = 16});
	if (rankmap_take(&b, &s->means.map) != 0)
		abort();
	s->means.finished = true;
	s->means.step = 0;
	s->communicate.sum = 8 * UINT64_C(1000000000);
	s->least = 1000000000;
	s->most = 2000000000;
}

static void test_waits(void)
{
	struct trace t;
	struct rank_groups g;
	sample_merged(&t, 8, SAMPLE_CLASSES);
	ok(rank_groups_make(&g, &t) == 0 && group_of_rank(&g, 5) == group_of_rank(&g, 7), "ranks 5 and 7 are alike");
	rank_groups_free(&g);
	set_waits(&t);
	ok(rank_groups_make(&g, &t) == 0 && group_of_rank(&g, 5) != group_of_rank(&g, 7) &&
	           group_of_rank(&g, 3) == group_of_rank(&g, 5),
	   "but not if one of them waits twice as long");
	ok(group_of_rank(&g, 6)->differs[RANK_GROUP_TIME] != group_of_rank(&g, 4)->differs[RANK_GROUP_TIME],
	   "it is the time that differs");
	ok(fails_well(make_again, &t), "no memory");
	rank_groups_free(&g);
	t.total[TOTAL_ELAPSED].sum = 8 * UINT64_C(20000000000);
	ok(rank_groups_make(&g, &t) == 0 && group_of_rank(&g, 5) == group_of_rank(&g, 7),
	   "nor does it matter in a job that takes long");
	rank_groups_free(&g);
	trace_free(&t);
}

int main(void)
{
	test_none();
	test_sums();
	test_sample();
	test_waits();
	return tap_end();
}
