/* SPDX-License-Identifier: BSD-3-Clause
 * repeats - a sequence as loops in loops
 *
 *     a b a b a b c a b a b a b c     2 x (3 x (a b) c)
 */
#ifndef SPOOR_PROXY_REPEATS_H
#define SPOOR_PROXY_REPEATS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/index.h"

struct repeat {
	uint32_t *body; /* budget_malloc'ed */
	size_t length;
	uint64_t times;
};

struct repeats {
	uint32_t base; /* smaller ones are symbols of the sequence; the others are loops: each[symbol - base] */
	struct repeat *each;
	uint32_t count, capacity;
	struct index index; /* loops */
};

/* Makes loops of what comes again and again in a sequence, in place; *n becomes its length. Symbols are below `base`.
 * Returns 0, or -1: no memory. The caller frees it in any case. */
int repeats_find(struct repeats *r, uint32_t *sequence, size_t *n, uint32_t base);
void repeats_free(struct repeats *r);

#endif
