/* SPDX-License-Identifier: BSD-3-Clause
 * loom - a decision diagram over the bits of the rank that is being made (trace/model/rankmap.h): every node once, found by
 * its content
 */
#ifndef SPOOR_LOOM_H
#define SPOOR_LOOM_H

#include <stdbool.h>
#include <stdint.h>

struct rankmap;

/* What a node's edge leads to: one of these two, or node n as n + RANK_NODE. The first two stand for whole subtrees of
 * any height. */
#define RANK_ABSENT 0 /* no rank */
#define RANK_PLAIN  1 /* all ranks, with the value that was added up on the way */
#define RANK_NODE   2
#define RANK_LEVELS 32

/* Nodes come after what they refer to. delta is what is added on the way to `high`; 0 if one side has no plain value. A
 * leaf has low RANK_LEAF; delta is its constant or reference, which all ranks below have. */
#define RANK_LEAF UINT32_MAX
struct rank_node {
	uint32_t low, high;
	int64_t delta;
};

/* A diagram that is being made: every node once. */
struct rank_loom {
	struct rank_node *nodes;
	bool *plain; /* has the node a plain value? */
	uint32_t *slots;
	uint32_t *scratch; /* 2 * capacity; the first half is 0 */
	uint32_t count, capacity, mask;
	bool failed;
};

struct rank_edge {
	uint32_t to;
	int64_t base;
};

/* The edge to a node with these two sides. */
struct rank_edge rank_edge_make(struct rank_loom *l, struct rank_edge low, struct rank_edge high);
struct rank_edge rank_edge_leaf(struct rank_loom *l, int64_t value);
/* Has what an edge leads to a plain value? */
bool rank_loom_plain(const struct rank_loom *l, uint32_t to);
/* Takes the nodes that were added last out again, until there are `count`. */
void rank_loom_rollback(struct rank_loom *l, uint32_t count);
/* The map with this root; the loom stays as it is. Returns 0 or -1. */
int rank_loom_map(const struct rank_loom *l, struct rank_edge root, uint32_t level, struct rankmap *out);
void rank_loom_free(struct rank_loom *l);

#endif
