/* SPDX-License-Identifier: BSD-3-Clause
 * cut_bound - how little a division of a graph into parts of given sizes can cut
 */
#include "insight/cut_bound.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

#define SETS    200000 /* of one size in memory; and so many vertices in all of them: */
#define IN_SETS (UINT32_C(1) << 22)
#define MEMBERS 256 /* larger parts are not looked at */
#define DENSE   512 /* vertices of a graph that is decomposed */

/* Sets of equally many vertices, each in ascending order. */
struct sets {
	uint32_t *members; /* set i: from i * size on */
	int64_t *weight;   /* what they have among them */
	uint32_t *table;   /* by hash: the number of a set, and 1 */
	uint32_t size, count, most, mask;
};

struct cut_search {
	const struct graph *g;
	int64_t unit;    /* weights are multiples of it */
	int64_t *least;  /* by size: what vertices must have among them */
	int64_t *degree; /* of a vertex to the set that is looked at; else 0 */
	uint32_t *near;  /* vertices with a degree */
	uint64_t work;
	bool much; /* it would take more than `work`, or more sets */
};

/* --- sets --- */

static int sets_make(struct sets *s, uint32_t size)
{
	*s = (struct sets){.size = size, .most = IN_SETS / size < SETS ? IN_SETS / size : SETS, .mask = (1U << 19) - 1};
	s->members = budget_malloc((size_t)s->most * size * sizeof *s->members);
	s->weight = budget_malloc(s->most * sizeof *s->weight);
	s->table = budget_calloc((size_t)s->mask + 1, sizeof *s->table);
	return s->members && s->weight && s->table ? 0 : -1;
}

static void sets_free(struct sets *s)
{
	budget_free(s->members);
	budget_free(s->weight);
	budget_free(s->table);
	*s = (struct sets){.size = 0};
}

static uint32_t hash_members(const uint32_t *members, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++)
		h = (h ^ members[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
	return (uint32_t)(h >> 32);
}

/* Returns false: there are too many. */
static bool sets_add(struct sets *s, const uint32_t *members, int64_t weight)
{
	const size_t bytes = s->size * sizeof *members;
	uint32_t at = hash_members(members, s->size) & s->mask;
	for (; s->table[at]; at = (at + 1) & s->mask)
		if (memcmp(s->members + (size_t)(s->table[at] - 1) * s->size, members, bytes) == 0)
			return true;
	if (s->count == s->most)
		return false;
	memcpy(s->members + (size_t)s->count * s->size, members, bytes);
	s->weight[s->count] = weight;
	s->table[at] = ++s->count;
	return true;
}

/* --- growing sets --- */

/* Puts a vertex in its place. */
static void insert(uint32_t *to, const uint32_t *from, uint32_t n, uint32_t vertex)
{
	uint32_t i = 0;
	for (; i < n && from[i] < vertex; i++)
		to[i] = from[i];
	to[i] = vertex;
	memcpy(to + i + 1, from + i, (n - i) * sizeof *to);
}

static bool is_member(const uint32_t *members, uint32_t n, uint32_t vertex)
{
	for (uint32_t i = 0; i < n; i++)
		if (members[i] == vertex)
			return true;
	return false;
}

static uint32_t find_degrees(struct cut_search *s, const uint32_t *members, uint32_t n)
{
	uint32_t near = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint64_t e = s->g->first[members[i]]; e < s->g->first[members[i] + 1]; e++) {
			uint32_t to = s->g->to[e];
			if (s->degree[to] == 0 && s->g->weight[e] > 0)
				s->near[near++] = to;
			s->degree[to] += s->g->weight[e];
		}
	return near;
}

static int64_t weight_between(const struct graph *g, uint32_t a, uint32_t b)
{
	int64_t sum = 0;
	for (uint64_t e = g->first[a]; e < g->first[a + 1]; e++)
		sum += g->to[e] == b ? g->weight[e] : 0;
	return sum;
}

