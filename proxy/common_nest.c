/* SPDX-License-Identifier: BSD-3-Clause
 * common_nest - one loop nest of ranks that do different things
 *
 * Any tree with any order of children holds for all ranks: a step back begins a turn. So what is found here can only be
 * hard to read, not wrong.
 */
#include "proxy/common_nest.h"

#include <stdlib.h>

#include "trace/base/budget.h"

#define DEPTH_MOST 32 /* deeper loops are sets in any order */

/* The nest of one kind, in numbers of its own. */
struct kind_nest {
	struct loop_nest nest;
	struct steps steps; /* sorted */
	uint32_t *edge_of;  /* of each site, its first step */
	uint32_t *site_of;  /* of each site, its number in all */
	uint32_t *leaves;   /* sites, those of a node together */
	uint32_t *begin, *end;
};

/* What one kind has below the node that is made. */
struct item {
	uint32_t kind, node, group;
};

struct uniting {
	struct loop_nest *nest;
	struct kind_nest *kinds;
	uint32_t count;
	uint32_t *same;     /* of each site: another one of its group, or itself */
	uint32_t *group_of; /* of each site that stands for its group */
	int failed;         /* 1: no order; -1: no memory */
};

/* The groups below a node. Items are sorted by group. */
struct groups {
	struct group {
		uint32_t first, count; /* items */
		uint32_t least;        /* site */
		uint32_t before;       /* steps from groups that have no place yet */
		bool placed;
	} * each;
	uint32_t count;
	struct nest_edge *steps; /* from group to group; sorted */
	uint32_t step_count, step_capacity;
};

/* ---- the nests of the kinds ---- */

static void list_leaves(struct kind_nest *k, uint32_t node, uint32_t *count)
{
	k->begin[node] = *count;
	if (node < k->nest.sites)
		k->leaves[(*count)++] = node;
	for (uint32_t c = k->nest.nodes[node].first; c != NEST_NONE; c = k->nest.nodes[c].next)
		list_leaves(k, c, count);
	k->end[node] = *count;
}

/* Sites get numbers in the order in which this kind comes to them. */
static int number_sites(struct kind_nest *k, const struct steps *steps, uint32_t *number)
{
	uint32_t count = 1;
	number[0] = 0;
	for (uint32_t i = 0; i < steps->count; i++) {
		uint32_t to = steps->each[i].to;
		if (number[to] == NEST_NONE) {
			number[to] = count;
			k->site_of[count++] = to;
		}
	}
	for (uint32_t i = 0; i < steps->count; i++)
		if (steps_add(&k->steps, number[steps->each[i].from], number[steps->each[i].to],
		              steps->each[i].count) != 0)
			return -1;
	steps_sort(&k->steps);
	for (uint32_t i = 0; i < k->steps.count; i++)
		k->edge_of[k->steps.each[i].from + 1]++;
	for (uint32_t i = 0; i < count; i++)
		k->edge_of[i + 1] += k->edge_of[i];
	return loop_nest_make(&k->nest, count, k->steps.each, k->steps.count);
}

static int kind_begin(struct kind_nest *k, uint32_t sites, const struct steps *steps)
{
	uint32_t *number = budget_malloc(sites * sizeof *number), count = 0;
	k->site_of = budget_calloc(sites, sizeof *k->site_of);
	k->edge_of = budget_calloc(sites + UINT64_C(2), sizeof *k->edge_of);
	for (uint32_t i = 0; number && i < sites; i++)
		number[i] = NEST_NONE;
	int rv = number && k->site_of && k->edge_of ? number_sites(k, steps, number) : -1;
	budget_free(number);
	if (rv != 0)
		return -1;
	k->leaves = budget_calloc(k->nest.sites, sizeof *k->leaves);
	k->begin = budget_calloc(k->nest.count, sizeof *k->begin);
	k->end = budget_calloc(k->nest.count, sizeof *k->end);
	if (!k->leaves || !k->begin || !k->end)
		return -1;
	list_leaves(k, k->nest.sites, &count);
	return 0;
}

static void kind_end(struct kind_nest *k)
{
	loop_nest_free(&k->nest);
	steps_free(&k->steps);
	budget_free(k->edge_of);
	budget_free(k->site_of);
	budget_free(k->leaves);
	budget_free(k->begin);
	budget_free(k->end);
}

/* ---- groups ---- */

static uint32_t stands_for(const struct uniting *x, uint32_t site)
{
	while (x->same[site] != site)
		site = x->same[site] = x->same[x->same[site]];
	return site;
}

static uint32_t item_site(const struct uniting *x, const struct item *i, uint32_t leaf)
{
	const struct kind_nest *k = &x->kinds[i->kind];
	return k->site_of[k->leaves[leaf]];
}

