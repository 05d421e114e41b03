/* SPDX-License-Identifier: BSD-3-Clause
 * chains - sites of a set in any order that always follow each other
 */
#include "proxy/chains.h"

#include <string.h>

#include "trace/base/budget.h"

#define MANY (NEST_NONE - 1)

/* Of each site: the only other one that follows on it, that it follows on, and its neighbours in a chain. */
struct chains {
	struct loop_nest *nest;
	uint32_t *behind, *before;
	uint32_t *next; /* NEST_NONE: none */
	bool *linked;   /* it is not the first one of a chain */
	uint32_t *children;
};

static void note(uint32_t *only, uint32_t other)
{
	*only = *only == NEST_NONE || *only == other ? other : MANY;
}

static void find_links(struct chains *x, const struct nest_edge *edges, size_t edge_count)
{
	const struct nest_node *nodes = x->nest->nodes;
	for (size_t i = 0; i < edge_count; i++)
		if (edges[i].from != edges[i].to) {
			note(&x->behind[edges[i].from], edges[i].to);
			note(&x->before[edges[i].to], edges[i].from);
		}
	for (uint32_t a = 0; a < x->nest->sites; a++) {
		uint32_t b = x->behind[a];
		if (b >= MANY || x->before[b] != a || nodes[a].parent != nodes[b].parent ||
		    nodes[a].parent == NEST_NONE || !nodes[nodes[a].parent].any_order)
			continue;
		x->next[a] = b;
		x->linked[b] = true;
	}
}

static void append(struct loop_nest *nest, uint32_t parent, uint32_t child)
{
	nest->nodes[child].next = NEST_NONE;
	loop_nest_append(nest, parent, child);
}

static void append_chain(struct chains *x, uint32_t set, uint32_t first)
{
	uint32_t node = x->nest->count++;
	x->nest->nodes[node] = (struct nest_node){.first = NEST_NONE, .last = NEST_NONE, .header = first};
	append(x->nest, set, node);
	for (uint32_t site = first; site != NEST_NONE; site = x->next[site])
		append(x->nest, node, site);
}

static void make_set(struct chains *x, uint32_t set)
{
	struct nest_node *nodes = x->nest->nodes;
	uint32_t count = 0;
	for (uint32_t c = nodes[set].first; c != NEST_NONE; c = nodes[c].next)
		x->children[count++] = c;
	nodes[set].first = nodes[set].last = NEST_NONE;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t c = x->children[i];
		bool site = c < x->nest->sites;
		if (site && !x->linked[c] && x->next[c] != NEST_NONE)
			append_chain(x, set, c);
		else if (!site || !x->linked[c])
			append(x->nest, set, c);
	}
}

static int make_room(struct loop_nest *nest)
{
	struct nest_node *more = budget_calloc(nest->count + UINT64_C(1) + nest->sites / 2, sizeof *more);
	if (!more)
		return -1;
	memcpy(more, nest->nodes, nest->count * sizeof *more);
	budget_free(nest->nodes);
	nest->nodes = more;
	return 0;
}

int chains_make(struct loop_nest *nest, const struct nest_edge *edges, size_t edge_count)
{
	size_t n = nest->sites + UINT64_C(1);
	struct chains x = {.nest = nest, .linked = budget_calloc(n, 1)};
	uint32_t count = nest->count, *sites = budget_malloc((3 * n + nest->count) * sizeof *sites);
	int rv = x.linked && sites && make_room(nest) == 0 ? 0 : -1;
	if (rv == 0) {
		memset(sites, 0xff, 3 * n * sizeof *sites);
		x.behind = sites;
		x.before = sites + n;
		x.next = sites + 2 * n;
		x.children = sites + 3 * n;
		find_links(&x, edges, edge_count);
		for (uint32_t set = nest->sites; set < count; set++)
			if (nest->nodes[set].any_order)
				make_set(&x, set);
	}
	budget_free(x.linked);
	budget_free(sites);
	return rv;
}
