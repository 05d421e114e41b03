/* SPDX-License-Identifier: BSD-3-Clause
 * rule - a value as a function of the number of ranks, the rank's place in a grid, and turns of loops
 *
 * A rule is found from the values at some points, and holds at all of them exactly. Ranks may be in groups, by where
 * they stand in the grid: first, last, or neither in a dimension; even or odd; in front of or behind the middle. In
 * each group a value is one of these:
 *
 *     the same everywhere
 *     a sum of at most four terms c * f * g (see term.h)
 *     of ranks: a place in the grid, each coordinate of which follows from the caller's
 *
 * What has more terms needs more points to be believed: more than there are coefficients.
 */
#ifndef SPOOR_EXTRAPOLATE_RULE_H
#define SPOOR_EXTRAPOLATE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/extrapolate/point.h"

enum rule_kind {
	RULE_NUMBER,
	RULE_PEER,  /* a rank, relative to the base of the point */
	RULE_LABEL, /* a number of something: it can only be the same */
};

struct value_rule;

/* The simplest rule for n values; first: the grid that is tried first; base: of each point, of peers only. NULL: there
 * is none (*failed is false), or no memory. The caller frees it with free(). */
struct value_rule *rule_fit(const struct world *worlds, unsigned first, const struct point *points,
                            const int64_t *values, const int64_t *base, size_t n, enum rule_kind kind, bool *failed);
/* The value at a point of a world. False: it is in a group in which no rank was. */
bool rule_value(const struct value_rule *r, const struct world *w, const struct point *p, int64_t base, int64_t *value);
/* The extent of a dimension. NULL: no memory. */
struct value_rule *rule_extent(unsigned grid, int dim);
/* Does the value follow from the group alone, whatever the size? */
bool rule_is_grouped(const struct value_rule *r);
#endif
