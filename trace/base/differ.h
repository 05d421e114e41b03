/* SPDX-License-Identifier: BSD-3-Clause
 * differ - where two arrays of 64-bit words differ, for arrays of which few words do
 */
#ifndef SPOOR_DIFFER_H
#define SPOOR_DIFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t differ_pair __attribute__((vector_size(16), aligned(8), may_alias));

static inline bool differ_same_8(const void *a, const void *b)
{
	const differ_pair *p = a, *q = b, other = (p[0] ^ q[0]) | (p[1] ^ q[1]) | (p[2] ^ q[2]) | (p[3] ^ q[3]);
	return (other[0] | other[1]) == 0;
}

/* The first place from i on where they differ; n: there is none. Both are of 64-bit integers. */
static inline size_t differ_next(const void *a, const void *b, size_t i, size_t n)
{
	const uint64_t *p = a, *q = b;
	while (i + 8 <= n && differ_same_8(p + i, q + i))
		i += 8;
	while (i < n && p[i] == q[i])
		i++;
	return i;
}

#endif
