/* SPDX-License-Identifier: BSD-3-Clause
 * edits - arrays that follow each other, as numbers: what differs from the array before
 *
 * Requests that a program waits for are an array of which a few elements change from call to call. Each of them as an
 * array of its own would take its length; as edits they take two numbers (doc/trace-format.md, "Groups of edits"):
 *
 *     5 6 7 8      -5 5 6 7 8     four elements (-1 - 4) follow
 *     5 6 9 8      9 9            element 2 is 9: 1 + (2 << 2)
 *     9 6 9 8      2              element 0 is what was written last: 1 + (0 << 2 | 1)
 *     9 6 9 8      0              the same array
 *     -            constant       no array, but a named constant; edits go on from the array before
 *
 * Bit 1 of an edit's number says that another one of the same array follows.
 */
#ifndef SPOOR_EDITS_H
#define SPOOR_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EDIT_SAME      1
#define EDIT_MORE      2
#define EDIT_POSITION  2                   /* bits below it */
#define EDITS_ELEMENTS (UINT64_C(1) << 24) /* of an array; more are damage */

static inline int64_t edit_number(uint64_t position, unsigned flags)
{
	return 1 + (int64_t)(position << EDIT_POSITION | flags);
}

static inline int64_t edit_literal(uint64_t elements)
{
	return -1 - (int64_t)elements;
}

/* Where a reader is. Zero-initialised is before the first number. */
struct edits {
	int64_t *values; /* the array that was complete last */
	uint64_t count, capacity;
	int64_t last, constant;
	bool is_constant; /* what came last is `constant` and no array */
	bool is_begun;    /* the one under way is not complete yet */
	uint8_t state;    /* edits.c */
	bool more;
	uint64_t at, wanted;
};

/* The next number. Returns 1: an array (or constant) is complete; 0: it is not yet; -1: damaged, or no memory. */
int edits_take(struct edits *e, int64_t number);
void edits_free(struct edits *e);

#endif
