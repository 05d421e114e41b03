/* SPDX-License-Identifier: BSD-3-Clause
 * index - finds things in a pool by content: a hash table of numbers, in private memory
 *
 * The things stay in the pool; the index has half of the 64-bit hash of each and its number. Zero-initialised is empty.
 */
#ifndef SPOOR_INDEX_H
#define SPOOR_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index {
	struct index_slot {
		uint32_t hash, number; /* + 1; 0 is free */
	} * slots;
	size_t mask, count;
};

void index_free(struct index *x);
/* The number of the thing with this hash for which equal(context, number) is true, or INDEX_NONE. */
uint32_t index_find(const struct index *x, uint64_t hash, bool (*equal)(const void *context, uint32_t number),
                    const void *context);
/* Adds a number (less than INDEX_NONE). Returns 0, or -1 on no memory. */
int index_add(struct index *x, uint64_t hash, uint32_t number);

uint64_t hash_bytes(const void *bytes, size_t n);
/* Of four numbers, every bit of which depends on all of theirs: for what is drawn. */
uint64_t hash_four(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

#endif