/* Calls `with` for each site of each item, and for the item's first one. */
static void each_site(struct uniting *x, const struct item *items, uint32_t count,
                      void (*with)(struct uniting *x, uint32_t site, uint32_t first))
{
	for (uint32_t i = 0; i < count; i++) {
		const struct kind_nest *k = &x->kinds[items[i].kind];
		uint32_t begin = k->begin[items[i].node], end = k->end[items[i].node];
		for (uint32_t l = begin; l < end && budget_step(1); l++)
			with(x, item_site(x, &items[i], l), item_site(x, &items[i], begin));
	}
}

static void separate(struct uniting *x, uint32_t site, uint32_t first)
{
	(void)first;
	x->same[site] = site;
	x->group_of[site] = NEST_NONE;
}

/* The least site stands for all. */
static void join(struct uniting *x, uint32_t site, uint32_t first)
{
	uint32_t a = stands_for(x, site), b = stands_for(x, first);
	if (a < b)
		x->same[b] = a;
	else
		x->same[a] = b;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
	       : x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
	                            : (x->node > y->node) - (x->node < y->node);
}

static int compare_steps(const void *a, const void *b)
{
	const struct nest_edge *x = a, *y = b;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

/* Steps that an item makes to other groups in the same turn. */
static int step_out(struct uniting *x, struct groups *g, const struct item *item)
{
	const struct kind_nest *k = &x->kinds[item->kind];
	for (uint32_t l = k->begin[item->node]; l < k->end[item->node]; l++)
		for (uint32_t i = k->edge_of[k->leaves[l]]; i < k->edge_of[k->leaves[l] + 1] && budget_step(1); i++) {
			const struct nest_edge *e = &k->steps.each[i];
			uint32_t site = k->site_of[e->to], to = x->group_of[stands_for(x, site)];
			if (to >= g->count || to == item->group || g->each[to].least != stands_for(x, site) ||
			    loop_nest_turns(&k->nest, loop_nest_meet(&k->nest, e->from, e->to), e->from, e->to))
				continue;
			if (!budget_grow(&g->steps, g->step_count, &g->step_capacity, sizeof *g->steps))
				return -1;
			g->steps[g->step_count++] = (struct nest_edge){item->group, to, 1};
			g->each[to].before++;
		}
	return 0;
}

static int groups_make(struct uniting *x, struct groups *g, struct item *items, uint32_t count)
{
	g->each = budget_calloc(count + UINT64_C(1), sizeof *g->each);
	if (!g->each)
		return -1;
	each_site(x, items, count, separate);
	each_site(x, items, count, join);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t site = stands_for(x, item_site(x, &items[i], x->kinds[items[i].kind].begin[items[i].node]));
		if (x->group_of[site] == NEST_NONE) {
			x->group_of[site] = g->count;
			g->each[g->count++].least = site;
		}
		items[i].group = x->group_of[site];
		g->each[items[i].group].count++;
	}
	qsort(items, count, sizeof *items, compare_items);
	for (uint32_t i = 0; i + 1 < g->count; i++)
		g->each[i + 1].first = g->each[i].first + g->each[i].count;
	for (uint32_t i = 0; i < count; i++)
		if (step_out(x, g, &items[i]) != 0)
			return -1;
	if (g->step_count)
		qsort(g->steps, g->step_count, sizeof *g->steps, compare_steps);
	return 0;
}

/* The next group that no other one must come before: that with the least site; NEST_NONE: there is none. */
static uint32_t groups_next(struct groups *g)
{
	uint32_t best = NEST_NONE;
	for (uint32_t i = 0; i < g->count && budget_step(1); i++)
		if (!g->each[i].placed && g->each[i].before == 0 &&
		    (best == NEST_NONE || g->each[i].least < g->each[best].least))
			best = i;
	if (best == NEST_NONE)
		return NEST_NONE;
	const struct nest_edge key = {best, 0, 0};
	uint32_t low = 0, high = g->step_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare_steps(&g->steps[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < g->step_count && g->steps[low].from == best; low++)
		g->each[g->steps[low].to].before--;
	g->each[best].placed = true;
	return best;
}

/* ---- one node ---- */

static void add_to_set(struct uniting *x, uint32_t site, uint32_t first)
{
	(void)first;
	if (x->nest->nodes[site].parent == NEST_NONE)
		loop_nest_append(x->nest, x->nest->count - 1, site);
}

/* The node is the last one. */
static void make_unordered(struct uniting *x, uint32_t node, const struct item *items, uint32_t count)
{
	if (node == x->nest->sites) {
		x->failed = 1;
		return;
	}
	x->nest->nodes[node].any_order = true;
	each_site(x, items, count, add_to_set);
}

/* Puts in place of a kind's only item, a loop, what is in it. Returns how many items there are then; *out: malloc'ed;
 * 0: none is such a loop, or no memory. */
static uint32_t open_items(struct uniting *x, const struct item *items, uint32_t count, struct item **out, bool *set)
{
	uint32_t n = 0, capacity = 0, opened = 0;
	*out = NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct kind_nest *k = &x->kinds[items[i].kind];
		bool only = (i == 0 || items[i - 1].kind != items[i].kind) &&
		            (i + 1 == count || items[i + 1].kind != items[i].kind) && items[i].node > k->nest.sites;
		uint32_t c = only ? k->nest.nodes[items[i].node].first : items[i].node;
		*set |= items[i].node > k->nest.sites && k->nest.nodes[items[i].node].any_order;
		opened += only;
		for (; c != NEST_NONE; c = only ? k->nest.nodes[c].next : NEST_NONE) {
			if (!budget_grow(out, n, &capacity, sizeof **out)) {
				x->failed = -1;
				return 0;
			}
			(*out)[n++] = (struct item){items[i].kind, c, 0};
		}
	}
	*set |= opened == 0;
	return n;
}

