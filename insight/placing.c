/* SPDX-License-Identifier: BSD-3-Clause
 * placing - the arrangement of ranks with the least between nodes that is found
 */
#include "insight/placing.h"

#include <stdio.h>
#include <string.h>

#include "insight/bisection.h"
#include "insight/cut_bound.h"
#include "trace/base/budget.h"

/* Edges that are looked at in all, about a second, and half as many for sockets; but not more than so many times those
 * of the graph from each start. */
#define WORK  (UINT64_C(1) << 28)
#define TIMES 4000
/* Edges that are looked at for a proof, a second or two. */
#define PROVING (UINT64_C(1) << 28)

static int count_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int crossing_compare(const struct crossing *a, const struct crossing *b, enum placing_by by)
{
	int bytes = count_compare(a->bytes, b->bytes), messages = count_compare(a->messages, b->messages);
	return by == PLACING_BYTES ? (bytes ? bytes : messages) : (messages ? messages : bytes);
}

int arrangement_compare(const struct arrangement_cost *a, const struct arrangement_cost *b, enum placing_by by)
{
	int nodes = crossing_compare(&a->nodes, &b->nodes, by);
	return nodes ? nodes : crossing_compare(&a->sockets, &b->sockets, by);
}

/* --- the graph --- */

/* first * times + second, times being all of second and 1, as far as that fits: then their order is that of
 * crossing_compare. Else times is 0, and weights are the first ones, about. */
static int graph_of(struct graph *g, uint64_t *times_of, const struct peers *p, enum placing_by by)
{
	const uint64_t *first = by == PLACING_BYTES ? p->bytes : p->messages;
	const uint64_t *second = by == PLACING_BYTES ? p->messages : p->bytes;
	uint64_t ends = p->first[p->size];
	double all_first = 0, all_second = 0;
	*g = (struct graph){.size = p->size};
	g->first = budget_malloc(((size_t)p->size + 1) * sizeof *g->first);
	g->to = budget_malloc((ends + 1) * sizeof *g->to);
	g->weight = budget_malloc((ends + 1) * sizeof *g->weight);
	if (!g->first || !g->to || !g->weight)
		return -1;
	memcpy(g->first, p->first, ((size_t)p->size + 1) * sizeof *g->first);
	memcpy(g->to, p->peer, ends * sizeof *g->to);
	for (uint64_t e = 0; e < ends; e++) {
		all_first += (double)first[e];
		all_second += (double)second[e];
	}
	const double most = 0x1p60, times = all_second + 1;
	const bool both = all_first * times + all_second < most;
	const double scale = all_first > most ? most / all_first : 1;
	*times_of = both ? (uint64_t)times : 0;
	for (uint64_t e = 0; e < ends; e++)
		g->weight[e] =
			both ? (int64_t)(first[e] * (uint64_t)times + second[e]) : (int64_t)((double)first[e] * scale);
	return budget_step(ends) ? 0 : -1;
}

/* What a search in a graph may take that has a part of all. */
static uint64_t work_of(const struct graph *g, uint64_t part)
{
	uint64_t enough = TIMES * (g->first[g->size] + 16 * (uint64_t)g->size);
	return enough < part ? enough : part;
}

/* --- nodes --- */

struct placing_search {
	struct placing *p;
	const struct peers *peers;
	const struct machine *machine;
	struct graph graph;
	uint64_t times; /* of graph_of */
	enum placing_by by;
	uint64_t work; /* of one start */
	int64_t cut;   /* of what was found */
};

static int begin_with(struct placing_search *s, const uint32_t *node)
{
	uint32_t *part = budget_malloc(((size_t)s->graph.size + 1) * sizeof *part);
	if (!part)
		return -1;
	memcpy(part, node, s->graph.size * sizeof *part);
	int rv = partition_improve(&s->graph, part, s->machine->nodes, s->work);
	int64_t cut = partition_cut(&s->graph, part);
	if (rv == 0 && cut < s->cut) {
		s->cut = cut;
		memcpy(s->p->found.node, part, s->graph.size * sizeof *part);
	}
	budget_free(part);
	return rv;
}

static int begin_halved(struct placing_search *s)
{
	uint32_t *part = budget_malloc(((size_t)s->graph.size + 1) * sizeof *part);
	int rv = part ? bisection_make(&s->graph, part, s->machine->nodes, s->machine->ranks) : -1;
	if (rv == 0)
		rv = begin_with(s, part);
	budget_free(part);
	return rv;
}

/* Those that differ only in sockets begin alike. */
static bool begins_anew(const struct placing *p, size_t i)
{
	const struct arrangement *a = &p->slurm[i];
	for (size_t k = 0; k < i; k++)
		if (memcmp(p->slurm[k].node, a->node, a->size * sizeof *a->node) == 0)
			return false;
	return true;
}

