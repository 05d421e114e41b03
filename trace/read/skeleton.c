/* SPDX-License-Identifier: BSD-3-Clause
 * skeleton - the loops and calls of one stream, each once, with the ranges of how often
 *
 * The loops follow from the edges, the ranges from the grammar, without writing it out. A part of the sequence has at
 * each end a path of nodes, from the whole down to its first and its last site. What happened to a node on a path is
 * known only when the part meets its neighbours; all else is complete. For example, with the loop L of A and B:
 *
 *     A A B A     first path: whole, L, A (2 calls, complete); last path: whole, L (2 turns), A (1 call so far)
 *     A B         first path: whole, L, A (1 call);            last path: whole, L (1 turn), B (1 call so far)
 *     A A B A A B joined: the A in the middle has 2 calls; L has 3 turns so far
 *
 * Counts are those of increments: 0 for one call. So the count of a joined run is the sum of both sides, and 1 if the
 * step between them repeats the node. `whole` levels of a path, from the top, reach through the whole part: both paths
 * have them, with the same counts. A part that occurs m times is looked at once, and what is complete counts m times.
 */
#include "trace/read/skeleton.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

#define LEVELS 40 /* of a path: more than a nest has */

struct part {
	uint32_t first, last;  /* sites of the nest */
	uint32_t whole;        /* levels */
	uint64_t *head, *tail; /* increments, by level */
};

struct part_room {
	struct part part;
	uint64_t head[LEVELS], tail[LEVELS];
};

struct folding {
	struct skeleton *skeleton;
	const struct pattern *pattern;
	uint32_t *local;   /* site of the nest, of each token; NEST_NONE: none yet */
	uint64_t *weights; /* of each rule: how often it occurs */
	struct part *parts;
	uint32_t *firsts, *lasts; /* of each rule, its first and last site */
};

static uint32_t levels_of(const struct skeleton *s, uint32_t site)
{
	return s->nest.nodes[site].depth + 1;
}

static void path_of(const struct skeleton *s, uint32_t site, uint32_t *path)
{
	for (uint32_t node = site; node != NEST_NONE; node = s->nest.nodes[node].parent)
		path[s->nest.nodes[node].depth] = node;
}

static void count_run(struct skeleton *s, uint32_t node, uint64_t increments, uint64_t times)
{
	struct skeleton_range *r = &s->ranges[node];
	uint64_t n = increments + 1;
	if (times == 0)
		return;
	r->least = r->runs == 0 || n < r->least ? n : r->least;
	r->most = n > r->most ? n : r->most;
	r->runs += times;
	r->total += times * n;
}

/* How many levels of u's path go on with v; *turn: the level that the step repeats, or LEVELS. */
static uint32_t common_levels(const struct skeleton *s, uint32_t u, uint32_t v, uint32_t *turn)
{
	if (u == v) {
		*turn = s->nest.nodes[u].depth;
		return *turn + 1;
	}
	uint32_t meet = loop_nest_meet(&s->nest, u, v), depth = s->nest.nodes[meet].depth;
	*turn = loop_nest_turns(&s->nest, meet, u, v) ? depth : LEVELS;
	return depth + 1;
}

/* z = x y; what becomes complete between them counts `times`. */
static void join_parts(struct skeleton *s, struct part_room *z, const struct part *x, const struct part *y,
                       uint64_t times)
{
	uint32_t ends[LEVELS], begins[LEVELS], turn, common = common_levels(s, x->last, y->first, &turn);
	uint32_t left = levels_of(s, x->last), right = levels_of(s, y->first);
	path_of(s, x->last, ends);
	path_of(s, y->first, begins);
	z->part = (struct part){x->first, y->last, 0, z->head, z->tail};
	memcpy(z->head, x->head, levels_of(s, x->first) * sizeof *z->head);
	memcpy(z->tail, y->tail, levels_of(s, y->last) * sizeof *z->tail);
	for (uint32_t i = common; i < left; i++)
		if (i >= x->whole)
			count_run(s, ends[i], x->tail[i], times);
	for (uint32_t i = common; i < right; i++)
		if (i >= y->whole)
			count_run(s, begins[i], y->head[i], times);
	for (uint32_t i = 0; i < common; i++) {
		uint64_t sum = x->tail[i] + (i == turn) + y->head[i];
		if (i < x->whole)
			z->head[i] = sum;
		if (i < y->whole)
			z->tail[i] = sum;
		if (i >= x->whole && i >= y->whole)
			count_run(s, ends[i], sum, times);
	}
	z->part.whole = x->whole < y->whole ? x->whole : y->whole;
	z->part.whole = common < z->part.whole ? common : z->part.whole;
}

