/* SPDX-License-Identifier: BSD-3-Clause
 * listing_alike - lines that stand in several places, but for their holes; a function for them
 */
#ifndef SPOOR_PROXY_LISTING_ALIKE_H
#define SPOOR_PROXY_LISTING_ALIKE_H

#include "proxy/listing.h"
#include "trace/base/budget.h"

#define GIVEN_MOST 8 /* parameters of a function, besides variables */

#define SPOT_NONE UINT32_MAX

/* A line where it stands. */
struct spot {
	struct listing_body *body;
	struct listing_line *line;
	uint32_t next; /* with its shape; SPOT_NONE: it is the last one */
};

/* A hole that a parameter is for: the line, counted from the first one of a place, and which one there. */
struct given {
	uint32_t line, hole;
	char name[32];
};

struct alike {
	const struct listing *b;
	struct spot *spots; /* all lines */
	uint32_t count, capacity;
	uint32_t *places, places_count, places_capacity; /* the first line of each */
	uint32_t length;                                 /* lines in each */
	struct given given[GIVEN_MOST];
	uint32_t given_count;
	uint32_t loops; /* around the lines whose variables a function is given, a bit for each, by how far they are */
	bool visit;     /* it is given `v` */
	uint64_t steps; /* lines that were looked at, and letters that were written: what it took until now */
};

/* So many steps more. Returns false: the trace's budget has run out. */
static inline bool alike_step(struct alike *x, uint64_t steps)
{
	x->steps += steps;
	return budget_step(steps);
}

/* Are so many lines the same but for their holes? */
bool alike_lines(const struct alike *x, uint32_t a, uint32_t b, uint32_t n);
/* Finds all places of lines from `first` on, which do not overlap. Returns 0, or -1: no memory, or no steps. */
int alike_find_places(struct alike *x, uint32_t first, uint32_t length);
/* What a function for them is given. Returns false: they cannot be one. */
bool alike_find_given(struct alike *x);
void alike_write_function(const struct alike *x, const char *name, FILE *out);
/* Its call in a place, without tabs. */
void alike_write_call(const struct alike *x, uint32_t place, const char *name, FILE *out);

#endif
