/* SPDX-License-Identifier: BSD-3-Clause
 * diagram - a hash-consed, edge-valued decision diagram over the bits of the rank (trace/model/rankmap.h): every node
 * once, found by its content
 */
#ifndef SPOOR_DIAGRAM_H
#define SPOOR_DIAGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct rankmap;

/* What a node's edge leads to: one of these two, or node n as n + DIAGRAM_NODE. The first two stand for whole subtrees
 * of any height. */
#define DIAGRAM_ABSENT 0 /* no rank */
#define DIAGRAM_PLAIN  1 /* all ranks, with the value that was added up on the way */
#define DIAGRAM_NODE   2
#define DIAGRAM_LEVELS 32

/* Nodes come after what they refer to. delta is what is added on the way to `high`; 0 if one side has no plain value. A
 * leaf has low DIAGRAM_LEAF; delta is its constant or reference, which all ranks below have. */
#define DIAGRAM_LEAF UINT32_MAX
struct diagram_node {
	uint32_t low, high;
	int64_t delta;
};

/* Where a diagram has its first nodes: most have no more, and are made and dropped by the thousand. */
#define DIAGRAM_ROOM 32
struct diagram_room {
	struct diagram_node nodes[DIAGRAM_ROOM];
	bool plain[DIAGRAM_ROOM];
	uint32_t slots[2 * DIAGRAM_ROOM], scratch[2 * DIAGRAM_ROOM];
};

/* Zero-initialised is empty. */
struct diagram {
	struct diagram_node *nodes;
	bool *plain; /* has the node a plain value? */
	uint32_t *slots;
	uint32_t *scratch; /* 2 * capacity; the first half is 0 */
	uint32_t count, capacity, mask;
	bool lent; /* the arrays are a diagram_room's */
	bool failed;
};

struct diagram_edge {
	uint32_t to;
	int64_t base;
};

/* Bases are added modulo 2^64. */
static inline int64_t base_plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t base_minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* An empty diagram that begins in `room`, which must live as long. diagram_free works on it as on any. */
void diagram_begin(struct diagram *l, struct diagram_room *room);
/* The edge to a node with these two sides, which is added if it is not there. On no memory `failed` is set. */
struct diagram_edge diagram_node_of(struct diagram *l, struct diagram_edge low, struct diagram_edge high);
/* The edge to the leaf with this constant or reference. */
struct diagram_edge diagram_leaf(struct diagram *l, int64_t value);
/* Has what an edge leads to a plain value? */
bool diagram_has_number(const struct diagram *l, uint32_t to);
/* Takes the nodes that were added last out again, until there are `count`. */
void diagram_rollback(struct diagram *l, uint32_t count);
/* The map with this root; the diagram stays as it is. Returns 0 or -1. */
int diagram_map(const struct diagram *l, struct diagram_edge root, uint32_t level, struct rankmap *out);
void diagram_free(struct diagram *l);

#endif