/* z = x x ... x, where x itself occurs in `times` places. */
static void repeat_part(struct skeleton *s, struct part_room *z, const struct part *x, uint64_t exponent,
                        uint64_t times)
{
	uint32_t path[LEVELS], turn, common = common_levels(s, x->last, x->first, &turn);
	join_parts(s, z, x, x, times * (exponent - 1));
	path_of(s, x->last, path);
	for (uint32_t i = common; i < x->whole; i++) /* each but the first and the last is complete */
		count_run(s, path[i], x->tail[i], times * (exponent - 2));
	for (uint32_t i = 0; i < z->part.whole; i++)
		z->head[i] = z->tail[i] = exponent * x->tail[i] + (i == turn) * (exponent - 1);
}

static int keep_part(struct folding *f, size_t rule, const struct part_room *from)
{
	struct part *p = &f->parts[rule];
	uint32_t first = levels_of(f->skeleton, from->part.first), last = levels_of(f->skeleton, from->part.last);
	*p = from->part;
	p->head = budget_malloc((first + last) * sizeof *p->head);
	if (!p->head)
		return -1;
	p->tail = p->head + first;
	memcpy(p->head, from->head, first * sizeof *p->head);
	memcpy(p->tail, from->tail, last * sizeof *p->tail);
	return 0;
}

static int fold_rule(struct folding *f, size_t rule)
{
	static const uint64_t zeros[LEVELS];
	struct part_room rooms[2], power;
	struct skeleton *s = f->skeleton;
	const struct pattern_rule *r = &f->pattern->rules[rule];
	int now = 0;
	for (size_t i = r->first; i < r->end; i++) {
		const struct pattern_symbol *symbol = &f->pattern->symbols[i];
		uint32_t site = symbol->rule ? 0 : f->local[symbol->id];
		struct part one = {site, site, levels_of(s, site), (uint64_t *)zeros, (uint64_t *)zeros};
		const struct part *x = symbol->rule ? &f->parts[symbol->id] : &one;
		if (symbol->exponent > 1) {
			repeat_part(s, &power, x, symbol->exponent, f->weights[rule]);
			x = &power.part;
		}
		if (i == r->first) {
			rooms[now].part = *x;
			memcpy(rooms[now].head, x->head, levels_of(s, x->first) * sizeof *x->head);
			memcpy(rooms[now].tail, x->tail, levels_of(s, x->last) * sizeof *x->tail);
			rooms[now].part.head = rooms[now].head;
			rooms[now].part.tail = rooms[now].tail;
		} else {
			join_parts(s, &rooms[!now], &rooms[now].part, x, f->weights[rule]);
			now = !now;
		}
	}
	return keep_part(f, rule, &rooms[now]);
}

/* What reaches the ends of the whole sequence is complete. */
static void close_ends(struct folding *f)
{
	struct skeleton *s = f->skeleton;
	const struct part *all = &f->parts[f->pattern->rule_count - 1];
	uint32_t path[LEVELS];
	path_of(s, all->first, path);
	for (uint32_t i = 0; i < levels_of(s, all->first); i++)
		count_run(s, path[i], all->head[i], 1);
	path_of(s, all->last, path);
	for (uint32_t i = all->whole; i < levels_of(s, all->last); i++)
		count_run(s, path[i], all->tail[i], 1);
}

/* Gives sites their numbers in the order of first appearance: rules are entered from the whole down, each once. */
static int number_sites(struct folding *f)
{
	const struct pattern *p = f->pattern;
	struct skeleton *s = f->skeleton;
	size_t rules = p->rule_count, depth = 0;
	size_t *at = budget_calloc(rules, sizeof *at), *stack = budget_calloc(rules, sizeof *stack);
	if (!at || !stack) {
		budget_free(at);
		budget_free(stack);
		return -1;
	}
	for (size_t i = 0; i < rules; i++)
		at[i] = p->rules[i].first;
	stack[depth++] = rules - 1;
	while (depth > 0) {
		size_t rule = stack[depth - 1];
		if (at[rule] == p->rules[rule].end) {
			depth--;
			continue;
		}
		const struct pattern_symbol *symbol = &p->symbols[at[rule]++];
		if (symbol->rule && at[symbol->id] == p->rules[symbol->id].first)
			stack[depth++] = symbol->id;
		if (!symbol->rule && f->local[symbol->id] == NEST_NONE) {
			f->local[symbol->id] = s->nest.sites;
			s->sites[s->nest.sites++] = symbol->id - 1;
		}
	}
	budget_free(at);
	budget_free(stack);
	return 0;
}

static int compare_edges(const void *a, const void *b)
{
	const struct nest_edge *l = a, *r = b;
	return l->from != r->from ? (l->from > r->from) - (l->from < r->from) : (l->to > r->to) - (l->to < r->to);
}

