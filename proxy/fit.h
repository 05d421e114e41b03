/* SPDX-License-Identifier: BSD-3-Clause
 * fit - a function of the rank as an expression of C
 *
 *     1 2 3 0        (rank + 1) % size
 *     - 0 1 2        rank == 0 ? MPI_PROC_NULL : rank - 1
 *     1 0 3 2        rank ^ 1
 *     8 3 5 1        table_0[rank]
 *
 * An expression may be a function of something else than the rank (the rank in another communicator, the place in an
 * array). It is right for all points that are given, and says nothing about others.
 */
#ifndef SPOOR_PROXY_FIT_H
#define SPOOR_PROXY_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/fit_form.h"

struct point {
	int64_t x, y; /* x is not negative */
};

/* Makes the expression; in brackets if it is more than one term. Points may come twice, and their order is changed.
 * *level, which may be NULL: how much it is: 0 a constant, 1 a term (rank + 1), 2 more. NULL: see struct fit. */
const struct tree_node *fit_make(struct fit *f, struct point *points, size_t n, int *level);
/* Can a value be said by x alone: is there no x with two values? Sorts the points. */
bool fit_is_function(struct point *points, size_t n);

#endif
