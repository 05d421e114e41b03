/* SPDX-License-Identifier: BSD-3-Clause
 * suite - which few runs stand for all that a site ran?
 *
 * The sum, over all runs, of the weight times the distance to the nearest chosen one becomes less with each step: first
 * by adding the run that helps most, then by putting another run in the place of a chosen one.
 */
#include "archive/suite.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Turns in which each chosen one is compared with all others; it is over long before. */
#define TURNS_MOST 20

struct choice {
	const struct suite_run *runs;
	size_t n, count;
	size_t *chosen;
	double *nearest; /* of each run: the distance to what is chosen, without the one that is being replaced */
};

static double run_distance(const struct suite_run *a, const struct suite_run *b)
{
	double squares = 0;
	for (int i = 0; i < SUITE_FEATURES; i++)
		squares += (a->features[i] - b->features[i]) * (a->features[i] - b->features[i]);
	return sqrt(squares);
}

/* without: of the chosen ones; c->count: all of them count. */
static void find_nearest(struct choice *c, size_t without)
{
	for (size_t i = 0; i < c->n; i++) {
		c->nearest[i] = 1e6; /* farther than any run, and finite: the first one is chosen by it, too */
		for (size_t k = 0; k < c->count; k++)
			if (k != without)
				c->nearest[i] = fmin(c->nearest[i], run_distance(&c->runs[i], &c->runs[c->chosen[k]]));
	}
}

/* The cost if `run` were chosen as well. */
static double cost_with(const struct choice *c, size_t run)
{
	double cost = 0;
	for (size_t i = 0; i < c->n; i++)
		cost += c->runs[i].weight * fmin(c->nearest[i], run_distance(&c->runs[i], &c->runs[run]));
	return cost;
}

static size_t best_run(const struct choice *c, double *cost)
{
	size_t best = 0;
	*cost = INFINITY;
	for (size_t i = 0; i < c->n; i++) {
		double with = cost_with(c, i);
		if (with < *cost) {
			*cost = with;
			best = i;
		}
	}
	return best;
}

/* Another run in the place of a chosen one; false: none is better. */
static bool replace_one(struct choice *c, size_t k)
{
	double cost, before;
	find_nearest(c, k);
	before = cost_with(c, c->chosen[k]);
	size_t best = best_run(c, &cost);
	if (cost >= before * (1 - 1e-9))
		return false;
	c->chosen[k] = best;
	return true;
}

static void add_shares(const struct choice *c, double *shares)
{
	double all = 0;
	for (size_t i = 0; i < c->n; i++)
		all += c->runs[i].weight;
	for (size_t i = 0; i < c->n; i++) {
		size_t best = 0;
		for (size_t k = 1; k < c->count; k++)
			if (run_distance(&c->runs[i], &c->runs[c->chosen[k]]) <
			    run_distance(&c->runs[i], &c->runs[c->chosen[best]]))
				best = k;
		shares[best] += all > 0 ? c->runs[i].weight / all : 0;
	}
}

/* The largest first; returns how many have one. */
static size_t sort_shares(size_t *chosen, double *shares, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		size_t best = i;
		for (size_t k = i + 1; k < count; k++)
			best = shares[k] > shares[best] ? k : best;
		double share = shares[best];
		size_t run = chosen[best];
		shares[best] = shares[i];
		chosen[best] = chosen[i];
		shares[i] = share;
		chosen[i] = run;
		kept += share > 0;
	}
	return kept;
}

static bool are_finite(const struct suite_run *runs, size_t n)
{
	bool finite = true;
	for (size_t i = 0; i < n; i++) {
		finite &= isfinite(runs[i].weight) && runs[i].weight >= 0;
		for (int k = 0; k < SUITE_FEATURES; k++)
			finite &= fabs(runs[i].features[k]) <= 1000;
	}
	return finite;
}

int suite_choose(const struct suite_run *runs, size_t n, size_t wanted, size_t *chosen, double *shares)
{
	struct choice c = {.runs = runs, .n = n, .chosen = chosen};
	double cost = INFINITY;
	bool changed = true;
	if (n > SUITE_RUNS || wanted == 0 || wanted > SUITE_CHOSEN || !are_finite(runs, n))
		return -1;
	c.nearest = malloc((n + 1) * sizeof *c.nearest);
	if (!c.nearest)
		return -1;
	while (c.count < wanted && c.count < n && cost > 0) {
		find_nearest(&c, c.count);
		chosen[c.count] = best_run(&c, &cost);
		shares[c.count++] = 0;
	}
	for (int turn = 0; turn < TURNS_MOST && changed; turn++) {
		changed = false;
		for (size_t k = 0; k < c.count; k++)
			changed |= replace_one(&c, k);
	}
	add_shares(&c, shares);
	free(c.nearest);
	return (int)sort_shares(chosen, shares, c.count);
}
