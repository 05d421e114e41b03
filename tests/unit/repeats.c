/* SPDX-License-Identifier: BSD-3-Clause
 * repeats - sequences as loops in loops, and back
 */
#include "proxy/repeats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/base/budget.h"

#define MOST 4096

static size_t unfold(const struct repeats *r, const uint32_t *s, size_t n, uint32_t *out, size_t count)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] < r->base) {
			if (count < MOST)
				out[count] = s[i];
			count++;
			continue;
		}
		const struct repeat *loop = &r->each[s[i] - r->base];
		for (uint64_t k = 0; k < loop->times; k++)
			count = unfold(r, loop->body, loop->length, out, count);
	}
	return count;
}

/* The length of what is found; 0: it is another sequence. */
static size_t found_length(const uint32_t *sequence, size_t n)
{
	uint32_t copy[MOST], back[MOST];
	size_t length = n;
	struct repeats r;
	memcpy(copy, sequence, n * sizeof *copy);
	if (repeats_find(&r, copy, &length, 8) != 0 || unfold(&r, copy, length, back, 0) != n ||
	    memcmp(back, sequence, n * sizeof *back) != 0)
		length = 0;
	repeats_free(&r);
	return length;
}

#define LENGTH(...) \
	found_length((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

#define MANY 300000

/* Each loop is looked for once: else this would take minutes. */
static void check_many(void)
{
	uint32_t *sequence = malloc((size_t)3 * MANY * sizeof *sequence);
	size_t n = 0;
	struct repeats r;
	while (n < (size_t)3 * MANY) {
		sequence[n] = (uint32_t)n / 3;
		n++;
	}
	ok(repeats_find(&r, sequence, &n, MANY) == 0 && n == MANY && r.count == MANY, "many loops: %zu symbols", n);
	repeats_free(&r);
	free(sequence);
}

int main(void)
{
	check_many();
	uint32_t nested[3000], random[3000];
	uint64_t state = 1;
	size_t n = 0;
	ok(LENGTH(1, 2, 3) == 3, "nothing comes again");
	ok(LENGTH(1, 2, 1, 2, 1, 2) == 1, "a loop");
	ok(LENGTH(5, 1, 2, 1, 2, 1, 2, 5) == 3, "with something in front and behind");
	ok(LENGTH(1, 1) == 2, "a loop that would be as long is none");
	for (int i = 0; i < 40; i++) {
		for (int k = 0; k < 30; k++)
			nested[n++] = k % 2;
		for (int k = 0; k < 30; k++)
			nested[n++] = 2 + k % 3;
		nested[n++] = 7;
	}
	ok(found_length(nested, n) == 1, "loops in a loop");
	for (size_t i = 0; i < 3000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		random[i] = (uint32_t)(state >> 62);
	}
	ok(found_length(random, 3000) > 0, "what has no order comes back, too");
	return tap_end();
}
