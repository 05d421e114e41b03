/* SPDX-License-Identifier: BSD-3-Clause
 * partition - divides a graph into parts of given sizes, so that little weight is cut
 */
#include "insight/partition.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "trace/base/budget.h"

#define NOWHERE    UINT32_MAX
#define TEMPERING  200  /* temperatures of a round */
#define HOT        1.0  /* at first, of the mean of what an exchange changes */
#define COLD       0.01 /* in the end */
#define ROUNDS     4    /* each begins with the best of those before */
#define ANNEALED   3    /* of 4 parts of the work */
#define TRIES_MORE 8    /* of a random vertex until one is at a border */
#define STEP       16   /* what an exchange costs beside edges */

void graph_free(struct graph *g)
{
	budget_free(g->first);
	budget_free(g->to);
	budget_free(g->weight);
	*g = (struct graph){.size = 0};
}

int graph_induce(struct graph *to, const struct graph *from, const uint32_t *vertices, uint32_t n)
{
	uint32_t *number = budget_malloc(((size_t)from->size + 1) * sizeof *number);
	uint64_t ends = 0;
	*to = (struct graph){.size = n};
	for (uint32_t v = 0; number && v < from->size; v++)
		number[v] = NOWHERE;
	for (uint32_t i = 0; number && i < n; i++) {
		number[vertices[i]] = i;
		ends += from->first[vertices[i] + 1] - from->first[vertices[i]];
	}
	to->first = budget_malloc(((size_t)n + 1) * sizeof *to->first);
	to->to = budget_malloc((ends + 1) * sizeof *to->to);
	to->weight = budget_malloc((ends + 1) * sizeof *to->weight);
	bool room = number && to->first && to->to && to->weight;
	ends = 0;
	for (uint32_t i = 0; room && i < n; i++) {
		to->first[i] = ends;
		for (uint64_t e = from->first[vertices[i]]; e < from->first[vertices[i] + 1]; e++)
			if (number[from->to[e]] != NOWHERE) {
				to->to[ends] = number[from->to[e]];
				to->weight[ends++] = from->weight[e];
			}
	}
	if (room)
		to->first[n] = ends;
	budget_free(number);
	return room ? 0 : -1;
}

int64_t partition_cut(const struct graph *g, const uint32_t *part)
{
	int64_t twice = 0;
	for (uint32_t v = 0; v < g->size; v++)
		for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
			twice += part[g->to[e]] != part[v] ? g->weight[e] : 0;
	return twice / 2;
}

/* --- exchanges --- */

struct exchanges {
	const struct graph *g;
	uint32_t *part, parts;
	uint32_t *members, *begin, *place; /* of part p: members[begin[p]] ...; place: where a vertex is in it */
	uint64_t work;                     /* edges that may still be looked at */
	uint64_t random;
	int64_t *linked; /* by part: what one vertex has there; 0 in between */
};

static void search_free(struct exchanges *s)
{
	budget_free(s->members);
	budget_free(s->begin);
	budget_free(s->place);
	budget_free(s->linked);
}

static int search_begin(struct exchanges *s, const struct graph *g, uint32_t *part, uint32_t parts, uint64_t work)
{
	*s = (struct exchanges){.g = g, .part = part, .parts = parts, .work = work, .random = 1};
	s->members = budget_malloc(((size_t)g->size + 1) * sizeof *s->members);
	s->place = budget_malloc(((size_t)g->size + 1) * sizeof *s->place);
	s->begin = budget_calloc((size_t)parts + 2, sizeof *s->begin);
	s->linked = budget_calloc((size_t)parts + 1, sizeof *s->linked);
	if (!s->members || !s->place || !s->begin || !s->linked)
		return -1;
	/* begin[p + 1] counts up to the beginning of the next */
	for (uint32_t v = 0; v < g->size; v++)
		s->begin[part[v] + 2]++;
	for (uint32_t p = 0; p < parts; p++)
		s->begin[p + 2] += s->begin[p + 1];
	for (uint32_t v = 0; v < g->size; v++) {
		s->place[v] = s->begin[part[v] + 1]++;
		s->members[s->place[v]] = v;
	}
	return 0;
}

/* splitmix64 */
static uint64_t draw(struct exchanges *s)
{
	uint64_t x = s->random += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint32_t draw_below(struct exchanges *s, uint32_t n)
{
	return (uint32_t)((draw(s) >> 32) * n >> 32);
}

static uint64_t degree_of(const struct graph *g, uint32_t v)
{
	return g->first[v + 1] - g->first[v];
}

/* What v has in part `to` less what it has in its own. *other: what it has with `u`. */
static int64_t pull_of(const struct exchanges *s, uint32_t v, uint32_t to, uint32_t u, int64_t *other)
{
	const struct graph *g = s->g;
	int64_t pull = 0;
	for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
		uint32_t at = s->part[g->to[e]];
		pull += at == to ? g->weight[e] : 0;
		pull -= at == s->part[v] ? g->weight[e] : 0;
		if (g->to[e] == u)
			*other += g->weight[e];
	}
	return pull;
}

/* By how much less is cut if v and u, which are in different parts, change places. */
static int64_t swap_gain(struct exchanges *s, uint32_t v, uint32_t u)
{
	uint64_t cost = degree_of(s->g, v) + degree_of(s->g, u) + STEP;
	int64_t between = 0, unused = 0;
	int64_t pull = pull_of(s, v, s->part[u], u, &between) + pull_of(s, u, s->part[v], v, &unused);
	s->work = s->work > cost ? s->work - cost : 0;
	return pull - 2 * between;
}

