/* SPDX-License-Identifier: BSD-3-Clause
 * loop_nest - the loops of a program, from which call site follows on which
 *
 * Sites are numbered in the order of their first appearance, so site 0 is the first. Nodes of the nest are the sites,
 * under their own numbers, then the whole (node `sites`), then the loops. The children of a node come in an order in
 * which one turn passes them: no turn goes back to an earlier child, and each is passed at most once.
 */
#ifndef SPOOR_LOOP_NEST_H
#define SPOOR_LOOP_NEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEST_NONE UINT32_MAX

struct nest_edge {
	uint32_t from, to;
	uint64_t count;
};

struct nest_node {
	uint32_t parent;            /* a loop or the whole; NEST_NONE: this is the whole */
	uint32_t first, last, next; /* children, and the next child of the parent; NEST_NONE: none */
	uint32_t place;             /* among the children of its parent */
	uint32_t depth;             /* 0: the whole */
	uint32_t header;            /* of a loop: the site with which a turn begins; NEST_NONE: it has none */
	bool any_order;             /* of a loop: its sites come in any order, and each of them is a turn */
};

struct loop_nest {
	struct nest_node *nodes;
	uint32_t sites, count;
};

/* Edges are sorted by `from`; they may lead from a site to itself, which makes no loop. Each site but the first is
 * entered by an edge. Returns 0, or -1 (no memory). The caller frees the nest in any case. */
int loop_nest_make(struct loop_nest *nest, uint32_t sites, const struct nest_edge *edges, size_t edge_count);
void loop_nest_free(struct loop_nest *nest);
/* The innermost loop, or the whole, that both sites are in. */
uint32_t loop_nest_meet(const struct loop_nest *nest, uint32_t a, uint32_t b);
/* Does a step between two different sites that meet in this node begin a new turn of it? It does if it leads back. */
bool loop_nest_turns(const struct loop_nest *nest, uint32_t node, uint32_t from, uint32_t to);

/* For nests that are made elsewhere: so many sites, which have no parents yet, and the whole. Returns 0, or -1 (no
 * memory). The caller frees the nest in any case. */
int loop_nest_begin(struct loop_nest *nest, uint32_t sites);
void loop_nest_append(struct loop_nest *nest, uint32_t parent, uint32_t child);

#endif
