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
#include <stdio.h>

struct point {
	int64_t x, y; /* x is not negative */
};

struct fit {
	const char *x; /* what the expression is a function of: "rank" */
	int64_t size;  /* of MPI_COMM_WORLD, whose divisors are tried as sides of grids */
	bool plain;    /* values are no numbers: they can only be chosen from */
	bool strict;   /* of such: nothing is written, and fit_write returns -1, if there is no condition for it */
	/* How a value is written; NULL: as a number. is_name: is it none? */
	void (*leaf)(void *context, int64_t y, FILE *out);
	bool (*is_name)(int64_t y);
	void *context;
	FILE *tables;          /* gets definitions of tables */
	uint32_t *table_count; /* so many there are already */
	int failed;            /* out of memory */
};

/* Writes the expression; with parentheses if it is more than one term. Points may come twice, and their order is
 * changed. Returns how much it is: 0 a constant, 1 a term (rank + 1), 2 more. */
int fit_write(struct fit *f, struct point *points, size_t n, FILE *out);
/* Can a value be said by x alone: is there no x with two values? Sorts the points. */
bool fit_is_function(struct point *points, size_t n);

#endif
