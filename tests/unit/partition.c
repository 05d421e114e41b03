/* SPDX-License-Identifier: BSD-3-Clause
 * partition - parts keep their sizes, and the cut is the least where that is known
 */
#include "insight/partition.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

enum { MOST = 512, DEGREE = 16, WORK = 20000000 };

static uint64_t first[MOST + 1];
static uint32_t to[MOST * DEGREE];
static int64_t weight[MOST * DEGREE];
static uint32_t part[MOST];

/* A cube of 2^n vertices. */
static struct graph cube(uint32_t n)
{
	uint64_t ends = 0;
	for (uint32_t v = 0; v < 1U << n; v++) {
		first[v] = ends;
		for (uint32_t d = 0; d < n; d++, ends++) {
			to[ends] = v ^ 1U << d;
			weight[ends] = 1;
		}
	}
	first[1U << n] = ends;
	return (struct graph){1U << n, first, to, weight};
}

/* A line of vertices, whose numbers are mixed. */
static struct graph line(uint32_t n)
{
	uint64_t ends = 0;
	for (uint32_t v = 0; v < n; v++) {
		uint32_t at = v * 37 % n;
		first[v] = ends;
		for (uint32_t u = 0; u < n; u++)
			if (u * 37 % n == at + 1 || u * 37 % n + 1 == at) {
				to[ends] = u;
				weight[ends++] = 3;
			}
	}
	first[n] = ends;
	return (struct graph){n, first, to, weight};
}

static void deal(uint32_t size, uint32_t parts)
{
	for (uint32_t v = 0; v < size; v++)
		part[v] = v % parts;
}

static bool sizes_are(uint32_t size, uint32_t parts)
{
	uint32_t count[MOST] = {0};
	for (uint32_t v = 0; v < size; v++)
		count[part[v]]++;
	for (uint32_t p = 0; p < parts; p++)
		if (count[p] != size / parts + (p < size % parts))
			return false;
	return true;
}

static void cubes(void)
{
	/* a part is a smaller cube: of the edges of each vertex, log2(parts) are cut */
	for (uint32_t bits = 1; bits <= 4; bits++) {
		struct graph g = cube(7);
		deal(128, 1U << bits);
		part[0] = part[5], part[5] = 0;
		int rv = partition_improve(&g, part, 1U << bits, WORK);
		ok(rv == 0 && partition_cut(&g, part) == 64 * (int64_t)bits && sizes_are(128, 1U << bits),
		   "a cube of 128 in %u parts: cut %ld", 1U << bits, (long)partition_cut(&g, part));
	}
}

static void lines(void)
{
	struct graph g = line(100);
	deal(100, 7);
	ok(partition_improve(&g, part, 7, WORK) == 0 && sizes_are(100, 7),
	   "a line in parts of 15 and 14: they stay so");
	ok(partition_cut(&g, part) <= 3 * 8, "cut %ld of 18", (long)partition_cut(&g, part));
}

static void nothing(void)
{
	struct graph none = {0, first, to, weight}, apart = {8, first, to, weight};
	memset(first, 0, sizeof first);
	ok(partition_improve(&none, part, 1, WORK) == 0, "no vertices");
	deal(8, 4);
	ok(partition_improve(&apart, part, 4, WORK) == 0 && partition_cut(&apart, part) == 0, "no edges");
	struct graph g = cube(3);
	deal(8, 1);
	ok(partition_improve(&g, part, 1, WORK) == 0 && partition_cut(&g, part) == 0, "one part");
	deal(8, 8);
	ok(partition_improve(&g, part, 8, WORK) == 0 && partition_cut(&g, part) == 12, "parts of one vertex");
	deal(8, 2);
	ok(partition_improve(&g, part, 2, 0) == 0 && sizes_are(8, 2), "no work");
}

static void induced(void)
{
	struct graph g = cube(3), some;
	const uint32_t chosen[] = {0, 1, 3, 7};
	ok(graph_induce(&some, &g, chosen, 4) == 0 && some.size == 4 && some.first[4] == 6, "a path of a cube");
	ok(some.first[1] == 1 && some.to[0] == 1 && some.weight[0] == 1, "its first vertex has one neighbour");
	graph_free(&some);
}

static int each_allocation(void *unused)
{
	struct graph g = cube(4), some;
	uint32_t before[16];
	const uint32_t chosen[] = {0, 1, 2};
	(void)unused;
	deal(16, 2);
	memcpy(before, part, sizeof before);
	int rv = partition_improve(&g, part, 2, 10000);
	if (rv != 0 && memcmp(before, part, sizeof before) != 0)
		return 0;
	rv |= graph_induce(&some, &g, chosen, 3);
	graph_free(&some);
	return rv;
}

int main(void)
{
	uint32_t once[128];
	nothing();
	cubes();
	lines();
	induced();
	struct graph g = cube(7);
	deal(128, 8);
	partition_improve(&g, part, 8, WORK / 10);
	memcpy(once, part, sizeof once);
	deal(128, 8);
	partition_improve(&g, part, 8, WORK / 10);
	ok(memcmp(once, part, sizeof once) == 0, "the same once more gives the same");
	ok(fails_well(each_allocation, NULL), "each allocation that fails is told, and nothing leaks");
	return tap_end();
}
