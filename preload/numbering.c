/* SPDX-License-Identifier: BSD-3-Clause
 * numbering - gives out the lowest number that is free
 */
#include "preload/numbering.h"

#include <stdlib.h>
#include <string.h>

int32_t numbering_take(struct numbering *n)
{
	size_t w = n->first;

	while (w < n->words && n->taken[w] == UINT64_MAX)
		w++;
	n->first = w;
	if (w >= INT32_MAX / 64)
		return -1;
	if (w == n->words) {
		size_t words = n->words ? 2 * n->words : 1;
		uint64_t *taken = realloc(n->taken, words * sizeof(*taken));

		if (!taken)
			return -1;
		memset(taken + n->words, 0, (words - n->words) * sizeof(*taken));
		n->taken = taken;
		n->words = words;
	}
	int bit = __builtin_ctzll(~n->taken[w]);

	n->taken[w] |= (uint64_t)1 << bit;
	return (int32_t)(w * 64 + bit);
}

void numbering_reset(struct numbering *n)
{
	free(n->taken);
	*n = (struct numbering){NULL, 0, 0};
}
