/* SPDX-License-Identifier: BSD-3-Clause
 * places - the arrays that a site has, each once
 *
 * On ranks whose runs and lengths are alike, the arrays of one run are one place.
 */
#ifndef SPOOR_PROXY_PLACES_H
#define SPOOR_PROXY_PLACES_H

#include "proxy/column_numbers.h"

struct places {
	struct numbers *n;
	uint32_t number; /* of the column */
	const struct schema_column *column;
	const char *type;
	bool lengths; /* are asked for */
	size_t followers;
	uint32_t *group; /* of each rank */
	uint32_t groups;
	struct place {
		uint32_t group;
		int64_t run;
		size_t width;
		bool absent;
	} * each;
	uint32_t count, capacity;
	uint32_t **of_run; /* by group: the place of each run */
};

/* Which ranks are alike. Returns 0, or -1: no memory. */
int places_group_ranks(struct places *p);
/* Finds them, for groups of ranks. Returns 0, or -1: no memory. */
int places_find(struct places *p);
/* The array of a rank in a run; NULL: it is none. */
const struct pool_item *places_vector(const struct places *p, uint32_t rank, int64_t run);
int64_t places_element(const struct pool_item *item, size_t i);
/* Is the array the same on all ranks of its place? *first: one of them. Then its elements are a function of their
 * position. */
bool places_shared(const struct places *p, const struct place *place, uint32_t *first);
/* Are the elements of all arrays numbered from the same one on? *first: that one. */
bool places_contiguous(const struct places *p, int64_t *first);
/* The same as a number: requests that are none are -1. */
int64_t places_number(const struct pool_item *item, size_t i);
/* Are there arrays in all runs, of requests, or of numbers that are no constants of MPI? */
bool places_are_numbers(const struct places *p);
/* Runs whose starts have become other ones: neighbours may be one now. Returns 0, or -1: no memory. */
int places_find_runs(const struct places *p, uint32_t rank, struct runs **of_rank);

#endif
