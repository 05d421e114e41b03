/* SPDX-License-Identifier: BSD-3-Clause
 * lossy_count - one value more in the tallies of an arena: what lossy.c and lossy_queue.c have in common
 *
 * Each of these is a part of the arena's operation under way. Blocks that are given up meanwhile are listed in a struct
 * retired, which begins with count 0, and are free after lossy_commit: until then the operation can be undone.
 */
#ifndef SPOOR_LOSSY_COUNT_H
#define SPOOR_LOSSY_COUNT_H

#include "trace/record/lossy.h"
#include "trace/record/record.h"

struct retired {
	struct {
		ref at;
		uint64_t capacity;
	} block[4];
	unsigned count;
};

static inline struct lossy *lossy_of(const struct columns *x, const struct column *c)
{
	return arena_at(x->arena, struct lossy, c->lossy);
}

/* A tally of the arena, to be looked at. */
static inline struct tally lossy_view(const struct columns *x, const struct lossy_tally *t)
{
	return (struct tally){arena_at(x->arena, struct tally_bin, t->bins), t->count, t->count};
}

void lossy_commit(struct columns *x, struct retired *old);
/* Makes `t` hold what `from` holds, in a new block. False: no memory. */
bool lossy_store(struct columns *x, struct lossy_tally *t, const struct tally *from, struct retired *old);
/* Adds to a tally; *others counts what no memory can be had for (NULL: nothing does). */
void lossy_add(struct columns *x, struct lossy_tally *t, int64_t value, uint64_t count, uint64_t *others,
               struct retired *old);
/* A run of values, or of successors, has ended. */
void lossy_count_run(struct columns *x, struct column *c, int64_t value, uint64_t length, struct retired *old);
/* A vector came `times` times; n is SIZE_MAX: *values is a constant in place of one. */
void lossy_count_vector(struct columns *x, struct lossy *l, const int64_t *values, size_t n, uint64_t times,
                        struct retired *old);

/* Values of one cell (tally.h) have about one hint, those of other cells mostly others: three bits of the exponent and
 * three more of a floating-point number. Constants are nowhere near small numbers. */
static inline unsigned lossy_hint(int64_t value)
{
	double d = (double)(int64_t)((uint64_t)value + 1);
	uint64_t bits;
	__builtin_memcpy(&bits, &d, sizeof bits);
	return bits >> 49 & (LOSSY_HINTS - 1);
}

static inline void lossy_count_in(struct arena *a, struct tally_bin *b, int64_t value, uint64_t count)
{
	if (value < b->min)
		arena_set(a, b->min, value);
	if (value > b->max)
		arena_set(a, b->max, value);
	arena_set(a, b->count, b->count + count);
	arena_set(a, b->sum, b->sum + (uint64_t)value * count);
}

#endif