static void unite_items(struct uniting *x, uint32_t node, struct item *items, uint32_t count);

static void place_group(struct uniting *x, uint32_t parent, const struct group *g, const struct item *items)
{
	bool site = true, set = x->nest->nodes[parent].depth + 1 >= DEPTH_MOST;
	for (uint32_t i = 0; i < g->count; i++)
		site &= items[i].node < x->kinds[items[i].kind].nest.sites;
	if (site) {
		loop_nest_append(x->nest, parent, g->least);
		return;
	}
	struct item *inner;
	uint32_t n = open_items(x, items, g->count, &inner, &set), node = x->nest->count++;
	loop_nest_append(x->nest, parent, node);
	if (set && n)
		make_unordered(x, node, inner, n);
	else if (n)
		unite_items(x, node, inner, n);
	budget_free(inner);
}

/* Makes what is below a node, of these items. */
static void unite_items(struct uniting *x, uint32_t node, struct item *items, uint32_t count)
{
	struct groups g = {.count = 0};
	uint32_t *order = budget_malloc((count + UINT64_C(1)) * sizeof *order), placed = 0;
	if (!order || groups_make(x, &g, items, count) != 0)
		x->failed = -1;
	while (x->failed == 0 && placed < g.count && (order[placed] = groups_next(&g)) != NEST_NONE)
		placed++;
	if (x->failed == 0 && (placed < g.count || g.count == 1))
		make_unordered(x, node, items, count);
	for (uint32_t i = 0; placed > 1 && placed == g.count && i < placed && x->failed == 0; i++)
		place_group(x, node, &g.each[order[i]], items + g.each[order[i]].first);
	budget_free(order);
	budget_free(g.each);
	budget_free(g.steps);
}

static int unite_all(struct uniting *x, uint32_t sites)
{
	struct item *items = NULL;
	uint32_t n = 0, capacity = 0;
	for (uint32_t k = 0; k < x->count; k++) {
		const struct loop_nest *nest = &x->kinds[k].nest;
		for (uint32_t c = nest->nodes[nest->sites].first; c != NEST_NONE; c = nest->nodes[c].next) {
			if (!budget_grow(&items, n, &capacity, sizeof *items))
				x->failed = -1;
			else
				items[n++] = (struct item){k, c, 0};
		}
	}
	if (x->failed == 0)
		unite_items(x, sites, items, n);
	budget_free(items);
	for (uint32_t i = 0; i < sites && x->failed == 0; i++)
		x->failed = x->nest->nodes[i].parent == NEST_NONE;
	return x->failed;
}

int common_nest_make(struct loop_nest *nest, uint32_t sites, const struct step_kinds *kinds)
{
	struct uniting x = {.nest = nest, .count = kinds->count};
	int rv = loop_nest_begin(nest, sites);
	x.kinds = budget_calloc(kinds->count + UINT64_C(1), sizeof *x.kinds);
	x.same = budget_calloc(sites + UINT64_C(1), sizeof *x.same);
	x.group_of = budget_calloc(sites + UINT64_C(1), sizeof *x.group_of);
	if (!x.kinds || !x.same || !x.group_of)
		rv = -1;
	for (uint32_t i = 0; rv == 0 && i < kinds->count; i++)
		rv = kind_begin(&x.kinds[i], sites, &kinds->each[i]);
	if (rv == 0)
		rv = unite_all(&x, sites);
	for (uint32_t i = 0; x.kinds && i < kinds->count; i++)
		kind_end(&x.kinds[i]);
	budget_free(x.kinds);
	budget_free(x.same);
	budget_free(x.group_of);
	return rv;
}

uint32_t common_nest_unordered(const struct loop_nest *nest)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < nest->sites; i++)
		count += nest->nodes[nest->nodes[i].parent].any_order;
	return count;
}