static int find_nodes(struct placing_search *s, const struct arrangement *also)
{
	struct placing *p = s->p;
	size_t starts = 2;
	int rv = 0;
	for (size_t i = 0; i < p->slurm_count; i++)
		starts += begins_anew(p, i);
	s->work = work_of(&s->graph, WORK / starts);
	s->cut = partition_cut(&s->graph, p->found.node);
	if (s->machine->nodes == 1 || s->cut == 0)
		return 0;
	for (size_t i = 0; i < p->slurm_count && rv == 0; i++)
		if (begins_anew(p, i))
			rv = begin_with(s, p->slurm[i].node);
	if (rv == 0 && also)
		rv = begin_with(s, also->node);
	if (rv == 0)
		rv = begin_halved(s);
	return rv;
}

/* Nodes with as many ranks are numbered by their lowest rank, as a block is. */
static int number_nodes(struct placing_search *s)
{
	const struct machine *m = s->machine;
	uint32_t *number = budget_malloc(m->nodes * sizeof *number), *node = s->p->found.node;
	bool *given = budget_calloc(m->nodes, sizeof *given);
	for (uint32_t n = 0; number && n < m->nodes; n++)
		number[n] = UINT32_MAX;
	for (uint32_t r = 0, low = 0; number && given && r < s->graph.size; r++) {
		uint32_t *to = &number[node[r]];
		while (low < m->nodes && given[low])
			low++;
		uint32_t free = low;
		while (*to == UINT32_MAX && (given[free] || m->ranks[free] != m->ranks[node[r]]) && budget_step(1))
			free++;
		if (*to == UINT32_MAX) {
			*to = free;
			given[free] = true;
		}
		node[r] = *to;
	}
	bool room = number && given;
	budget_free(number);
	budget_free(given);
	return room ? 0 : -1;
}

/* --- sockets --- */

/* The ranks of one node, in order; room: for all ranks of a node. */
static uint32_t ranks_of(const struct arrangement *a, uint32_t node, uint32_t *ranks)
{
	uint32_t n = 0;
	for (uint32_t r = 0; r < a->size; r++)
		if (a->node[r] == node)
			ranks[n++] = r;
	return n;
}

static int seat_node(struct placing_search *s, uint32_t node, uint32_t *ranks, uint32_t *part)
{
	struct graph g;
	struct arrangement *found = &s->p->found;
	uint32_t n = ranks_of(found, node, ranks);
	int rv = graph_induce(&g, &s->graph, ranks, n);
	for (uint32_t i = 0; i < n; i++)
		part[i] = found->socket[ranks[i]];
	if (rv == 0)
		rv = partition_improve(&g, part, s->machine->sockets, work_of(&g, WORK / 4 / s->machine->nodes));
	for (uint32_t i = 0; i < n && rv == 0; i++)
		found->socket[ranks[i]] = part[i];
	graph_free(&g);
	return rv;
}

static int seat_nodes(struct placing_search *s)
{
	uint32_t size = s->graph.size;
	uint32_t *ranks = budget_malloc(((size_t)size + 1) * sizeof *ranks),
		 *part = budget_malloc(((size_t)size + 1) * sizeof *part);
	int rv = ranks && part ? 0 : -1;
	for (uint32_t n = 0; rv == 0 && n < s->machine->nodes && budget_step(size); n++)
		rv = seat_node(s, n, ranks, part);
	budget_free(ranks);
	budget_free(part);
	return rv;
}

/* Both of Slurm's ways to fill sockets are begun with. */
static int find_sockets(struct placing_search *s)
{
	struct arrangement first;
	struct arrangement_cost a, b;
	int rv = arrangement_seat(&s->p->found, s->machine, WAY_BLOCK);
	if (rv != 0 || s->machine->sockets == 1)
		return rv;
	rv = seat_nodes(s);
	if (arrangement_copy(&first, &s->p->found, s->p->found.name) != 0)
		rv = -1;
	if (rv == 0)
		rv = arrangement_seat(&s->p->found, s->machine, WAY_CYCLIC);
	if (rv == 0)
		rv = seat_nodes(s);
	if (rv == 0) {
		arrangement_cost(&first, s->machine, s->peers, &a);
		arrangement_cost(&s->p->found, s->machine, s->peers, &b);
		if (crossing_compare(&a.sockets, &b.sockets, s->by) < 0)
			memcpy(s->p->found.socket, first.socket, first.size * sizeof *first.socket);
	}
	arrangement_free(&first);
	return rv;
}

/* --- Slurm's --- */

static int add_slurm(struct placing *p, const struct machine *m, const struct peers *peers, enum arrangement_way nodes,
                     uint32_t plane, enum arrangement_way sockets)
{
	size_t i = p->slurm_count++;
	if (arrangement_slurm(&p->slurm[i], m, peers->size, nodes, plane, sockets) != 0)
		return -1;
	arrangement_cost(&p->slurm[i], m, peers, &p->slurm_cost[i]);
	return 0;
}

