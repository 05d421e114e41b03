/* SPDX-License-Identifier: BSD-3-Clause
 * numbering - gives out the lowest number that is free
 *
 * A program that makes and frees a datatype for each message has one number for all of them: its columns stay constant.
 */
#ifndef SPOOR_NUMBERING_H
#define SPOOR_NUMBERING_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised, all numbers are free. */
struct numbering {
	uint64_t *taken; /* bitmap */
	size_t words;
	size_t first; /* no word before this one has a free number */
};

/* The lowest free number, which is taken then; -1 without memory, or past INT32_MAX. */
int32_t numbering_take(struct numbering *n);
/* Makes a number that was taken free again. */
static inline void numbering_give(struct numbering *n, int32_t number)
{
	size_t w = (size_t)number / 64;

	n->taken[w] &= ~((uint64_t)1 << number % 64);
	if (w < n->first)
		n->first = w;
}
/* Which bit of a word that is not 0 is its lowest one. (The builtin's result is an int: widened, and kept free of what
 * was in the register, that is three instructions more.) */
static inline uint64_t numbering_lowest(uint64_t word)
{
#ifdef __x86_64__
	uint64_t bit;

	__asm__("rep bsf %1, %0" : "=r"(bit) : "r"(word) : "cc");
	return bit;
#else
	return (uint64_t)__builtin_ctzll(word);
#endif
}
/* The word with one more bit. */
static inline uint64_t numbering_with(uint64_t word, uint64_t bit)
{
#ifdef __x86_64__
	__asm__("btsq %1, %0" : "+r"(word) : "r"(bit) : "cc");
	return word;
#else
	return word | UINT64_C(1) << bit;
#endif
}
/* All are free again; the memory is given back. */
void numbering_reset(struct numbering *n);

#endif
