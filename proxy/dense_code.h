/* SPDX-License-Identifier: BSD-3-Clause
 * dense_code - numbers as letters, of which two have 13 bits
 *
 * Each number is coded by how far it is off a base, or off the one `back` places before. What came before already is a
 * copy (copies.h). A number of few bits is zeros, a one, and that many bits more: each zero skips what those can say.
 */
#ifndef SPOOR_PROXY_DENSE_CODE_H
#define SPOOR_PROXY_DENSE_CODE_H

#include <stdbool.h>
#include <stdio.h>

#include "proxy/copies.h"

/* A letter is one of 92: '#' is 0, and so on, but for two that texts of C do not have as they are. */
#define DENSE_LETTERS      92
#define DENSE_FIRST        '#'
#define DENSE_FOR_STROKE   ' ' /* in place of a backslash */
#define DENSE_FOR_QUESTION '!' /* in place of a question mark */
#define DENSE_PAIR_BITS    13
/* Letters of so many bits. */
#define DENSE_SIZE(bits) (2 * (((bits) + DENSE_PAIR_BITS - 1) / DENSE_PAIR_BITS))

/* Bits of what stands in front of the numbers. */
#define DENSE_BASE_BITS 5
#define DENSE_BACK_BITS 3
#define DENSE_BITS_BITS 1

/* Numbers that are larger, of either sign, are not coded: addresses are not. */
#define DENSE_MOST (INT64_C(1) << 48)

/* How numbers are written. */
struct dense_code {
	int64_t base;
	uint32_t back; /* 0: off the base */
	int bits;
	bool widens;   /* each zero in front of a number adds a bit to it, as Elias' code does; else none, as Rice's */
	uint64_t size; /* bits of all numbers */
	struct copies copies;
};

/* backs: what `back` may be. past: what copies may be of, too; NULL: nothing. Returns 0, or -1: no memory. The caller
 * frees the copies in any case. */
int dense_code_choose(struct dense_code *c, const int64_t *values, uint32_t count, const uint32_t *backs,
                      size_t back_count, const struct copies_past *past);

/* Letters in the making: zero but for `out`. */
struct letters {
	FILE *out;
	unsigned value, bits;
	uint64_t count;
};

void letters_number(struct letters *l, uint64_t v, int bits);
void letters_signed(struct letters *l, int64_t v, int bits);
/* How the numbers are coded, and they. */
void letters_code(struct letters *l, const struct dense_code *c, const int64_t *values, uint32_t count);
void letters_end(struct letters *l);

#endif
