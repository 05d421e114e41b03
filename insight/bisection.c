/* SPDX-License-Identifier: BSD-3-Clause
 * bisection - the graph is halved, then its halves
 */
#include "insight/bisection.h"

#include <stdbool.h>
#include <string.h>

#include "trace/base/budget.h"

#define NOWHERE UINT32_MAX
#define PASSES  12
#define HILL    100 /* exchanges that may lose before a pass ends, and a hundredth of all */

/* Vertices of one side by what they gain if they leave it: a binary heap, the largest on top. */
struct heap {
	uint32_t *vertices, count;
	uint32_t *place; /* by vertex; NOWHERE: it is not in it. Both sides share it */
	int64_t *gain;   /* by vertex */
};

struct halving {
	const struct graph *g;
	uint8_t *side;
	int64_t *gain;
	uint32_t *place, *moved;
	struct heap heap[2];
};

/* --- heaps --- */

static void heap_put(struct heap *h, uint32_t at, uint32_t v)
{
	h->vertices[at] = v;
	h->place[v] = at;
}

static void heap_rise(struct heap *h, uint32_t at)
{
	uint32_t v = h->vertices[at];
	for (; at > 0 && h->gain[h->vertices[(at - 1) / 2]] < h->gain[v]; at = (at - 1) / 2)
		heap_put(h, at, h->vertices[(at - 1) / 2]);
	heap_put(h, at, v);
}

static void heap_sink(struct heap *h, uint32_t at)
{
	uint32_t v = h->vertices[at], child;
	while ((child = 2 * at + 1) < h->count) {
		if (child + 1 < h->count && h->gain[h->vertices[child + 1]] > h->gain[h->vertices[child]])
			child++;
		if (h->gain[h->vertices[child]] <= h->gain[v])
			break;
		heap_put(h, at, h->vertices[child]);
		at = child;
	}
	heap_put(h, at, v);
}

static void heap_add(struct heap *h, uint32_t v)
{
	h->vertices[h->count++] = v;
	heap_rise(h, h->count - 1);
}

/* The heap is not empty. */
static uint32_t heap_take(struct heap *h)
{
	uint32_t top = h->vertices[0], last = h->vertices[--h->count];
	h->place[top] = NOWHERE;
	if (h->count) {
		h->vertices[0] = last;
		heap_sink(h, 0);
	}
	return top;
}

static void heap_change(struct heap *h, uint32_t v, int64_t more)
{
	h->gain[v] += more;
	if (h->place[v] == NOWHERE)
		return;
	if (more > 0)
		heap_rise(h, h->place[v]);
	else
		heap_sink(h, h->place[v]);
}

/* --- exchanges --- */

static void find_gains(struct halving *b)
{
	const struct graph *g = b->g;
	for (uint32_t v = 0; v < g->size; v++) {
		b->gain[v] = 0;
		for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
			b->gain[v] += b->side[g->to[e]] != b->side[v] ? g->weight[e] : -g->weight[e];
	}
}

static void fill_heaps(struct halving *b)
{
	b->heap[0].count = b->heap[1].count = 0;
	for (uint32_t v = 0; v < b->g->size; v++)
		heap_add(&b->heap[b->side[v]], v);
}

/* Neighbours on the side that it leaves gain by following it. */
static void change_side(struct halving *b, uint32_t v)
{
	const struct graph *g = b->g;
	b->side[v] ^= 1;
	b->gain[v] = -b->gain[v];
	for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
		uint32_t u = g->to[e];
		heap_change(&b->heap[b->side[u]], u, b->side[u] == b->side[v] ? -2 * g->weight[e] : 2 * g->weight[e]);
	}
}

/* Returns what is gained. */
static int64_t exchange_pass(struct halving *b)
{
	uint32_t count = 0, best = 0;
	int64_t sum = 0, most = 0;
	find_gains(b);
	fill_heaps(b);
	const uint32_t hill = HILL + b->g->size / 100;
	while (b->heap[0].count && b->heap[1].count && count - best < 2 * hill) {
		for (int side = 0; side < 2; side++) {
			uint32_t v = heap_take(&b->heap[side]);
			sum += b->gain[v];
			change_side(b, v);
			b->moved[count++] = v;
		}
		if (sum > most) {
			most = sum;
			best = count;
		}
	}
	while (count > best)
		b->side[b->moved[--count]] ^= 1;
	return most;
}

static void exchange_all(struct halving *b)
{
	int64_t gained = 1;
	for (int pass = 0; pass < PASSES && gained > 0 && budget_step(b->g->first[b->g->size] + b->g->size); pass++)
		gained = exchange_pass(b);
}

static int64_t cut_of(const struct halving *b)
{
	const struct graph *g = b->g;
	int64_t twice = 0;
	for (uint32_t v = 0; v < g->size; v++)
		for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
			twice += b->side[g->to[e]] != b->side[v] ? g->weight[e] : 0;
	return twice / 2;
}

/* --- how a half begins --- */

