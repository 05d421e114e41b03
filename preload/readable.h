/* SPDX-License-Identifier: BSD-3-Clause
 * readable - may what an argument points to be read?
 *
 * A library that refuses a call need not have looked at its arrays and strings, and some calls succeed without a look
 * at an array (MPI_Cart_map in Open MPI): the program runs, whatever its pointers are. So before the tracer reads what
 * the library perhaps has not read, it asks the kernel.
 */
#ifndef SPOOR_READABLE_H
#define SPOOR_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Can n elements of size bytes be read? otherwise: the answer where the kernel gives none (a filter of system calls).
 * NULL is false. Keeps errno. */
bool readable(const void *array, ptrdiff_t n, size_t size, bool otherwise);

/* The same for the array of a call that succeeded (ok), or failed. A small one of a call that succeeded was read by the
 * library. */
static inline bool readable_array(bool ok, const void *array, ptrdiff_t n, size_t size)
{
	return array && ((ok && (size_t)n <= 65536 / size) || readable(array, n, size, ok));
}

/* Bytes before the NUL; -1 if the text cannot be read up to there, or is longer than 64 KiB in a call that failed. s is
 * not NULL. */
ptrdiff_t readable_length_slowly(const char *s);

static inline ptrdiff_t readable_length(bool ok, const char *s)
{
	return ok ? (ptrdiff_t)strlen(s) : readable_length_slowly(s);
}

#endif
