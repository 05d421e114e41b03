/* SPDX-License-Identifier: BSD-3-Clause
 * request_array - what the handles of an array mean, where most of them meant it the last time
 *
 * A program that polls passes the same array again and again, and what is completed in between are a few of its
 * requests. So what the last array meant is kept, and only a handle that is another one than it was, or whose request
 * ended (request_table.ends), is looked up:
 *
 *     array   A B C D      numbers 0 1 2 3
 *     the call completes B, and a new request, again with the handle B, gets its place
 *     array   A B C D      only B is looked up, since request_array_end() was told of it
 *
 * It is of use with one thread in MPI, and as long as no two live requests have one handle.
 */
#ifndef SPOOR_REQUEST_ARRAY_H
#define SPOOR_REQUEST_ARRAY_H

#include "preload/request.h"

/* Longer arrays are looked up as a whole each time. All of it takes 40 kB, which are only touched as far as they are
 * used. */
#define REQUEST_ARRAY_MOST 1024

extern struct request_array {
	size_t n;        /* 0: nothing is known */
	uint32_t ends;   /* request_table.ends, when it was known */
	unsigned traits; /* that any of them has, or had */
	int64_t null;    /* what `values` has for REQUEST_NONE */
	struct request_ref refs[REQUEST_ARRAY_MOST];
	int64_t values[REQUEST_ARRAY_MOST]; /* their numbers */
	uint64_t bits[REQUEST_ARRAY_MOST];
} request_array __attribute__((visibility("hidden")));

/* As request_find_all, into request_array. False: the array is none that can be kept, and nothing is known. */
bool request_array_find(const uint64_t *bits, size_t n, uint64_t null);
/* Makes request_array.values have `value` for each REQUEST_NONE. */
void request_array_set_null(int64_t value);
/* After a call that was passed that array, and made `now` of it (as bits): ends those that are null now. */
void request_array_end(const uint64_t *now, uint64_t null);
/* The same after a call that completed the one at `i`, and no other. */
void request_array_end_one(size_t i, const uint64_t *now, uint64_t null);

#endif
