/* SPDX-License-Identifier: BSD-3-Clause
 * chains - sites of a set in any order that always follow each other
 */
#include "proxy/chains.h"

#include <stdlib.h>

#include "tests/unit/tap.h"
#include "trace/base/budget.h"

#define SET 7

/* Sites 0 to 5, the whole (6), and a set (7) that has all sites but 0. */
static void begin(struct loop_nest *nest)
{
	loop_nest_begin(nest, 6);
	nest->nodes[nest->count++] = (struct nest_node){
		.first = NEST_NONE, .last = NEST_NONE, .next = NEST_NONE, .header = NEST_NONE, .any_order = true};
	loop_nest_append(nest, 6, 0);
	loop_nest_append(nest, 6, SET);
	for (uint32_t i = 1; i < 6; i++)
		loop_nest_append(nest, SET, i);
}

static void check_chains(void)
{
	/* 0 1 2 3 5 4 1 2 3 4 5 5 1 2 3 5: 2 follows on 1 only, 3 on 2 only */
	const struct nest_edge edges[] = {{0, 1, 1}, {1, 2, 3}, {2, 3, 3}, {3, 4, 1}, {3, 5, 2},
	                                  {4, 1, 1}, {4, 5, 1}, {5, 1, 1}, {5, 4, 1}, {5, 5, 1}};
	struct loop_nest nest;
	begin(&nest);
	ok(chains_make(&nest, edges, sizeof edges / sizeof *edges) == 0, "a set with a chain");
	const struct nest_node *n = nest.nodes;
	ok(nest.count == 9 && n[SET].first == 8 && n[8].next == 4 && n[4].next == 5 && n[5].next == NEST_NONE,
	   "the chain is a child of the set");
	ok(n[8].first == 1 && n[1].next == 2 && n[2].next == 3 && n[3].next == NEST_NONE && n[8].last == 3 &&
	           n[8].header == 1 && !n[8].any_order,
	   "and has its sites in their order");
	ok(n[1].parent == 8 && n[3].depth == 3 && n[8].parent == SET && n[8].depth == 2,
	   "parents and depths are right");
	ok(loop_nest_meet(&nest, 1, 3) == 8 && loop_nest_meet(&nest, 3, 4) == SET && !loop_nest_turns(&nest, 8, 1, 2) &&
	           loop_nest_turns(&nest, 8, 3, 1),
	   "the nest is one that can be asked");
	loop_nest_free(&nest);
}

static void check_none(void)
{
	/* 2 follows on 1, but also on 3 */
	const struct nest_edge edges[] = {{0, 1, 1}, {1, 2, 1}, {1, 3, 1}, {2, 1, 1}, {2, 4, 1},
	                                  {3, 2, 1}, {4, 1, 1}, {4, 5, 1}, {5, 1, 1}, {5, 3, 1}};
	struct loop_nest nest;
	begin(&nest);
	ok(chains_make(&nest, edges, sizeof edges / sizeof *edges) == 0 && nest.count == 8 &&
	           nest.nodes[SET].first == 1 && nest.nodes[3].next == 4 && nest.nodes[5].next == NEST_NONE,
	   "a set without one stays as it is");
	loop_nest_free(&nest);
}

int main(void)
{
	check_chains();
	check_none();
	return tap_end();
}
