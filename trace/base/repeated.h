/* SPDX-License-Identifier: BSD-3-Clause
 * repeated - of messages that anybody can cause any number of, the first are said, and the others are counted
 *
 * Sixty thousand links to a damaged file are one thing to say, not sixty thousand. Where users are gone through one
 * after another, each has a count of their own: what one of them left does not hide what another one did.
 */
#ifndef SPOOR_REPEATED_H
#define SPOOR_REPEATED_H

#include <stdbool.h>
#include <stddef.h>

#define REPEATED_SAID 10

/* Counts one. Is it to be said? */
static inline bool repeated_next(size_t *count)
{
	return ++*count <= REPEATED_SAID;
}

/* How many were not said. */
static inline size_t repeated_more(size_t count)
{
	return count > REPEATED_SAID ? count - REPEATED_SAID : 0;
}

#endif