/* Planes that fill each node: else the last round would not be one. */
static int add_planes(struct placing *p, const struct machine *m, const struct peers *peers)
{
	int rv = 0;
	uint32_t each = m->ranks[0];
	if (m->nodes == 1 || peers->size % m->nodes != 0)
		return 0;
	for (uint32_t n = 0; n < m->nodes; n++)
		if (m->ranks[n] != each)
			return 0;
	for (uint32_t plane = 2; plane < each && rv == 0 && p->slurm_count < 4 + PLACING_PLANES; plane++)
		if (each % plane == 0)
			rv = add_slurm(p, m, peers, WAY_PLANE, plane, WAY_CYCLIC);
	return rv;
}

static int add_all_slurm(struct placing *p, const struct machine *m, const struct peers *peers)
{
	int rv = 0;
	for (int nodes = WAY_BLOCK; nodes <= (m->nodes > 1 ? WAY_CYCLIC : WAY_BLOCK) && rv == 0; nodes++)
		for (int sockets = WAY_BLOCK; sockets <= (m->sockets > 1 ? WAY_CYCLIC : WAY_BLOCK) && rv == 0;
		     sockets++)
			rv = add_slurm(p, m, peers, (enum arrangement_way)nodes, 0, (enum arrangement_way)sockets);
	return rv == 0 ? add_planes(p, m, peers) : rv;
}

static void choose_slurm(struct placing *p, enum placing_by by)
{
	for (size_t i = 1; i < p->slurm_count; i++)
		if (arrangement_compare(&p->slurm_cost[i], &p->slurm_cost[p->best], by) < 0)
			p->best = i;
}

/* --- the bound --- */

/* What goes between nodes without what all pairs exchange alike. */
static void raise_bound(struct placing_search *s, uint64_t cut)
{
	const struct placing *p = s->p;
	struct crossing proved = {.pairs = p->bound.pairs}, *bound = &s->p->bound;
	const uint64_t both[] = {cut / s->times, cut % s->times};
	const uint64_t found = (uint64_t)partition_cut(&s->graph, p->found.node);
	const uint64_t had[] = {found / s->times, found % s->times};
	const bool bytes = s->by == PLACING_BYTES;
	/* what is uniform does not depend on the placement: it is what the found one has beside that */
	proved.bytes = p->found_cost.nodes.bytes - had[!bytes] + both[!bytes];
	proved.messages = p->found_cost.nodes.messages - had[bytes] + both[bytes];
	if (crossing_compare(&proved, bound, s->by) > 0)
		*bound = proved;
}

static int find_bound(struct placing_search *s)
{
	int64_t cut = 0;
	arrangement_bound(s->machine, s->peers, &s->p->bound);
	if (s->machine->nodes == 1 || s->times == 0)
		return 0;
	int rv = cut_bound_find(&cut, &s->graph, s->p->found.node, s->machine->nodes, PROVING);
	if (rv == 0 && cut > 0)
		raise_bound(s, (uint64_t)cut);
	return rv;
}

int placing_make(struct placing *p, const struct peers *peers, const struct machine *m, const struct arrangement *also,
                 enum placing_by by)
{
	struct placing_search s = {.p = p, .peers = peers, .machine = m, .by = by};
	*p = (struct placing){.slurm_count = 0};
	int rv = add_all_slurm(p, m, peers);
	if (rv == 0) {
		choose_slurm(p, by);
		rv = arrangement_copy(&p->found, &p->slurm[p->best], "found");
	}
	if (rv == 0)
		rv = graph_of(&s.graph, &s.times, peers, by);
	if (rv == 0)
		rv = find_nodes(&s, also);
	if (rv == 0)
		rv = number_nodes(&s);
	if (rv == 0)
		rv = find_sockets(&s);
	if (rv == 0) {
		arrangement_cost(&p->found, m, peers, &p->found_cost);
		rv = find_bound(&s);
	}
	graph_free(&s.graph);
	if (rv != 0)
		return -1;
	p->slurm_suffices = crossing_compare(&p->slurm_cost[p->best].nodes, &p->found_cost.nodes, by) <= 0;
	if (arrangement_compare(&p->slurm_cost[p->best], &p->found_cost, by) < 0) {
		arrangement_free(&p->found);
		rv = arrangement_copy(&p->found, &p->slurm[p->best], "found");
		p->found_cost = p->slurm_cost[p->best];
	}
	return rv;
}

void placing_free(struct placing *p)
{
	for (size_t i = 0; i < p->slurm_count; i++)
		arrangement_free(&p->slurm[i]);
	arrangement_free(&p->found);
}
