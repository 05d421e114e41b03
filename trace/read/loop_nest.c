/* SPDX-License-Identifier: BSD-3-Clause
 * loop_nest - the loops of a program, from which call site follows on which
 *
 * Sites are the nodes of a graph, and two sites that follow each other are an edge. What can be left and entered again
 * is a loop: a strongly connected component of more than one site (Tarjan 1972). Most loops are entered at one site,
 * the header: each turn begins there. Without the edges to it, what is still connected are the loops inside (Havlak
 * 1997). For example
 *
 *     A B C C B C D A B C E      has the edges A-B B-C C-B C-D D-A C-E: the loop A B C D, and in it the loop B C
 *
 * A loop with several entries has the most frequent one as header. It is a set in any order instead if
 *
 *     no site comes twice in one pass, on average: the completions of a Waitsome
 *     most of the rest still is one loop with several entries: there is no structure to be found
 *
 * Two loops may share a header: A B A B C A B A B C. What leads to the first edges back (A B) is a loop of its own
 * inside of the other one if it comes twice or more in a row, on average. Else C is a call that some turns have.
 *
 * Invariant: without the edges to its header, the children of a loop have no circle. So a turn passes each child at
 * most once, and the events of one pass are contiguous. A set in any order has sites as children only, and each step
 * from one to another is a turn.
 *
 * Each level of loops costs what its edges cost, and there are at most DEPTH_MAX levels.
 */
#include "trace/read/loop_nest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

#define DEPTH_MAX 32 /* deeper loops are sets in any order */
#define BACKS_MAX 16 /* components with an edge back to the header that are tried as ends of an inner loop */

/* A loop whose inside is still to be looked at: its sites are members[begin..end). */
struct inside {
	uint32_t node, begin, end;
};

struct nesting {
	struct loop_nest *nest;
	const struct nest_edge *edges;
	size_t *edge_of;   /* of each site, its first edge */
	uint32_t *members; /* sites, those of a loop together */
	uint32_t *within;  /* of each site, the loop that is looked at */
	uint32_t *seen;    /* number in the order of the search, from 1; 0: not seen */
	uint32_t *low;     /* the least number that is reached */
	uint32_t *part;    /* the component, from 1; 0: not known yet */
	uint32_t *path, *open, *found;
	size_t *next_edge;
	uint64_t *runs; /* how often a site is entered */
	uint64_t *from_inside;
	struct inside *todo;
	uint32_t todo_count;
};

/* How a component is entered. */
struct entries {
	uint32_t sites, most; /* entered from outside; the most frequent one */
	uint64_t passes;
	bool repeats; /* some site is entered more often than the component */
};

static bool is_inner_edge(const struct nesting *x, uint32_t node, const struct nest_edge *e)
{
	return e->from != e->to && x->within[e->to] == node && e->to != x->nest->nodes[node].header;
}

/* A component is complete: its sites are on the top of `open`. */
static void close_component(struct nesting *x, uint32_t site, uint32_t *opened, uint32_t *found, uint32_t number)
{
	uint32_t v;
	do {
		v = x->open[--*opened];
		x->part[v] = number;
		x->found[(*found)++] = v;
	} while (v != site);
}

/* Tarjan's search from one site, without recursion. Components come out in reverse order. */
static void search_components(struct nesting *x, uint32_t node, uint32_t start, uint32_t *found, uint32_t *parts,
                              uint32_t *order)
{
	uint32_t depth = 0, opened = 0;
	x->path[depth++] = x->open[opened++] = start;
	x->seen[start] = x->low[start] = ++*order;
	x->next_edge[start] = x->edge_of[start + 1];
	while (depth > 0) {
		uint32_t v = x->path[depth - 1];
		if (x->next_edge[v] == x->edge_of[v]) {
			uint32_t below = --depth > 0 ? x->path[depth - 1] : v;
			if (x->low[v] == x->seen[v])
				close_component(x, v, &opened, found, ++*parts);
			else if (x->low[v] < x->low[below])
				x->low[below] = x->low[v];
			continue;
		}
		/* from the last edge to the first: what came first in the program comes first in the result */
		const struct nest_edge *e = &x->edges[--x->next_edge[v]];
		if (!is_inner_edge(x, node, e))
			continue;
		uint32_t to = e->to;
		if (x->seen[to] == 0) {
			x->path[depth++] = x->open[opened++] = to;
			x->seen[to] = x->low[to] = ++*order;
			x->next_edge[to] = x->edge_of[to + 1];
		} else if (x->part[to] == 0 && x->seen[to] < x->low[v]) {
			x->low[v] = x->seen[to];
		}
	}
}