/* Would none of the others have less in the larger set? Only so it is looked at: whoever has least was the last. */
static bool has_least(const struct cut_search *s, const uint32_t *members, uint32_t n, uint32_t vertex)
{
	for (uint32_t i = 0; i < n; i++)
		if (s->degree[members[i]] + weight_between(s->g, members[i], vertex) < s->degree[vertex])
			return false;
	return true;
}

/* The larger sets of set i that have enough. */
static void grow_set(struct cut_search *s, struct sets *to, const struct sets *from, uint32_t i)
{
	const uint32_t *members = from->members + (size_t)i * from->size, n = from->size;
	uint32_t larger[MEMBERS + 1], near = find_degrees(s, members, n);
	const int64_t needed = s->least[n + 1] - from->weight[i];
	/* one that has nothing in the set may do, too */
	const uint32_t tried = needed > 0 ? near : s->g->size;
	s->much = s->work < (uint64_t)tried * n;
	s->work -= s->much ? 0 : (uint64_t)tried * n;
	for (uint32_t k = 0; k < tried && !s->much; k++) {
		uint32_t vertex = needed > 0 ? s->near[k] : k;
		if (s->degree[vertex] < needed || is_member(members, n, vertex) || !has_least(s, members, n, vertex))
			continue;
		insert(larger, members, n, vertex);
		s->much = !sets_add(to, larger, from->weight[i] + s->degree[vertex]);
	}
	for (uint32_t k = 0; k < near; k++)
		s->degree[s->near[k]] = 0;
}

/* Are there no `size` vertices that have more than `most` among them? */
static int prove_most(struct cut_search *s, uint32_t size, int64_t most, bool *proved)
{
	struct sets from = {.size = 0}, to = {.size = 0};
	int rv = sets_make(&from, 1);
	s->much = false;
	s->least[size] = most + s->unit;
	for (uint32_t n = size; n > 1; n--)
		s->least[n - 1] = s->least[n] - 2 * (s->least[n] / s->unit) / n * s->unit;
	for (uint32_t v = 0; rv == 0 && v < s->g->size && !s->much; v++)
		s->much = !sets_add(&from, &v, 0);
	while (rv == 0 && !s->much && from.count && from.size < size) {
		rv = sets_make(&to, from.size + 1);
		for (uint32_t i = 0; rv == 0 && i < from.count && !s->much; i++)
			grow_set(s, &to, &from, i);
		sets_free(&from);
		from = to;
		to = (struct sets){.size = 0};
	}
	*proved = rv == 0 && !s->much && from.count == 0;
	sets_free(&from);
	sets_free(&to);
	return rv;
}

/* --- the whole --- */

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

struct cut_parts {
	uint32_t count;
	uint32_t *size;
	int64_t *inside;
	int64_t all; /* of all edges */
};

static void count_parts(struct cut_parts *p, const struct graph *g, const uint32_t *part)
{
	for (uint32_t v = 0; v < g->size; v++) {
		p->size[part[v]]++;
		for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
			if (g->to[e] < v)
				continue;
			p->all += g->weight[e];
			if (part[g->to[e]] == part[v])
				p->inside[part[v]] += g->weight[e];
		}
	}
}

/* The most of the parts with as many vertices. */
static int64_t most_inside(const struct cut_parts *p, uint32_t size)
{
	int64_t most = 0;
	for (uint32_t i = 0; i < p->count; i++)
		if (p->size[i] == size && p->inside[i] > most)
			most = p->inside[i];
	return most;
}

static bool is_new_size(const struct cut_parts *p, uint32_t part)
{
	for (uint32_t i = 0; i < part; i++)
		if (p->size[i] == p->size[part])
			return false;
	return true;
}

/* By sets. */
static int bound_by_sets(int64_t *bound, struct cut_search *s, const struct cut_parts *p)
{
	int64_t inside = 0;
	bool proved = true;
	int rv = 0;
	for (uint32_t i = 0; i < p->count && rv == 0 && proved; i++) {
		const int64_t most = most_inside(p, p->size[i]);
		inside += most;
		if (p->size[i] > MEMBERS)
			proved = false;
		else if (p->size[i] && is_new_size(p, i))
			rv = prove_most(s, p->size[i], most, &proved);
	}
	if (rv == 0 && proved && p->all - inside > *bound)
		*bound = p->all - inside;
	return rv;
}

