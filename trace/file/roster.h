/* SPDX-License-Identifier: BSD-3-Clause
 * roster - one list of values of which each rank has some
 *
 * A rank inside a grid asks who its 26 neighbours are; one in a corner asks for seven of them, in the same order. As
 * functions of the rank, the first, second, ... value of each say little. A roster is the list that all of them go
 * through: each item with the ranks that have it. Its values are offsets from something that the ranks have anyway:
 * their number, their coordinates in the grid (an array that another call gave to all of them), or nothing.
 *
 * In a file a roster takes the place of groups (doc/trace-format.md, "Rosters"); in memory they are groups like any
 * other.
 */
#ifndef SPOOR_ROSTER_H
#define SPOOR_ROSTER_H

#include "trace/model/trace.h"

#define ROSTER_ITEMS 128
#define ROSTER_WIDTH 8
#define ROSTER_NODES 1024 /* of the diagram of an item's ranks: reading stays quick whatever is in a file */

/* What values are offsets from. */
enum roster_base { ROSTER_NOTHING, ROSTER_RANK, ROSTER_MAP, ROSTER_BASES };

struct roster {
	struct rankmap ranks; /* all of them */
	bool vector;
	uint32_t width; /* of arrays; 1 if the values are numbers */
	struct {
		enum roster_base base;
		struct rankmap map; /* ROSTER_MAP: has all ranks; may have more */
	} from[ROSTER_WIDTH];
	uint32_t count;
	struct roster_item {
		struct rankmap ranks;
		int64_t offset[ROSTER_WIDTH];
	} * items;
};

/* Maps that rosters may be relative to: the elements of arrays that all ranks have. */
#define ROSTER_MAPS 6
struct roster_maps {
	const struct rankmap *map[ROSTER_MAPS];
	unsigned count;
};
void roster_maps_find(struct roster_maps *x, const struct trace *t);

void roster_free(struct roster *r);
/* Looks for a roster that stands for the groups of a column for which take[group] is set; clears it for those that it
 * does not stand for. Returns 1 if there is one; 0; or -1 on no memory. The caller frees *r in any case. */
int roster_find(struct roster *r, const struct trace *t, const struct trace_column *c, const struct roster_maps *maps,
                bool *take);
/* Adds the groups that it stands for to a column. Returns 0; 1 if it makes no sense; or -1 on no memory. */
int roster_expand(const struct roster *r, const struct trace *t, struct trace_column *c);

#endif