static void append_edge(struct skeleton *s, uint32_t from, uint32_t to, uint64_t count)
{
	if (count > 0)
		s->edges[s->edge_count++] = (struct nest_edge){from, to, count};
}

/* All pairs of sites that follow each other: inside of a rule, and between the turns of a repeated one. */
static void collect_edges(struct folding *f)
{
	const struct pattern *p = f->pattern;
	struct skeleton *s = f->skeleton;
	f->weights[p->rule_count - 1] = 1;
	for (size_t k = p->rule_count; k-- > 0;)
		for (size_t i = p->rules[k].first; i < p->rules[k].end; i++)
			if (p->symbols[i].rule)
				f->weights[p->symbols[i].id] += f->weights[k] * p->symbols[i].exponent;
	for (size_t k = 0; k < p->rule_count; k++) {
		for (size_t i = p->rules[k].first; i < p->rules[k].end; i++) {
			const struct pattern_symbol *symbol = &p->symbols[i];
			uint32_t first = symbol->rule ? f->firsts[symbol->id] : f->local[symbol->id];
			uint32_t last = symbol->rule ? f->lasts[symbol->id] : first;
			append_edge(s, last, first, f->weights[k] * (symbol->exponent - 1));
			if (i == p->rules[k].first)
				f->firsts[k] = first;
			else
				append_edge(s, f->lasts[k], first, f->weights[k]);
			f->lasts[k] = last;
		}
	}
	qsort(s->edges, s->edge_count, sizeof *s->edges, compare_edges);
	size_t kept = 0;
	for (size_t i = 0; i < s->edge_count; i++)
		if (kept > 0 && compare_edges(&s->edges[kept - 1], &s->edges[i]) == 0)
			s->edges[kept - 1].count += s->edges[i].count;
		else
			s->edges[kept++] = s->edges[i];
	s->edge_count = kept;
}

static int folding_begin(struct folding *f)
{
	const struct pattern *p = f->pattern;
	struct skeleton *s = f->skeleton;
	size_t symbols = pattern_symbols(p);
	uint32_t tokens = 0;
	for (size_t i = 0; i < symbols; i++) {
		if (!p->symbols[i].rule && p->symbols[i].id == PATTERN_NEW)
			return -1;
		if (!p->symbols[i].rule && p->symbols[i].id > tokens)
			tokens = p->symbols[i].id;
	}
	size_t most = symbols < tokens ? symbols : tokens; /* different sites */
	f->local = budget_malloc((tokens + UINT64_C(1)) * sizeof *f->local);
	f->weights = budget_calloc(p->rule_count, sizeof *f->weights);
	f->parts = budget_calloc(p->rule_count, sizeof *f->parts);
	f->firsts = budget_calloc(2 * p->rule_count, sizeof *f->firsts);
	s->sites = budget_malloc((most + 1) * sizeof *s->sites);
	s->edges = budget_malloc((2 * symbols + 1) * sizeof *s->edges);
	if (!f->local || !f->weights || !f->parts || !f->firsts || !s->sites || !s->edges)
		return -1;
	f->lasts = f->firsts + p->rule_count;
	memset(f->local, 0xff, (tokens + UINT64_C(1)) * sizeof *f->local);
	return number_sites(f);
}

int skeleton_make(struct skeleton *s, const struct pattern *p)
{
	int rv = -1;
	*s = (struct skeleton){0};
	struct folding f = {.skeleton = s, .pattern = p};
	if (p->rule_count == 0 || folding_begin(&f) != 0)
		goto done;
	collect_edges(&f);
	uint32_t sites = s->nest.sites;
	if (loop_nest_make(&s->nest, sites, s->edges, s->edge_count) != 0 ||
	    !(s->ranges = budget_calloc(s->nest.count, sizeof *s->ranges)))
		goto done;
	for (size_t rule = 0; rule < p->rule_count; rule++)
		if (fold_rule(&f, rule) != 0)
			goto done;
	close_ends(&f);
	rv = 0;
done:
	for (size_t i = 0; f.parts && i < p->rule_count; i++)
		budget_free(f.parts[i].head);
	budget_free(f.parts);
	budget_free(f.local);
	budget_free(f.weights);
	budget_free(f.firsts);
	return rv;
}

void skeleton_free(struct skeleton *s)
{
	loop_nest_free(&s->nest);
	budget_free(s->ranges);
	budget_free(s->sites);
	budget_free(s->edges);
	*s = (struct skeleton){0};
}

uint64_t skeleton_turns(const struct skeleton *s, uint32_t node)
{
	uint32_t parent = s->nest.nodes[node].parent;
	return parent == NEST_NONE ? 1 : s->ranges[parent].total;
}