static void begin_in_order(struct halving *b, uint32_t half)
{
	for (uint32_t v = 0; v < b->g->size; v++)
		b->side[v] = v >= half;
}

/* Side 0 grows from a vertex: next is who has most there and least elsewhere. Returns the last one. */
static uint32_t begin_grown(struct halving *b, uint32_t half, uint32_t seed)
{
	uint32_t last = seed;
	memset(b->side, 1, b->g->size);
	find_gains(b);
	fill_heaps(b);
	if (b->place[seed] != NOWHERE) /* on top */
		heap_change(&b->heap[1], seed, INT64_MAX / 2 - b->gain[seed]);
	for (uint32_t n = 0; n < half && b->heap[1].count; n++) {
		last = heap_take(&b->heap[1]);
		change_side(b, last);
	}
	return last;
}

static void keep_less(const struct halving *b, uint8_t *best, int64_t *least)
{
	int64_t cut = cut_of(b);
	if (cut >= *least)
		return;
	*least = cut;
	memcpy(best, b->side, b->g->size);
}

/* best gets the sides: `half` vertices on side 0. */
static void halve(struct halving *b, uint32_t half, uint8_t *best)
{
	int64_t least = INT64_MAX;
	begin_in_order(b, half);
	exchange_all(b);
	keep_less(b, best, &least);
	uint32_t rim = begin_grown(b, half, 0);
	exchange_all(b);
	keep_less(b, best, &least);
	begin_grown(b, half, rim);
	exchange_all(b);
	keep_less(b, best, &least);
}

static void halving_free(struct halving *b)
{
	budget_free(b->side);
	budget_free(b->gain);
	budget_free(b->place);
	budget_free(b->moved);
	budget_free(b->heap[0].vertices);
	budget_free(b->heap[1].vertices);
}

static int halving_make(struct halving *b, const struct graph *g)
{
	size_t n = (size_t)g->size + 1;
	*b = (struct halving){.g = g,
	                      .side = budget_malloc(n),
	                      .gain = budget_malloc(n * sizeof *b->gain),
	                      .place = budget_malloc(n * sizeof *b->place),
	                      .moved = budget_malloc(n * sizeof *b->moved)};
	for (int i = 0; i < 2; i++)
		b->heap[i] = (struct heap){budget_malloc(n * sizeof *b->moved), 0, b->place, b->gain};
	return b->side && b->gain && b->place && b->moved && b->heap[0].vertices && b->heap[1].vertices ? 0 : -1;
}

/* --- halves of halves --- */

struct parts {
	const struct graph *g; /* the whole */
	uint32_t *part;
	const uint32_t *sizes;
};

static int divide(const struct parts *p, uint32_t *vertices, uint32_t n, uint32_t from, uint32_t to);

/* Puts the vertices of side 0 in front, in their order. */
static int sort_sides(uint32_t *vertices, uint32_t n, const uint8_t *side)
{
	uint32_t *copy = budget_malloc(((size_t)n + 1) * sizeof *copy), k = 0;
	if (!copy)
		return -1;
	memcpy(copy, vertices, n * sizeof *copy);
	for (uint8_t s = 0; s < 2; s++)
		for (uint32_t i = 0; i < n; i++)
			if (side[i] == s)
				vertices[k++] = copy[i];
	budget_free(copy);
	return 0;
}

static int halve_vertices(const struct parts *p, uint32_t *vertices, uint32_t n, uint32_t half)
{
	struct graph g;
	struct halving b = {.g = NULL};
	uint8_t *best = budget_malloc((size_t)n + 1);
	int rv = graph_induce(&g, p->g, vertices, n);
	if (rv == 0)
		rv = best ? halving_make(&b, &g) : -1;
	if (rv == 0) {
		halve(&b, half, best);
		rv = sort_sides(vertices, n, best);
	}
	halving_free(&b);
	graph_free(&g);
	budget_free(best);
	return rv;
}

/* Parts from .. to - 1. */
static int divide(const struct parts *p, uint32_t *vertices, uint32_t n, uint32_t from, uint32_t to)
{
	uint32_t middle = from + (to - from) / 2, half = 0;
	if (to - from == 1) {
		for (uint32_t i = 0; i < n; i++)
			p->part[vertices[i]] = from;
		return 0;
	}
	for (uint32_t i = from; i < middle; i++)
		half += p->sizes[i];
	if (halve_vertices(p, vertices, n, half) != 0 || divide(p, vertices, half, from, middle) != 0)
		return -1;
	return divide(p, vertices + half, n - half, middle, to);
}

int bisection_make(const struct graph *g, uint32_t *part, uint32_t parts, const uint32_t *sizes)
{
	const struct parts p = {g, part, sizes};
	uint32_t *vertices = budget_malloc(((size_t)g->size + 1) * sizeof *vertices);
	if (!vertices)
		return -1;
	for (uint32_t v = 0; v < g->size; v++)
		vertices[v] = v;
	int rv = parts ? divide(&p, vertices, g->size, 0, parts) : 0;
	budget_free(vertices);
	return rv;
}