static int compare_sites(const void *a, const void *b)
{
	uint32_t l = *(const uint32_t *)a, r = *(const uint32_t *)b;
	return (l > r) - (l < r);
}

/* Puts the sites of a loop into the order of their components. */
static void order_components(struct nesting *x, const struct inside *in)
{
	uint32_t found = 0, parts = 0, order = 0, count = in->end - in->begin;
	uint32_t *members = x->members + in->begin;
	for (uint32_t i = 0; i < count; i++) {
		x->within[members[i]] = in->node;
		x->seen[members[i]] = x->part[members[i]] = 0;
	}
	qsort(members, count, sizeof *members, compare_sites);
	for (uint32_t i = count; i-- > 0;)
		if (x->seen[members[i]] == 0)
			search_components(x, in->node, members[i], &found, &parts, &order);
	assert(found == count);
	for (uint32_t i = 0; i < count; i++)
		members[i] = x->found[count - 1 - i];
}

static uint32_t end_of_component(const struct nesting *x, uint32_t begin, uint32_t end)
{
	uint32_t i = begin + 1;
	while (i < end && x->part[x->members[i]] == x->part[x->members[begin]])
		i++;
	return i;
}

static struct entries find_entries(struct nesting *x, uint32_t begin, uint32_t end)
{
	struct entries found = {0};
	uint64_t most = 0;
	uint32_t part = x->part[x->members[begin]], node = x->within[x->members[begin]];
	for (uint32_t i = begin; i < end; i++)
		x->from_inside[x->members[i]] = 0;
	for (uint32_t i = begin; i < end; i++)
		for (size_t k = x->edge_of[x->members[i]]; k < x->edge_of[x->members[i] + 1]; k++) {
			const struct nest_edge *e = &x->edges[k];
			if (e->from != e->to && x->within[e->to] == node && x->part[e->to] == part)
				x->from_inside[e->to] += e->count;
		}
	for (uint32_t i = begin; i < end; i++) {
		uint32_t v = x->members[i];
		uint64_t entered = x->runs[v] - x->from_inside[v];
		found.passes += entered;
		found.sites += entered > 0;
		if (entered > most || (entered == most && entered > 0 && v < found.most)) {
			most = entered;
			found.most = v;
		}
	}
	for (uint32_t i = begin; i < end; i++)
		found.repeats |= x->runs[x->members[i]] > found.passes;
	return found;
}

void loop_nest_append(struct loop_nest *nest, uint32_t parent, uint32_t child)
{
	struct nest_node *p = &nest->nodes[parent], *c = &nest->nodes[child];
	c->parent = parent;
	c->depth = p->depth + 1;
	c->place = p->last == NEST_NONE ? 0 : nest->nodes[p->last].place + 1;
	if (p->first == NEST_NONE)
		p->first = child;
	else
		nest->nodes[p->last].next = child;
	p->last = child;
}

static void make_set(struct nesting *x, uint32_t node, uint32_t begin, uint32_t end)
{
	x->nest->nodes[node].any_order = true;
	x->nest->nodes[node].header = NEST_NONE;
	qsort(x->members + begin, end - begin, sizeof *x->members, compare_sites);
	for (uint32_t i = begin; i < end; i++)
		loop_nest_append(x->nest, node, x->members[i]);
}

/* Is most of a loop with several entries, without its header, again one with several entries? */
static bool is_shapeless(struct nesting *x, const struct inside *in)
{
	for (uint32_t i = in->begin, end; i < in->end; i = end) {
		end = end_of_component(x, i, in->end);
		if (end - i > 1 && 2 * (end - i) > in->end - in->begin - 1)
			return find_entries(x, i, end).sites > 1;
	}
	return false;
}

