/* SPDX-License-Identifier: BSD-3-Clause
 * sampler - every value is drawn as often as it came: a permutation is one, and all places of a tally have its numbers
 * and sums
 */
#include "replay/sampler.h"

#include <stdlib.h>

#include "tests/unit/tap.h"
#include "trace/model/value.h"

static bool is_permutation(uint64_t n, uint64_t seed)
{
	uint64_t stride = sampler_stride(n);
	bool *seen = calloc(n, sizeof *seen), good = seen != NULL;
	for (uint64_t i = 0; good && i < n; i++) {
		uint64_t to = sampler_permute(i, n, stride, seed);
		good = to < n && !seen[to];
		if (good)
			seen[to] = true;
	}
	free(seen);
	return good;
}

/* Each bin has its number of values, within its range, and their sum. */
static bool is_exact(const struct tally *t)
{
	uint64_t place = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct tally_bin *b = &t->bins[i];
		int64_t sum = 0;
		for (uint64_t k = 0; k < b->count; k++) {
			int64_t v = sampler_at(t, place++);
			if (v < b->min || v > b->max)
				return false;
			sum += value_is_constant(v) ? 0 : v;
		}
		if (!value_is_constant(b->min) && (uint64_t)sum != b->sum)
			return false;
	}
	return true;
}

int main(void)
{
	struct tally nothing = {NULL, 0, 0};
	int wrong = 0;
	random_seed(7);
	ok(sampler_at(&nothing, 0) == 0, "an empty tally has the value 0");
	ok(is_permutation(1, 5) && is_permutation(2, 5), "the shortest permutations");
	for (uint64_t n = 3; n < 400; n++)
		wrong += !is_permutation(n, random_next());
	ok(wrong == 0, "permutations of up to 400 numbers, %d wrong", wrong);
	ok(sampler_rank(-3, 1, 4) == 2 && sampler_rank(9, 1, 4) == 2 && sampler_rank(5, 2, 0) == 7,
	   "a drawn rank is one that there is, where there are ranks");
	ok(hash_four(1, 2, 3, 4) != hash_four(2, 1, 3, 4), "a hash depends on the order");
	wrong = 0;
	for (int round = 0; round < 100; round++) {
		struct tally t = {NULL, 0, 0};
		uint64_t n = 1 + random_below(500), range = UINT64_C(1) << random_below(40);
		for (uint64_t i = 0; i < n; i++)
			wrong += tally_add(&t,
			                   random_below(20) ? (int64_t)random_below(range) - (int64_t)random_below(3)
			                                    : VALUE_CONSTANT + (int64_t)random_below(4),
			                   1 + random_below(3)) != 0;
		wrong += !is_exact(&t);
		tally_free(&t);
	}
	ok(wrong == 0, "100 tallies, %d wrong", wrong);
	return tap_end();
}
