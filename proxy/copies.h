/* SPDX-License-Identifier: BSD-3-Clause
 * copies - what of a list of numbers stands further in front of it, too (Lempel and Ziv 1977)
 *
 *     7 2 9 4 7 2 9 4 7 5    the numbers 7 2 9 4; 5 numbers from 4 places before; the number 5
 */
#ifndef SPOOR_PROXY_COPIES_H
#define SPOOR_PROXY_COPIES_H

#include <stdint.h>

struct copy {
	uint32_t at, length; /* in the list */
	uint32_t from;       /* so many places before */
};

struct copies {
	struct copy *each; /* in order */
	uint32_t count, capacity;
};

/* Bits of a number in the code of dense.h, of which the lowest `bits` are written as they are. */
static inline uint64_t gamma_bits(uint64_t v, int bits)
{
	return 2 * (uint64_t)(63 - __builtin_clzll(v + (UINT64_C(1) << bits))) - (uint64_t)bits + 1;
}

/* How the numbers of a copy are written, and how many numbers stand in front of it. */
#define COPY_NUMBERS_BITS 1
#define COPY_FROM_BITS    4
#define COPY_LENGTH_BITS  3

/* Numbers that stand in front of all lists. Zero-initialised is none. */
struct copies_past {
	int64_t *values;
	uint32_t *before; /* as in copies.c */
	uint32_t *latest;
	uint32_t count, value_capacity, before_capacity;
};

/* Adds a list. Returns 0, or -1: no memory. */
int copies_past_add(struct copies_past *p, const int64_t *values, uint32_t count);
void copies_past_free(struct copies_past *p);

/* Finds what becomes shorter. past: what stands in front of the list; NULL: nothing. bits: what each number takes
 * without. Returns 0, or -1: no memory. The caller frees c->each in any case. */
int copies_find(struct copies *c, const int64_t *values, const uint8_t *bits, uint32_t count,
                const struct copies_past *past);

#endif
