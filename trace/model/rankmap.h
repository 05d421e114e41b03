/* SPDX-License-Identifier: BSD-3-Clause
 * rankmap - a value for each rank of a set of ranks, as a decision diagram over the bits of the rank
 *
 * The ranks of a machine are a grid, whether the program says so or not: who has a neighbour above, and how far away it
 * is, depends on the high bits of the rank; on the left, on the low bits. A map is therefore a tree over the bits of
 * the rank, highest bit first, in which equal subtrees are one node, and plain values are relative: the value of a rank
 * is the sum of what stands at the edges on the way down (an edge-valued decision diagram; Lai and Sastry, DAC 1992).
 *
 *     ranks 0..7 of a ring, each with the distance to the next one: 1 1 1 1 1 1 1 -7
 *
 *     level 3   base 1, node C              C: low A0 = plain, high B
 *     level 2                               B: low plain, high D
 *     level 1                               D: low plain, high plain with delta -8
 *
 * So the size of a regular map is the logarithm of the number of ranks, in as many dimensions as there are; two maps of
 * neighbouring ranges are joined in time linear in their nodes; and the form is canonical: equal maps have equal nodes,
 * however they were put together. The worst case (all values different, without order) is one node a rank.
 *
 * Named constants, and values that are references (numbers of strings, vectors, sites), are no numbers to calculate
 * with: each is a leaf of its own. A rank set is a map in which all values are 0.
 */
#ifndef SPOOR_RANKMAP_H
#define SPOOR_RANKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/budget.h"
#include "trace/model/diagram.h"

/* Zero-initialised is empty. */
struct rankmap {
	struct diagram_node *nodes;
	uint32_t node_count, root;
	uint32_t level; /* of the root: it has the ranks below 2^level; the lowest level that has them all */
	/* of the root: the value of the first rank that has a plain one; else 0. Arithmetic is modulo 2^64. */
	int64_t base;
};

/* Ranks first, first + step, ... (count of them) have value, value + slope, ... */
struct rank_piece {
	uint32_t first, count, step; /* step >= 1; 1 if count is 1 */
	int64_t value, slope;        /* slope is 0 for constants and references */
};

/* Collects pieces in ascending order of ranks. Zero-initialised is empty; `references`: all values are references. */
struct rankmap_builder {
	struct diagram diagram;
	struct diagram_edge
		edge[DIAGRAM_LEVELS + 1]; /* of the aligned blocks that make up the ranks below `next`; by level */
	uint64_t next;
	bool references, failed;
};

void rankmap_add(struct rankmap_builder *b, struct rank_piece piece);
/* Gives the map to the caller. Returns 0, or -1 (no memory, or not in ascending order; *out is empty). The builder is
 * empty again. */
int rankmap_take(struct rankmap_builder *b, struct rankmap *out);

static inline void rankmap_free(struct rankmap *m)
{
	budget_free(m->nodes);
	*m = (struct rankmap){0};
}
/* One rank. Returns 0 or -1. */
int rankmap_single(struct rankmap *m, uint32_t rank, int64_t value, bool reference);
int rankmap_copy(struct rankmap *m, const struct rankmap *from);
/* The ranks of `domain`, all with this value. out may be domain. Returns 0 or -1. */
int rankmap_fill(struct rankmap *out, const struct rankmap *domain, int64_t value, bool reference);
/* All of a and b, which have no rank in common, into *out (which may be a or b). Returns 0, or -1: no memory, or a rank
 * stands in both. */
int rankmap_union(struct rankmap *out, const struct rankmap *a, const struct rankmap *b);
/* What m says of the ranks that are in `set` as well. Returns 0 or -1. */
int rankmap_restrict(struct rankmap *out, const struct rankmap *m, const struct rankmap *set);
/* Of two maps with the same ranks and without constants: the values of a, and `times` those of b. Returns 0 or -1. */
int rankmap_sum_of(struct rankmap *out, const struct rankmap *a, const struct rankmap *b, uint64_t times);
/* Constants and references become what `translate` says. out may be m. Returns 0 or -1. */
int rankmap_translate(struct rankmap *out, const struct rankmap *m, int64_t (*translate)(void *context, int64_t value),
                      void *context);

static inline bool rankmap_empty(const struct rankmap *m)
{
	return m->root == DIAGRAM_ABSENT;
}

/* The node that an edge leads to; NULL: all ranks below are alike. */
static inline const struct diagram_node *rankmap_inner(const struct rankmap *m, uint32_t to)
{
	return to < DIAGRAM_NODE || m->nodes[to - DIAGRAM_NODE].low == DIAGRAM_LEAF ? NULL
	                                                                            : &m->nodes[to - DIAGRAM_NODE];
}

/* True and the value, if the rank is in the map. */
bool rankmap_get(const struct rankmap *m, uint32_t rank, int64_t *value);
/* Is there a plain value? (Adding to `base` then adds to all plain values.) */
bool rankmap_has_plain(const struct rankmap *m);
/* The next rank from *rank on, and its value; false if there is none. for (uint64_t r = 0; rankmap_next(m, &r, &v);
 * r++) sees all. */
bool rankmap_next(const struct rankmap *m, uint64_t *rank, int64_t *value);
uint64_t rankmap_size(const struct rankmap *m); /* ranks */
/* The ranks whose value is not 0. Linear in the nodes, where no plain value is 0 or all that are alike are. */
uint64_t rankmap_size_not_zero(const struct rankmap *m);
/* The lowest and the highest rank of a map that is not empty. */
uint32_t rankmap_first(const struct rankmap *m);
uint32_t rankmap_last(const struct rankmap *m);
/* How many ranks each subtree has, by what edges lead to, times 2^(DIAGRAM_LEVELS - its level): then it does not depend
 * on the level. malloc'ed; NULL: no memory. */
uint64_t *rankmap_shares(const struct rankmap *m);
/* Sum of all plain values. */
int64_t rankmap_sum(const struct rankmap *m);
bool rankmap_constant(const struct rankmap *m, int64_t *value); /* is there a rank, and are all values equal? */
bool rankmap_same_ranks(const struct rankmap *a, const struct rankmap *b);
bool rankmap_equal(const struct rankmap *a, const struct rankmap *b);
/* Adds the nodes of a map to a diagram. Returns the edges to ABSENT, PLAIN and each of its nodes, in the order of their
 * numbers; malloc'ed, NULL on no memory. */
struct diagram_edge *rankmap_add_nodes(struct diagram *l, const struct rankmap *m);

#endif