/* --- eigenvalues --- */

/* In place; false: it is not positive definite. */
static bool decompose(double *a, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		for (uint32_t i = j; i < n; i++) {
			double sum = a[(size_t)i * n + j];
			for (uint32_t k = 0; k < j; k++)
				sum -= a[(size_t)i * n + k] * a[(size_t)j * n + k];
			if (i == j && sum <= 0)
				return false;
			a[(size_t)i * n + j] = i == j ? sqrt(sum) : sum / a[(size_t)j * n + j];
		}
	return true;
}

/* Are all eigenvalues of the Laplacian, but that of the constant vector, above lambda? */
static int prove_lambda(const struct graph *g, int64_t unit, double lambda, bool *proved)
{
	const uint32_t n = g->size;
	double *a = budget_calloc((size_t)n * n, sizeof *a);
	if (!a)
		return -1;
	for (uint32_t v = 0; v < n; v++) {
		for (uint32_t w = 0; w < n; w++)
			a[(size_t)v * n + w] = lambda / n; /* the constant vector's becomes lambda, too: it is 0 */
		a[(size_t)v * n + v] -= lambda;
		for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
			a[(size_t)v * n + g->to[e]] -= (double)(g->weight[e] / unit);
			a[(size_t)v * n + v] += (double)(g->weight[e] / unit);
		}
		for (uint32_t w = 0; w < n; w++)
			a[(size_t)v * n + w] += 1.0 / n;
	}
	*proved = decompose(a, n);
	budget_free(a);
	return 0;
}

/* That not a unit less than `cut` can be cut. */
static int bound_by_lambda(int64_t *bound, const struct graph *g, int64_t unit, const struct cut_parts *p, int64_t cut)
{
	const double n = g->size, needed = (double)(cut / unit) - 0.99;
	double leaves = 0;
	bool proved = false;
	for (uint32_t i = 0; i < p->count; i++)
		leaves += p->size[i] * (n - p->size[i]) / n / 2;
	if (g->size > DENSE || leaves <= 0 || cut <= 0)
		return 0;
	int rv = prove_lambda(g, unit, needed / leaves, &proved);
	if (rv == 0 && proved)
		*bound = cut;
	return rv;
}

static int bound_with(int64_t *bound, struct cut_search *s, struct cut_parts *p, const uint32_t *part)
{
	const struct graph *g = s->g;
	count_parts(p, g, part);
	for (uint64_t e = 0; e < g->first[g->size]; e++)
		s->unit = common_divisor(s->unit, g->weight[e]);
	if (s->unit == 0)
		return 0;
	const int64_t cut = partition_cut(g, part);
	int rv = bound_by_sets(bound, s, p);
	return rv == 0 && *bound < cut ? bound_by_lambda(bound, g, s->unit, p, cut) : rv;
}

int cut_bound_find(int64_t *bound, const struct graph *g, const uint32_t *part, uint32_t parts, uint64_t work)
{
	struct cut_search s = {.g = g, .work = work};
	struct cut_parts p = {.count = parts};
	int rv = -1;
	*bound = 0;
	s.least = budget_calloc((size_t)MEMBERS + 2, sizeof *s.least);
	s.degree = budget_calloc((size_t)g->size + 1, sizeof *s.degree);
	s.near = budget_calloc((size_t)g->size + 1, sizeof *s.near);
	p.size = budget_calloc((size_t)parts + 1, sizeof *p.size);
	p.inside = budget_calloc((size_t)parts + 1, sizeof *p.inside);
	if (s.least && s.degree && s.near && p.size && p.inside)
		rv = bound_with(bound, &s, &p, part);
	budget_free(s.least);
	budget_free(s.degree);
	budget_free(s.near);
	budget_free(p.size);
	budget_free(p.inside);
	return rv;
}
