/* SPDX-License-Identifier: BSD-3-Clause
 * wait_graph - who can never go on
 *
 * Each node has the number of nodes that must still go on before it can (`needs`): of WAIT_FOR_ALL its targets, of
 * WAIT_FOR_ANY one. A node whose number becomes 0 is released, and lowers that of those that wait for it.
 *
 *     0 ALL -> 1        needs 1 1 1     2 waits for 3, which is free: it goes, then 2 goes. 0 and 1 remain.
 *     1 ALL -> 0
 *     2 ANY -> 0, 3
 */
#include "insight/wait_graph.h"

#include "trace/base/budget.h"

struct wait_edge {
	uint32_t from, to;
};

struct wait_node {
	enum wait_kind kind;
	uint32_t out, in; /* how many edges; after wait_graph_reduce where they begin in `targets`, `waiters` */
	uint32_t needs;
	bool released;
};

struct wait_graph {
	struct wait_node *nodes; /* with one behind the last, once it is reduced */
	uint32_t count, capacity;
	struct wait_edge *edges;
	uint32_t edge_count, edge_capacity;
	uint32_t *targets, *waiters;
};

struct wait_graph *wait_graph_create(void)
{
	return budget_calloc(1, sizeof(struct wait_graph));
}

void wait_graph_destroy(struct wait_graph *g)
{
	if (!g)
		return;
	budget_free(g->nodes);
	budget_free(g->edges);
	budget_free(g->targets);
	budget_free(g->waiters);
	budget_free(g);
}

uint32_t wait_graph_add(struct wait_graph *g, enum wait_kind kind)
{
	/* one more than there are: see wait_graph_reduce */
	if (!budget_grow(&g->nodes, g->count + 1, &g->capacity, sizeof *g->nodes))
		return WAIT_NODE_NONE;
	g->nodes[g->count] = (struct wait_node){.kind = kind};
	return g->count++;
}

enum wait_kind wait_graph_kind(const struct wait_graph *g, uint32_t node)
{
	return g->nodes[node].kind;
}

uint32_t wait_graph_count(const struct wait_graph *g)
{
	return g->count;
}

int wait_graph_wait(struct wait_graph *g, uint32_t from, uint32_t to)
{
	if (from >= g->count || to >= g->count)
		return -1;
	if (!budget_grow(&g->edges, g->edge_count, &g->edge_capacity, sizeof *g->edges))
		return -1;
	g->edges[g->edge_count++] = (struct wait_edge){from, to};
	g->nodes[from].out++;
	g->nodes[to].in++;
	return 0;
}

/* Edges by where they begin, and by where they end; in the order in which they were added. */
static int sort_edges(struct wait_graph *g)
{
	uint32_t out = 0, in = 0;
	g->targets = budget_malloc((g->edge_count + 1) * sizeof *g->targets);
	g->waiters = budget_malloc((g->edge_count + 1) * sizeof *g->waiters);
	if (!g->targets || !g->waiters || !g->nodes)
		return -1;
	g->nodes[g->count] = (struct wait_node){.out = 0};
	for (uint32_t i = 0; i <= g->count; i++) { /* each counts down from its end, to its beginning */
		struct wait_node *n = &g->nodes[i];
		n->needs = n->kind == WAIT_FOR_ANY ? 1 : n->out;
		n->out = out += n->out;
		n->in = in += n->in;
	}
	for (uint32_t i = g->edge_count; i-- > 0;) {
		const struct wait_edge *e = &g->edges[i];
		g->targets[--g->nodes[e->from].out] = e->to;
		g->waiters[--g->nodes[e->to].in] = e->from;
	}
	return 0;
}

int64_t wait_graph_reduce(struct wait_graph *g)
{
	uint32_t *ready, count = 0, done = 0;
	if (g->count == 0)
		return 0;
	if (sort_edges(g) != 0 || !(ready = budget_malloc(g->count * sizeof *ready)))
		return -1;
	for (uint32_t i = 0; i < g->count; i++)
		if (g->nodes[i].needs == 0) {
			g->nodes[i].released = true;
			ready[count++] = i;
		}
	while (done < count) {
		uint32_t node = ready[done++];
		for (uint32_t i = g->nodes[node].in; i < g->nodes[node + 1].in; i++) {
			struct wait_node *waiter = &g->nodes[g->waiters[i]];
			if (waiter->released || --waiter->needs > 0)
				continue;
			waiter->released = true;
			ready[count++] = g->waiters[i];
		}
	}
	budget_free(ready);
	return g->count - count;
}

bool wait_graph_stuck(const struct wait_graph *g, uint32_t node)
{
	return node < g->count && !g->nodes[node].released;
}

uint32_t wait_graph_targets(const struct wait_graph *g, uint32_t node)
{
	return g->nodes[node + 1].out - g->nodes[node].out;
}

uint32_t wait_graph_target(const struct wait_graph *g, uint32_t from, uint32_t *at)
{
	uint32_t i = g->nodes[from].out + *at;
	if (i >= g->nodes[from + 1].out)
		return WAIT_NODE_NONE;
	(*at)++;
	return g->targets[i];
}

/* Of the stuck nodes that one waits for: one that is on the path already, else the first one. */
static uint32_t next_stuck(const struct wait_graph *g, uint32_t node, const uint32_t *place)
{
	uint32_t chosen = WAIT_NODE_NONE, next;
	for (uint32_t at = 0; (next = wait_graph_target(g, node, &at)) != WAIT_NODE_NONE;) {
		if (!wait_graph_stuck(g, next))
			continue;
		if (place[next])
			return next;
		if (chosen == WAIT_NODE_NONE)
			chosen = next;
	}
	return chosen;
}

size_t wait_graph_path(const struct wait_graph *g, uint32_t from, uint32_t **path, size_t *cycle)
{
	size_t n = 0;
	*path = NULL;
	*cycle = 0;
	if (!wait_graph_stuck(g, from))
		return 0;
	uint32_t *place = budget_calloc(g->count, sizeof *place); /* on the path, from 1; 0: it is not */
	*path = budget_malloc(g->count * sizeof **path);
	while (place && *path) { /* whoever is stuck waits for one that is, or for nobody */
		(*path)[n++] = from;
		place[from] = (uint32_t)n;
		from = next_stuck(g, from, place);
		*cycle = from == WAIT_NODE_NONE ? n : place[from] - 1;
		if (from == WAIT_NODE_NONE || place[from])
			break;
	}
	budget_free(place);
	return n;
}
