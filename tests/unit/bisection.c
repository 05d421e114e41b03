/* SPDX-License-Identifier: BSD-3-Clause
 * bisection - parts have their sizes, and large grids are divided nearly as well as they can be
 */
#include "insight/bisection.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

enum { SIDE = 24, MOST = SIDE * SIDE * SIDE };

static uint64_t first[MOST + 1];
static uint32_t to[6 * MOST], part[MOST], name[MOST];
static int64_t weight[6 * MOST];

/* The neighbour of a place in a cube; false: there is none. */
static bool beside(uint32_t side, uint32_t place, uint32_t way, uint32_t *other)
{
	uint32_t step = way / 2 == 0 ? 1 : way / 2 == 1 ? side : side * side, at = place / step % side;
	if (way % 2 ? at == 0 : at + 1 == side)
		return false;
	*other = way % 2 ? place - step : place + step;
	return true;
}

/* A cube whose vertices have mixed numbers. Each edge weighs 5. */
static struct graph cube(uint32_t side)
{
	uint32_t n = side * side * side, other;
	uint64_t ends = 0;
	static uint32_t place[MOST];
	for (uint32_t v = 0; v < n; v++)
		place[v] = v;
	for (uint32_t v = n; v > 1; v--) {
		uint32_t i = (uint32_t)(random_next() % v), swap = place[i];
		place[i] = place[v - 1];
		place[v - 1] = swap;
	}
	for (uint32_t v = 0; v < n; v++)
		name[place[v]] = v;
	for (uint32_t v = 0; v < n; v++) {
		first[v] = ends;
		for (uint32_t way = 0; way < 6; way++)
			if (beside(side, place[v], way, &other)) {
				to[ends] = name[other];
				weight[ends++] = 5;
			}
	}
	first[n] = ends;
	return (struct graph){n, first, to, weight};
}

static bool sizes_are(uint32_t n, uint32_t parts, const uint32_t *sizes)
{
	uint32_t count[256] = {0};
	for (uint32_t v = 0; v < n; v++)
		if (part[v] >= parts)
			return false;
		else
			count[part[v]]++;
	return memcmp(count, sizes, parts * sizeof *sizes) == 0;
}

static void grids(void)
{
	const struct {
		uint32_t side, parts;
		int64_t least; /* edges that boxes cut */
	} cases[] = {{4, 8, 48}, {8, 8, 192}, {8, 64, 576}, {16, 64, 2304}, {24, 108, 6912}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t sizes[256], n = cases[i].side * cases[i].side * cases[i].side;
		struct graph g = cube(cases[i].side);
		for (uint32_t p = 0; p < cases[i].parts; p++)
			sizes[p] = n / cases[i].parts;
		int rv = bisection_make(&g, part, cases[i].parts, sizes);
		int64_t cut = partition_cut(&g, part) / 5;
		ok(rv == 0 && sizes_are(n, cases[i].parts, sizes), "a cube of %u in %u parts", n, cases[i].parts);
		ok(cut <= cases[i].least * 4 / 3, "cuts %ld edges, boxes %ld", (long)cut, (long)cases[i].least);
	}
}

static void uneven(void)
{
	const uint32_t sizes[] = {1, 30, 0, 20, 13}, one[] = {64};
	struct graph g = cube(4), none = {0, first, to, weight};
	ok(bisection_make(&g, part, 5, sizes) == 0 && sizes_are(64, 5, sizes), "parts of any size, also of none");
	ok(bisection_make(&g, part, 1, one) == 0 && sizes_are(64, 1, one), "one part");
	ok(bisection_make(&none, part, 0, sizes) == 0 && bisection_make(&none, part, 1, (uint32_t[]){0}) == 0,
	   "nothing");
	memset(first, 0, sizeof first);
	g.size = 64;
	ok(bisection_make(&g, part, 5, sizes) == 0 && sizes_are(64, 5, sizes), "no edges");
}

static int each_allocation(void *unused)
{
	static struct graph g;
	const uint32_t sizes[] = {9, 9, 9};
	(void)unused;
	if (g.size == 0)
		g = cube(3);
	return bisection_make(&g, part, 3, sizes);
}

int main(void)
{
	grids();
	uneven();
	ok(fails_well(each_allocation, NULL), "each allocation that fails is told, and nothing leaks");
	return tap_end();
}
