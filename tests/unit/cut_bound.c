/* SPDX-License-Identifier: BSD-3-Clause
 * cut_bound - grids whose best divisions are known, and small graphs against all divisions: no bound is above the best
 */
#include "insight/cut_bound.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

enum { MOST = 512, PARTS = 16, WORK = 1 << 28 };

static uint64_t first[MOST + 1];
static uint32_t to[8 * MOST], part[MOST];
static int64_t weight[8 * MOST];

/* A cube, periodic or not; each edge weighs 7. */
static struct graph cube(uint32_t side, bool periodic)
{
	uint32_t n = side * side * side;
	uint64_t ends = 0;
	for (uint32_t v = 0; v < n; v++) {
		first[v] = ends;
		for (uint32_t step = 1; step < n; step *= side)
			for (int way = -1; way <= 1; way += 2) {
				uint32_t at = v / step % side, there = (at + side + (uint32_t)way) % side;
				if (!periodic && (way < 0 ? at == 0 : at + 1 == side))
					continue;
				to[ends] = v - at * step + there * step;
				weight[ends++] = 7;
			}
	}
	first[n] = ends;
	return (struct graph){n, first, to, weight};
}

/* In boxes of a x b x c. */
static void divide(uint32_t side, uint32_t a, uint32_t b, uint32_t c)
{
	for (uint32_t v = 0; v < side * side * side; v++) {
		uint32_t x = v % side / a, y = v / side % side / b, z = v / side / side / c;
		part[v] = x + side / a * (y + side / b * z);
	}
}

static void grids(void)
{
	const struct {
		uint32_t side, box[3], parts;
		bool periodic, proved;
		int64_t cut;
	} cases[] = {{4, {2, 2, 2}, 8, true, true, 96},   {4, {2, 2, 2}, 8, false, true, 48},
	             {4, {4, 4, 2}, 2, true, true, 32},   {4, {4, 2, 2}, 4, true, true, 64},
	             {4, {4, 4, 1}, 4, false, false, 48}, {4, {4, 1, 1}, 16, true, true, 128},
	             {8, {4, 4, 4}, 8, true, false, 384}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const uint32_t side = cases[i].side, *box = cases[i].box;
		struct graph g = cube(side, cases[i].periodic);
		int64_t bound = -1, cut;
		divide(side, box[0], box[1], box[2]);
		cut = partition_cut(&g, part);
		ok(cut == 7 * cases[i].cut, "%u^3 in boxes of %ux%ux%u cuts %ld", side, box[0], box[1], box[2],
		   (long)cut / 7);
		ok(cut_bound_find(&bound, &g, part, cases[i].parts, WORK) == 0 && bound <= cut &&
		           (bound == cut) == cases[i].proved,
		   "its bound: %ld", (long)bound / 7);
		bound = -1;
		ok(cut_bound_find(&bound, &g, part, cases[i].parts, 10) == 0 && bound <= cut, "with little work: %ld",
		   (long)bound / 7);
	}
}

/* The least of all divisions into two parts of so many, the first with vertex 0. */
static int64_t least_of_all(const struct graph *g, uint32_t ones, uint32_t *best)
{
	int64_t least = INT64_MAX;
	for (uint32_t set = 0; set < UINT32_C(1) << g->size; set++) {
		if ((uint32_t)__builtin_popcount(set) != ones)
			continue;
		for (uint32_t v = 0; v < g->size; v++)
			part[v] = set >> v & 1;
		int64_t cut = partition_cut(g, part);
		*best = cut < least ? set : *best;
		least = cut < least ? cut : least;
	}
	return least;
}

static struct graph random_graph(uint32_t n, uint64_t weights)
{
	uint64_t ends = 0;
	int64_t between[16][16] = {{0}};
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < a; b++)
			between[a][b] = between[b][a] = random_below(5) < 2 ? (int64_t)(1 + random_below(weights)) : 0;
	for (uint32_t a = 0; a < n; a++) {
		first[a] = ends;
		for (uint32_t b = 0; b < n; b++)
			if (between[a][b]) {
				to[ends] = b;
				weight[ends++] = between[a][b];
			}
	}
	first[n] = ends;
	return (struct graph){n, first, to, weight};
}

static void small_ones(void)
{
	int proved = 0, wrong = 0;
	for (int i = 0; i < 300; i++) {
		struct graph g = random_graph(10, i % 3 ? 1 : 4);
		uint32_t ones = 3 + (uint32_t)(i % 3);
		uint32_t best = 0;
		int64_t bound, least = least_of_all(&g, ones, &best);
		for (uint32_t v = 0; v < g.size; v++) /* the best one, or any */
			part[v] = i % 2 ? best >> v & 1 : v < ones;
		int64_t cut = partition_cut(&g, part);
		int rv = cut_bound_find(&bound, &g, part, 2, WORK);
		wrong += rv != 0 || bound > least || bound > cut;
		proved += bound == cut && cut > 0;
	}
	ok(wrong == 0, "300 random graphs: no bound is above the best division; %d divisions are the best", proved);
}

static int each_allocation(void *unused)
{
	struct graph g = cube(4, true);
	int64_t bound;
	(void)unused;
	divide(4, 4, 4, 2);
	return cut_bound_find(&bound, &g, part, 2, 1000);
}

int main(void)
{
	struct graph none = {0, first, to, weight};
	int64_t bound = -1;
	ok(cut_bound_find(&bound, &none, part, 1, WORK) == 0 && bound == 0, "nothing");
	grids();
	small_ones();
	ok(fails_well(each_allocation, NULL), "each allocation that fails is told, and nothing leaks");
	return tap_end();
}
