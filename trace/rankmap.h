/* SPDX-License-Identifier: BSD-3-Clause
 * rankmap - a value for each rank of a set of ranks, as strided pieces
 *
 * A piece says: ranks first, first + step, ... (count of them) have value, value + slope, ... The pieces of a map are canonical: what a greedy
 * walk over the ranks in ascending order makes, whatever the order in which the map was put together. A rank set is a map whose values are
 * all 0. Values that are references (to strings, vectors, sites) and named constants never have a slope: their numbers mean nothing.
 */
#ifndef SPOOR_RANKMAP_H
#define SPOOR_RANKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_piece {
	uint32_t first, count, step; /* step >= 1; 1 if count is 1 */
	int64_t value, slope;        /* arithmetic modulo 2^64 */
};

struct rankmap {
	struct rank_piece *pieces; /* in ascending order of ranks, not overlapping */
	size_t count;
};

/* Collects pieces in ascending order of ranks and makes them canonical. Zero-initialised is empty; `references` forbids slopes. */
struct rankmap_builder {
	struct rankmap map;
	size_t capacity;
	struct rank_piece last; /* count 0: none */
	bool references, failed;
};

void rankmap_add(struct rankmap_builder *b, struct rank_piece piece);
/* Gives the map to the caller. Returns 0, or -1 (no memory; *out is empty). The builder is empty again. */
int rankmap_take(struct rankmap_builder *b, struct rankmap *out);

void rankmap_free(struct rankmap *m);
/* One rank. Returns 0 or -1. */
int rankmap_single(struct rankmap *m, uint32_t rank, int64_t value);
int rankmap_copy(struct rankmap *m, const struct rankmap *from);
/* All of a and b, which have no rank in common, into *out (which may be a). Returns 0, or -1: no memory, or a rank stands in both. */
int rankmap_union(struct rankmap *out, const struct rankmap *a, const struct rankmap *b, bool references);

/* True and the value, if the rank is in the map. */
bool rankmap_get(const struct rankmap *m, uint32_t rank, int64_t *value);
uint64_t rankmap_size(const struct rankmap *m); /* ranks */
/* Sum of all values. */
int64_t rankmap_sum(const struct rankmap *m);
bool rankmap_constant(const struct rankmap *m, int64_t *value); /* are all values equal? */
bool rankmap_same_ranks(const struct rankmap *a, const struct rankmap *b);

#endif
