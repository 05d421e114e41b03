/* SPDX-License-Identifier: BSD-3-Clause
 * walk_inside - where a walk is: for walk.c and walk_repeat.c alone
 */
#ifndef SPOOR_WALK_INSIDE_H
#define SPOOR_WALK_INSIDE_H

#include "trace/model/cursor.h"
#include "trace/model/pattern.h"
#include "trace/read/walk.h"

/* Where the walk was: all cursors that are open and not constant. */
struct walk_mark {
	uint64_t at;    /* number of the event that comes next */
	uint64_t every; /* events until the next mark; 0: there is none yet */
	uint64_t opened, credit;
	uint64_t walked; /* events since a leap over many */
	uint32_t site;
	struct walk_place {
		struct column_cursor *cursor;
		uint64_t left, known;
		uint32_t token, depth, first; /* its levels */
	} * places;
	struct pattern_level *levels;
	uint32_t count, capacity, level_count, level_capacity;
	uint32_t differed; /* the place that differed last: where it will be seen first that another one differs */
};

struct walk {
	const struct trace *trace;
	uint32_t rank, stream;
	uint64_t events, next;
	uint32_t site;
	bool unordered;
	struct column_cursor **sites; /* cursors of each site, made at its first visit */
	uint64_t opened;              /* how many cursors were */
	uint64_t *skip;               /* visits of each site before the place where the walk began; NULL: none */
	struct pattern *patterns;     /* parsed when first used */
	int64_t *comm_ranks;
	size_t comm_count;
	struct pool_item edited[SCHEMA_MAX]; /* event.edited */
	struct pool own;                     /* arrays of this rank that are no arrays of the trace */
	struct walk_mark mark;
};

#endif
