/* SPDX-License-Identifier: BSD-3-Clause
 * suite - bad input; the example; groups that are known are found, whatever the order; without memory
 */
#include "archive/suite.h"

#include <math.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

enum { GROUPS = 5, RUNS = 200 };

static size_t chosen[SUITE_CHOSEN];
static double shares[SUITE_CHOSEN];

static void bad_input(void)
{
	static struct suite_run runs[2] = {{1, {0}}, {1, {1}}};
	ok(suite_choose(runs, 2, 0, chosen, shares) == -1, "none is wanted");
	ok(suite_choose(runs, 2, SUITE_CHOSEN + 1, chosen, shares) == -1, "too many are wanted");
	ok(suite_choose(runs, SUITE_RUNS + 1, 1, chosen, shares) == -1, "too many runs");
	ok(suite_choose(runs, 0, 3, chosen, shares) == 0, "no runs");
	runs[1].features[3] = NAN;
	ok(suite_choose(runs, 2, 1, chosen, shares) == -1, "no number");
	runs[1] = (struct suite_run){-1, {0}};
	ok(suite_choose(runs, 2, 1, chosen, shares) == -1, "a negative weight");
	runs[0].weight = runs[1].weight = 0;
	ok(suite_choose(runs, 2, 2, chosen, shares) == 0, "runs without weight");
}

static const struct suite_run example[] = {{10, {0}}, {1, {0.1}}, {5, {0.9}}, {4, {1.0}}};

static bool is_example(void)
{
	return chosen[0] == 0 && chosen[1] == 2 && fabs(shares[0] - 0.55) < 1e-9 && fabs(shares[1] - 0.45) < 1e-9;
}

static void by_hand(void)
{
	ok(suite_choose(example, 4, 2, chosen, shares) == 2 && is_example(), "the example");
	ok(suite_choose(example, 4, 9, chosen, shares) == 4 && shares[3] == 0.05, "as many as there are");
	const struct suite_run same[] = {{1, {0.5}}, {2, {0.5}}, {3, {0.5}}};
	ok(suite_choose(same, 3, 3, chosen, shares) == 1 && shares[0] == 1, "runs that do the same: one");
}

/* The shares of known groups, whose runs are about one point each. */
static void groups(void)
{
	static struct suite_run runs[RUNS];
	double wanted[GROUPS] = {0}, all = 0, worst = 0;
	size_t group[RUNS];
	for (size_t i = 0; i < RUNS; i++) {
		group[i] = random_below(GROUPS);
		runs[i].weight = (double)(1 + random_below(100));
		for (size_t k = 0; k < SUITE_FEATURES; k++)
			runs[i].features[k] = (k == group[i]) + (double)random_below(100) / 1000;
		wanted[group[i]] += runs[i].weight;
		all += runs[i].weight;
	}
	int count = suite_choose(runs, RUNS, GROUPS, chosen, shares);
	for (int k = 0; k < count; k++)
		worst = fmax(worst, fabs(shares[k] - wanted[group[chosen[k]]] / all));
	ok(count == GROUPS && worst < 1e-9, "groups that are far from each other are found");
}

static int choose_some(void *context)
{
	(void)context;
	return suite_choose(example, 4, 2, chosen, shares) == 2 && is_example() ? 0 : -1;
}

int main(void)
{
	bad_input();
	by_hand();
	groups();
	ok(fails_well(choose_some, NULL), "without memory");
	return tap_end();
}
