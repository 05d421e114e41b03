/* SPDX-License-Identifier: BSD-3-Clause
 * widen - a map that says more than it has to, where that makes it simpler
 *
 * Who is the neighbour above of those ranks of a grid that no coarser grid has? Written down for just these ranks, the
 * answer has the holes of the coarser grid in it, at each level. A reader that knows the ranks (the domain) can be told
 * the neighbour of any rank. What is asked for is the smallest diagram that agrees with a function where it is defined;
 * that is hard to find in general, and quick by sibling substitution (Coudert and Madre, ICCAD 1990).
 */
#ifndef SPOOR_WIDEN_H
#define SPOOR_WIDEN_H

#include "trace/model/rankmap.h"

#define WIDEN_NODES 512 /* larger maps are left as they are: it may take the square of the nodes */

/* What was compared before. Zero-initialised is empty. */
#define WIDEN_KEPT 1024
struct widening {
	uint32_t turn;
	struct widen_pair {
		uint32_t turn, to, in;
		int verdict;
		int64_t offset;
	} kept[WIDEN_KEPT];
};

/* Does the diagram below `to`, of this level, say of all ranks of m what m says, up to a number that is added to all
 * plain values? Then that is *offset. */
bool widen_covers(struct widening *w, const struct rank_loom *l, uint32_t to, uint32_t level, const struct rankmap *m,
                  int64_t *offset);
/* Are there ranks below 2^level of which m says nothing? */
bool widen_has_holes(const struct rankmap *m, uint32_t level);
/* Adds a diagram for all ranks below 2^level (m's level or more) that covers m to the loom. Returns the edge to it,
 * ABSENT if m is too large. */
struct rank_edge widen(struct widening *w, struct rank_loom *l, const struct rankmap *m, uint32_t level);

#endif
