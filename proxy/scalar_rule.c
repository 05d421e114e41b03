/* SPDX-License-Identifier: BSD-3-Clause
 * scalar_rule - a number that follows from another one of the same call
 */
#include "proxy/scalar_rule.h"

#include "proxy/column_numbers.h"
#include "trace/base/budget.h"

#define VISITS_MOST 4096 /* of a rank, that are compared */
#define TABLE_MOST  8    /* times as many numbers as there are different ones */

struct pairs {
	struct point *each;
	uint32_t count, capacity;
};

/* How many visits say all. 0: too many. */
static uint64_t visits_of_both(const struct runs *a, const struct runs *b)
{
	uint64_t lead[2], period[2];
	if (!runs_length(a, VISITS_MOST, &lead[0], &period[0]) || !runs_length(b, VISITS_MOST, &lead[1], &period[1]))
		return 0;
	uint64_t all = (lead[0] > lead[1] ? lead[0] : lead[1]) + period[0] * period[1];
	return all <= VISITS_MOST && budget_step(all) ? all : 0;
}

/* What goes with what. Returns 0; 1: it cannot be said; -1: no memory. */
static int find_pairs(const struct numbers *n, const struct numbers *from, struct pairs *p)
{
	for (uint32_t r = 0; r < n->c->structure->ranks; r++) {
		const struct runs *a = n->of_rank[r], *b = from->of_rank[r];
		uint64_t visits = a && b ? visits_of_both(a, b) : 0;
		if ((a || b) && visits == 0)
			return 1;
		struct runs_walk from_walk = {.runs = b}, walk = {.runs = a};
		for (uint64_t v = 0; v < visits; v++) {
			struct point one = {runs_next(&from_walk), runs_next(&walk)};
			if (value_is_constant(one.x) || value_is_constant(one.y) || one.x < 0)
				return 1;
			if (p->count > 0 && p->each[p->count - 1].x == one.x && p->each[p->count - 1].y == one.y)
				continue;
			if (!budget_grow(&p->each, p->count, &p->capacity, sizeof *p->each))
				return -1;
			p->each[p->count++] = one;
		}
	}
	return p->count > 0 ? 0 : 1;
}

/* Is it a function, and not one with large gaps? */
static bool is_narrow(struct pairs *p)
{
	if (!fit_is_function(p->each, p->count))
		return false;
	int64_t different = 1;
	for (uint32_t i = 1; i < p->count; i++)
		different += p->each[i].x != p->each[i - 1].x;
	return different > 1 && (p->each[p->count - 1].x - p->each[0].x) / TABLE_MOST <= different;
}

static int make_rule(struct numbers *n, struct pairs *p, const char *name, const struct tree_node **out)
{
	struct fit fit = numbers_fit(n);
	fit.x = node_named(n->c->tree, NODE_LOCAL, name);
	*out = fit_make(&fit, p->each, p->count, NULL);
	return n->c->tree->failed ? -1 : 1;
}

int scalar_by_rule(struct columns *c, uint32_t number, uint32_t from_number, const char *name,
                   const struct tree_node **out)
{
	struct numbers n, from;
	struct pairs p = {0};
	int rv = numbers_begin(&n, c, number);
	if (numbers_begin(&from, c, from_number) != 0)
		rv = -1;
	if (rv == 0)
		rv = find_pairs(&n, &from, &p);
	if (rv == 0)
		rv = is_narrow(&p) ? make_rule(&n, &p, name, out) : 0;
	else
		rv = rv > 0 ? 0 : -1;
	budget_free(p.each);
	numbers_end(&n);
	numbers_end(&from);
	return rv < 0 ? error_set(c->error, "no memory") : rv;
}
