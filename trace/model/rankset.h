/* SPDX-License-Identifier: BSD-3-Clause
 * rankset - sets of ranks by the values that a map has for them
 *
 * All of it is linear in the nodes of the map times the number of different values, whatever the number of ranks is.
 */
#ifndef SPOOR_RANKSET_H
#define SPOOR_RANKSET_H

#include "trace/model/rankmap.h"

/* The different values of a map without constants and references, ascending. Returns how many there are; 0 if more than
 * `limit`, or constants, or none; or -1 on no memory. */
int rankset_values(const struct rankmap *m, int64_t *values, unsigned limit);
/* The ranks that have this plain value, as a set. Returns 0 or -1. */
int rankset_where(struct rankmap *out, const struct rankmap *m, int64_t value);
/* The ranks of a set that are not in the other one. Returns 0 or -1. */
int rankset_without(struct rankmap *out, const struct rankmap *set, const struct rankmap *other);

#endif
