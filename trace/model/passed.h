/* SPDX-License-Identifier: BSD-3-Clause
 * passed - what the calls that did not end were passed: their arguments, by parameter and rank
 *
 *     MPI_Recv (site 4), ranks 0-2:   count   column 0   1 in all
 *                                     source  column 2   1, relative to the caller, in all
 *                                     comm    column 4   MPI_COMM_WORLD in all
 *     MPI_Waitall (site 7), rank 3:   requests, column 1: element 0 is 0 (r0), element 1 is 2 (r2)
 *
 * A value is what the column of the site would have got, had the call returned: the same encoding, the same numbers of
 * communicators, requests and windows (doc/events.md, "Kinds"; a value of kind p is relative to the caller's rank in
 * the communicator, trace/read/handles.h). What a rank was passed is not known of all parameters, nor of all ranks.
 *
 * Invariant: ordered by column, then by element; no map is empty.
 */
#ifndef SPOOR_PASSED_H
#define SPOOR_PASSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/rankmap.h"

/* Of an array so many elements are kept; its length is a parameter of the call as well. */
#define PASSED_ELEMENTS 64

struct passed {
	struct passed_value {
		uint32_t column, element; /* element: of an array; else 0 */
		struct rankmap value;
	} * each;
	uint32_t count;
};

/* Adds one rank's value. Returns 0, or -1: no memory, or it is there already. */
int passed_add(struct passed *p, uint32_t column, uint32_t element, uint32_t rank, int64_t value);
/* Adds a value at the end, which is in order; its ranks are the list's then. Returns 0 or -1. */
int passed_add_take(struct passed *p, const struct passed_value *value);
/* Adds those of other ranks; strings: the numbers here of the strings there, NULL: the same. Returns 0 or -1. */
int passed_join(struct passed *p, const struct passed *from, const uint32_t *strings);
/* The value of a parameter that a rank passed, an element of it if it is an array. False: it is not known. column: may
 * be negative, as schema.at is for a parameter that the function does not have. */
bool passed_get(const struct passed *p, int column, uint32_t element, uint32_t rank, int64_t *value);
void passed_free(struct passed *p);

#endif