static void swap_vertices(struct exchanges *s, uint32_t v, uint32_t u)
{
	uint32_t part = s->part[v], place = s->place[v];
	s->part[v] = s->part[u], s->place[v] = s->place[u];
	s->part[u] = part, s->place[u] = place;
	s->members[s->place[v]] = v;
	s->members[s->place[u]] = u;
}

/* --- down: the best exchange of each vertex, until none is good --- */

/* The best one of v with a member of a part; *best is raised. */
static void try_part(struct exchanges *s, uint32_t v, uint32_t to, int64_t *best, uint32_t *with)
{
	for (uint32_t i = s->begin[to]; i < s->begin[to + 1] && s->work; i++) {
		int64_t gain = swap_gain(s, v, s->members[i]);
		if (gain > *best) {
			*best = gain;
			*with = s->members[i];
		}
	}
}

/* Parts in which v has as much as in its own can be better; with less, the other one must gain more than v loses. */
static int64_t improve_vertex(struct exchanges *s, uint32_t v)
{
	const struct graph *g = s->g;
	int64_t best = 0;
	uint32_t with = NOWHERE;
	for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
		s->linked[s->part[g->to[e]]] = 1;
	for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
		uint32_t to = s->part[g->to[e]];
		if (to != s->part[v] && s->linked[to])
			try_part(s, v, to, &best, &with);
		s->linked[to] = 0;
	}
	if (with != NOWHERE)
		swap_vertices(s, v, with);
	return best;
}

static int64_t go_down(struct exchanges *s)
{
	int64_t all = 0, now = 1;
	while (now > 0 && s->work) {
		now = 0;
		for (uint32_t v = 0; v < s->g->size && s->work; v++)
			now += improve_vertex(s, v);
		all += now;
	}
	return all;
}

/* --- annealing --- */

/* A vertex and one of a part in which it has a neighbour. False: none was met. */
static bool draw_exchange(struct exchanges *s, uint32_t *v, uint32_t *u)
{
	for (int i = 0; i < TRIES_MORE; i++) {
		*v = draw_below(s, s->g->size);
		uint64_t degree = degree_of(s->g, *v);
		if (degree == 0)
			continue;
		uint32_t neighbour = s->g->to[s->g->first[*v] + draw_below(s, (uint32_t)degree)];
		uint32_t to = s->part[neighbour];
		if (to == s->part[*v])
			continue;
		*u = s->members[s->begin[to] + draw_below(s, s->begin[to + 1] - s->begin[to])];
		return true;
	}
	s->work = s->work > TRIES_MORE * STEP ? s->work - TRIES_MORE * STEP : 0;
	return false;
}

/* What an exchange changes, on the average. */
static double usual_change(struct exchanges *s)
{
	double sum = 0;
	int n = 0;
	uint32_t v, u;
	for (int i = 0; i < 1000; i++)
		if (draw_exchange(s, &v, &u)) {
			sum += fabs((double)swap_gain(s, v, u));
			n++;
		}
	return n ? sum / n : 0;
}

static bool accepts(struct exchanges *s, int64_t gain, double heat)
{
	return gain >= 0 || (double)(draw(s) >> 11) * 0x1p-53 < exp((double)gain / heat);
}

/* From hot to cold within `work`. */
static int64_t anneal(struct exchanges *s, uint64_t work, double hot, double cold)
{
	uint64_t end = s->work > work ? s->work - work : 0, each = work / TEMPERING;
	double heat = hot, factor = pow(cold / hot, 1.0 / TEMPERING);
	int64_t all = 0;
	for (uint64_t level = s->work; s->work > end && heat > 0; heat *= factor) {
		level = level > each ? level - each : 0;
		while (s->work > level && s->work > end) {
			uint32_t v, u;
			if (!draw_exchange(s, &v, &u))
				continue;
			int64_t gain = swap_gain(s, v, u);
			if (accepts(s, gain, heat)) {
				swap_vertices(s, v, u);
				all += gain;
			}
		}
	}
	return all;
}

static void keep_better(struct exchanges *s, uint32_t *best, int64_t *gained, int64_t now)
{
	if (now <= *gained)
		return;
	*gained = now;
	memcpy(best, s->part, s->g->size * sizeof *best);
}

int partition_improve(const struct graph *g, uint32_t *part, uint32_t parts, uint64_t work)
{
	struct exchanges s;
	uint32_t *now = budget_malloc(((size_t)g->size + 1) * sizeof *now);
	if (now)
		memcpy(now, part, g->size * sizeof *now);
	int rv = now ? search_begin(&s, g, now, parts, work) : -1;
	if (rv == 0 && parts > 1) {
		int64_t all = go_down(&s), gained = 0;
		keep_better(&s, part, &gained, all);
		double usual = usual_change(&s);
		for (int round = 0; round < ROUNDS && usual > 0 && s.work; round++) {
			all += anneal(&s, work / 4 * ANNEALED / ROUNDS, usual * HOT / (round + 1), usual * COLD);
			all += go_down(&s);
			keep_better(&s, part, &gained, all);
		}
	}
	if (now)
		search_free(&s);
	budget_free(now);
	return rv;
}