static void nest_component(struct nesting *x, uint32_t parent, uint32_t begin, uint32_t end)
{
	struct loop_nest *nest = x->nest;
	if (end - begin == 1) {
		loop_nest_append(nest, parent, x->members[begin]);
		return;
	}
	struct entries entries = find_entries(x, begin, end);
	uint32_t node = nest->count++;
	loop_nest_append(nest, parent, node);
	nest->nodes[node].header = entries.most;
	if ((entries.sites > 1 && !entries.repeats) || nest->nodes[node].depth >= DEPTH_MAX)
		make_set(x, node, begin, end);
	else {
		nest->nodes[node].any_order = entries.sites > 1; /* perhaps: its inside is to be seen first */
		x->todo[x->todo_count++] = (struct inside){node, begin, end};
	}
}

/* How often a component steps back to the header. */
static uint64_t count_back(const struct nesting *x, uint32_t header, uint32_t begin, uint32_t end)
{
	uint64_t count = 0;
	for (uint32_t i = begin; i < end; i++)
		for (size_t k = x->edge_of[x->members[i]]; k < x->edge_of[x->members[i] + 1]; k++)
			if (x->edges[k].to == header && x->edges[k].from != header)
				count += x->edges[k].count;
	return count;
}

static bool leads_to_marked(const struct nesting *x, uint32_t node, uint32_t begin, uint32_t end)
{
	for (uint32_t i = begin; i < end; i++)
		for (size_t k = x->edge_of[x->members[i]]; k < x->edge_of[x->members[i] + 1]; k++)
			if (is_inner_edge(x, node, &x->edges[k]) && x->low[x->edges[k].to])
				return true;
	return false;
}

/* Marks (in `low`) what leads to the components with an edge back that end at `last` or before. Returns how many sites
 * that is. *count: how often they step back. */
static uint32_t mark_inner(struct nesting *x, const struct inside *in, uint32_t last, uint64_t *count)
{
	uint32_t header = x->nest->nodes[in->node].header, marked = 0;
	*count = 0;
	for (uint32_t i = in->begin; i < in->end; i++)
		x->low[x->members[i]] = 0; /* a component leads to itself */
	for (uint32_t end = in->end, begin; end > in->begin; end = begin) {
		for (begin = end - 1;
		     begin > in->begin && x->part[x->members[begin - 1]] == x->part[x->members[end - 1]];)
			begin--;
		uint64_t back = count_back(x, header, begin, end);
		bool in_it = (back > 0 && end <= last) || leads_to_marked(x, in->node, begin, end);
		for (uint32_t i = begin; i < end; i++)
			x->low[x->members[i]] = in_it;
		*count += in_it ? back : 0;
		marked += in_it ? end - begin : 0;
	}
	return marked;
}

/* Makes a loop of the marked sites, in front of the others. What leads to them is marked, too: both stay in order. */
static void split_marked(struct nesting *x, struct inside *in)
{
	uint32_t node = x->nest->count++, front = in->begin, rest = 0;
	for (uint32_t i = in->begin; i < in->end; i++)
		if (x->low[x->members[i]])
			x->members[front++] = x->members[i];
		else
			x->found[rest++] = x->members[i];
	assert(front + rest == in->end);
	memcpy(x->members + front, x->found, rest * sizeof *x->found);
	loop_nest_append(x->nest, in->node, node);
	x->nest->nodes[node].header = x->nest->nodes[in->node].header;
	x->todo[x->todo_count++] = (struct inside){node, in->begin, front};
	in->begin = front;
}

/* Takes a loop with the same header out of the sites of a loop, the largest one there is. */
static void split_inner(struct nesting *x, struct inside *in)
{
	const struct nest_node *node = &x->nest->nodes[in->node];
	uint32_t ends[BACKS_MAX], backs = 0, marked;
	uint64_t count;
	if (node->header == NEST_NONE || node->depth + 1 >= DEPTH_MAX)
		return;
	for (uint32_t i = in->begin, end; i < in->end && backs < BACKS_MAX; i = end) {
		end = end_of_component(x, i, in->end);
		if (count_back(x, node->header, i, end) > 0)
			ends[backs++] = end;
	}
	while (backs-- > 0) {
		marked = mark_inner(x, in, ends[backs], &count);
		if (marked < in->end - in->begin && count >= x->runs[node->header] - count) {
			split_marked(x, in);
			return;
		}
	}
}

