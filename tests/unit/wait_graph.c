/* SPDX-License-Identifier: BSD-3-Clause
 * wait_graph - the AND-OR wait-for graph: drawn by hand, and drawn by lot against the definition
 *
 * By definition a set of nodes is stuck if each WAIT_FOR_ALL node of it waits for one of the set, and each
 * WAIT_FOR_ANY node for none but those of the set. The largest such set is found by trying all sets.
 */
#include "insight/wait_graph.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

#define NODES 9

struct drawing {
	unsigned nodes;
	bool any[NODES];
	unsigned to[NODES]; /* bits */
};

static unsigned stuck_by_definition(const struct drawing *d)
{
	unsigned all = 0;
	for (unsigned set = 0; set < 1U << d->nodes; set++) {
		bool holds = true;
		for (unsigned i = 0; i < d->nodes && holds; i++)
			if (set >> i & 1)
				holds = d->any[i] ? (d->to[i] & ~set) == 0 : (d->to[i] & set) != 0;
		all |= holds ? set : 0;
	}
	return all;
}

static struct wait_graph *graph_of(const struct drawing *d)
{
	struct wait_graph *g = wait_graph_create();
	for (unsigned i = 0; g && i < d->nodes; i++)
		wait_graph_add(g, d->any[i] ? WAIT_FOR_ANY : WAIT_FOR_ALL);
	for (unsigned i = 0; g && i < d->nodes; i++)
		for (unsigned k = 0; k < d->nodes; k++)
			if (d->to[i] >> k & 1 && wait_graph_wait(g, i, k) != 0) {
				wait_graph_destroy(g);
				return NULL;
			}
	return g;
}

/* Does the path prove it? */
static bool path_holds(const struct wait_graph *g, const struct drawing *d, unsigned stuck, unsigned from)
{
	uint32_t *path;
	size_t cycle, n = wait_graph_path(g, from, &path, &cycle);
	bool holds = n > 0 && path[0] == from && cycle <= n;
	for (size_t i = 0; i < n && holds; i++) {
		holds = (stuck >> path[i] & 1) != 0;
		if (i + 1 < n)
			holds = holds && (d->to[path[i]] >> path[i + 1] & 1) != 0;
		else if (cycle < n)
			holds = holds && (d->to[path[i]] >> path[cycle] & 1) != 0;
		else
			holds = holds && d->any[path[i]] && d->to[path[i]] == 0;
	}
	budget_free(path);
	return holds;
}

static bool agrees(const struct drawing *d)
{
	unsigned expected = stuck_by_definition(d), found = 0;
	bool good = true;
	struct wait_graph *g = graph_of(d);
	int64_t n = g ? wait_graph_reduce(g) : -1;
	for (unsigned i = 0; n >= 0 && i < d->nodes; i++)
		found |= (unsigned)wait_graph_stuck(g, i) << i;
	for (unsigned i = 0; n >= 0 && i < d->nodes; i++)
		if (found >> i & 1)
			good = good && path_holds(g, d, found, i);
	wait_graph_destroy(g);
	return n == __builtin_popcount(expected) && found == expected && good;
}

static void test_drawn(void)
{
	static const struct {
		const char *title;
		struct drawing d;
		unsigned stuck;
	} drawn[] = {
		{"nothing", {.nodes = 0}, 0},
		{"one that computes", {.nodes = 1}, 0},
		{"one that waits for nobody who could come", {.nodes = 1, .any = {true}}, 1},
		{"one that waits for itself", {.nodes = 1, .to = {1}}, 1},
		{"two that wait for each other", {.nodes = 2, .to = {2, 1}}, 3},
		{"a ring of three, and one that waits for it", {.nodes = 4, .to = {2, 4, 1, 1}}, 15},
		{"two of three wait for the third, which computes", {.nodes = 3, .to = {4, 4, 0}}, 0},
		{"any source: another one can still send", {.nodes = 3, .any = {true}, .to = {6, 1, 0}}, 0},
		{"any source: a knot", {.nodes = 3, .any = {true}, .to = {6, 1, 1}}, 7},
		{"all of two, one of which computes", {.nodes = 3, .to = {6, 1, 0}}, 3},
	};
	for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
		ok(stuck_by_definition(&drawn[i].d) == drawn[i].stuck && agrees(&drawn[i].d), "%s", drawn[i].title);
}

static void test_random(void)
{
	unsigned wrong = 0, stuck = 0;
	srand(19);
	for (int turn = 0; turn < 4000; turn++) {
		struct drawing d = {.nodes = 1 + (unsigned)rand() % NODES};
		unsigned density = 1 + (unsigned)rand() % 8;
		for (unsigned i = 0; i < d.nodes; i++) {
			d.any[i] = rand() % 2;
			for (unsigned k = 0; k < d.nodes; k++)
				d.to[i] |= ((unsigned)rand() % 8 < density && rand() % 2 ? 1U : 0U) << k;
		}
		wrong += !agrees(&d);
		stuck += stuck_by_definition(&d) != 0;
	}
	ok(wrong == 0, "4000 graphs as by definition, each with a proof; %u have stuck nodes", stuck);
}

static int ring_again(void *context)
{
	struct drawing d = {.nodes = 3, .to = {2, 4, 1}};
	uint32_t *path = NULL;
	size_t cycle, n = 0;
	struct wait_graph *g = graph_of(&d);
	(void)context;
	if (g && wait_graph_reduce(g) == 3)
		n = wait_graph_path(g, 0, &path, &cycle);
	budget_free(path);
	wait_graph_destroy(g);
	return n == 3 ? 0 : -1;
}

int main(void)
{
	struct wait_graph *g = wait_graph_create();
	ok(g && wait_graph_wait(g, 0, 0) == -1 && wait_graph_add(g, WAIT_FOR_ALL) == 0 &&
	           wait_graph_wait(g, 0, 1) == -1 && wait_graph_wait(g, WAIT_NODE_NONE, 0) == -1 &&
	           wait_graph_reduce(g) == 0 && !wait_graph_stuck(g, 1),
	   "refused: nodes that there are not");
	wait_graph_destroy(g);
	wait_graph_destroy(NULL);
	test_drawn();
	test_random();
	ok(fails_well(ring_again, NULL), "no memory");
	return tap_end();
}
