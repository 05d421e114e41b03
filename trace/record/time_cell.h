/* SPDX-License-Identifier: BSD-3-Clause
 * time_cell - the times of a site or an edge, as small as they can be: one by one, until there are more than a few
 *
 *     few    visit << 40 | ticks + 1, of each value; 0: none
 *     list   more of them, behind how many there is room for: 3, 7 or 15
 *     full   struct record_time, which then has all of them; until then record.never, for which no time is plain
 *     at     where that is in the recorder's memory: readers do not look at it
 *
 * When memory is used up, a cell without a histogram becomes *poor*: `full` is record.poor, few[0] says how many values
 * there were, and few[1] their sum.
 *
 * The histogram, and a longer list, are whole before they are referred to. Once there is a histogram, their places are
 * the owner's: few[0] says how many values there were when it was made, and `list` is 0, or what the owner refers to
 * (record_class.h). `full` and `list` are one word, so that they change at once.
 */
#ifndef SPOOR_TIME_CELL_H
#define SPOOR_TIME_CELL_H

#include "trace/record/record_time.h"

#define TIME_FEW  2
#define TIME_LIST 15

struct time_cell {
	struct record_time *at;
	ref full;
	ref list; /* uint64_t: how many follow, and they; 0: none */
	uint64_t few[TIME_FEW];
};

/* What `full` refers to if there is no histogram: structures of zeroes. */
struct time_none {
	ref never, poor;
};

/* Of a zeroed cell. */
static inline void time_cell_init(const struct arena *a, struct time_cell *c, struct time_none none)
{
	c->full = none.never;
	c->at = arena_at(a, struct record_time, none.never);
}

/* Adds a value, which was that of this visit. Room as for record_time_add. */
void time_cell_add(struct arena *a, struct time_cell *c, struct time_none none, uint64_t ticks, uint64_t visit);

/* The values that are there one by one, in order, and the visit of each: at most TIME_FEW + TIME_LIST. Only for the
 * recorder's own memory. Returns how many; 0 if there is a histogram. */
uint32_t time_cell_values(const struct arena *a, const struct time_cell *c, uint64_t *ticks, uint64_t *visits);
/* From now on it has this histogram, of n values; the owner refers to `more`. */
void time_cell_become(struct arena *a, struct time_cell *c, ref full, ref more, uint64_t n);

/* The histogram in ns, as that of one rank; everything is checked. Returns 0; -1 on no memory, or if it is damaged. */
int time_cell_extract(struct histogram *to, const struct arena *a, const struct time_cell *c, struct time_none none,
                      double ns_per_tick, uint32_t rank);

#endif