static void nest_inside(struct nesting *x, struct inside *in)
{
	struct nest_node *node = &x->nest->nodes[in->node];
	order_components(x, in);
	if (node->any_order && is_shapeless(x, in)) {
		make_set(x, in->node, in->begin, in->end);
		return;
	}
	node->any_order = false;
	split_inner(x, in);
	for (uint32_t i = in->begin, end; i < in->end; i = end) {
		end = end_of_component(x, i, in->end);
		nest_component(x, in->node, i, end);
	}
}

static int nesting_begin(struct nesting *x, uint32_t sites, size_t edge_count)
{
	size_t n = sites + UINT64_C(1);
	x->edge_of = budget_calloc(n + 1, sizeof *x->edge_of);
	x->next_edge = budget_calloc(n, sizeof *x->next_edge);
	x->runs = budget_calloc(2 * n, sizeof *x->runs);
	x->members = budget_calloc(7 * n, sizeof *x->members);
	x->todo = budget_calloc(n, sizeof *x->todo);
	if (!x->edge_of || !x->next_edge || !x->runs || !x->members || !x->todo)
		return -1;
	uint32_t **arrays[] = {&x->within, &x->seen, &x->low, &x->part, &x->path, &x->open};
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		*arrays[i] = x->members + (i + 1) * n;
	x->from_inside = x->runs + n;
	for (uint32_t i = 0; i < sites; i++) {
		x->members[i] = i;
		x->within[i] = NEST_NONE;
	}
	x->runs[0] = 1;
	for (size_t i = 0; i < edge_count; i++) {
		x->edge_of[x->edges[i].from + 1]++;
		if (x->edges[i].from != x->edges[i].to)
			x->runs[x->edges[i].to] += x->edges[i].count;
	}
	for (uint32_t i = 0; i < sites; i++)
		x->edge_of[i + 1] += x->edge_of[i];
	return 0;
}

int loop_nest_begin(struct loop_nest *nest, uint32_t sites)
{
	size_t most = 2 * (sites + UINT64_C(1)); /* each loop has two children at least */
	*nest = (struct loop_nest){
		.nodes = budget_calloc(most, sizeof *nest->nodes), .sites = sites, .count = sites + 1};
	for (size_t i = 0; nest->nodes && i < most; i++)
		nest->nodes[i] = (struct nest_node){NEST_NONE, NEST_NONE, NEST_NONE, NEST_NONE, 0, 0, NEST_NONE, false};
	return nest->nodes ? 0 : -1;
}

int loop_nest_make(struct loop_nest *nest, uint32_t sites, const struct nest_edge *edges, size_t edge_count)
{
	int rv = -1;
	struct nesting x = {.nest = nest, .edges = edges};
	if (loop_nest_begin(nest, sites) != 0 || nesting_begin(&x, sites, edge_count) != 0 ||
	    !(x.found = budget_calloc(sites + UINT64_C(1), sizeof *x.found)))
		goto done;
	x.todo[x.todo_count++] = (struct inside){sites, 0, sites};
	while (x.todo_count > 0) {
		struct inside in = x.todo[--x.todo_count];
		nest_inside(&x, &in);
	}
	rv = 0;
done:
	budget_free(x.edge_of);
	budget_free(x.next_edge);
	budget_free(x.runs);
	budget_free(x.members);
	budget_free(x.found);
	budget_free(x.todo);
	return rv;
}

void loop_nest_free(struct loop_nest *nest)
{
	budget_free(nest->nodes);
	*nest = (struct loop_nest){0};
}

uint32_t loop_nest_meet(const struct loop_nest *nest, uint32_t a, uint32_t b)
{
	a = nest->nodes[a].parent;
	b = nest->nodes[b].parent;
	while (a != b)
		if (nest->nodes[a].depth >= nest->nodes[b].depth)
			a = nest->nodes[a].parent;
		else
			b = nest->nodes[b].parent;
	return a;
}

/* The child of a node through which a site is reached. */
static const struct nest_node *child_to(const struct loop_nest *nest, uint32_t node, uint32_t site)
{
	while (nest->nodes[site].parent != node)
		site = nest->nodes[site].parent;
	return &nest->nodes[site];
}

bool loop_nest_turns(const struct loop_nest *nest, uint32_t node, uint32_t from, uint32_t to)
{
	return nest->nodes[node].any_order || child_to(nest, node, to)->place < child_to(nest, node, from)->place;
}
