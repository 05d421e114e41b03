/* SPDX-License-Identifier: BSD-3-Clause
 * edited - a column of arrays that nothing compresses: what changes from visit to visit, as bits
 *
 * An array is kept once (record.vectors), and a column has its number. Where nearly each visit has an array of its own
 * - the requests that are still outstanding, fields of a datatype that are drawn - that takes the length of the array
 * for each. So such a column becomes raw (raw.h), and its raw values are not numbers of arrays but edits
 * (trace/model/edits.h): as many for each visit as it needs.
 *
 *     requests 0 1 2 3, 0 1 - 3, 0 1 - -      raw values -5 0 1 2 3, 9 -, 14
 *
 * It stays like that to its end. A reader of a crashed arena takes arrays until it has as many as there are visits.
 */
#ifndef SPOOR_EDITED_H
#define SPOOR_EDITED_H

#include "trace/record/raw.h"

/* Is a column, or a prefix, like that? */
static inline bool edited_is(const struct columns *x, const struct column *c)
{
	return c->raw && arena_at(x->arena, struct raw, c->raw)->edited;
}

/* A column of vectors has got a new one, of n elements: is it time to make it edited? */
bool edited_is_due(const struct columns *x, struct column *c, uint64_t visits, size_t n);
/* Would that save memory? A guess. */
bool edited_saves(const struct columns *x, const struct column *c, uint64_t visits);
/* Makes all `visits` values of a column of vectors edits. False: no memory; the column is as good as before. */
bool edited_make(struct columns *x, struct column *c, uint64_t visits);
/* Puts an array; n is SIZE_MAX: *values is a constant in place of one. False: no memory, or it is as large as a column
 * may be. */
bool edited_put(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n);
/* Puts the number of a vector, or a constant. */
bool edited_turn(struct columns *x, struct column *c, uint64_t visits, int64_t value);

/* take(context, values, n) for each of the first `visits` arrays, n as for edited_put. Returns 0, or -1: take did, or
 * there are not as many, or the arena is damaged. */
int edited_each(const struct arena *a, ref raw, uint64_t visits,
                int (*take)(void *context, const int64_t *values, size_t n), void *context);
/* How many raw values the first `visits` arrays take; UINT64_MAX: there are not as many. */
uint64_t edited_values(const struct arena *a, ref raw, uint64_t visits);

#endif
