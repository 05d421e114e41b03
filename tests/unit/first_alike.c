/* SPDX-License-Identifier: BSD-3-Clause
 * first_alike - the first thing that is the same, in as many comparisons as there are things
 */
#include "proxy/first_alike.h"

#include "tests/unit/tap.h"

#define RANKS 100000

static uint64_t compared;

/* A rank has a number, of which there are as many as the context says. */
static bool same(const void *context, uint32_t a, uint32_t b)
{
	compared++;
	return a % *(const uint32_t *)context == b % *(const uint32_t *)context;
}

static void check(uint32_t kinds)
{
	struct first_alike f = {same, &kinds, {0}};
	bool good = true;
	compared = 0;
	for (uint32_t r = 0; r < RANKS; r++)
		good &= first_alike_find(&f, r, hash_mix(7, r % kinds)) == r % kinds;
	ok(good && compared <= RANKS, "%u kinds: %llu comparisons", kinds, (unsigned long long)compared);
	first_alike_free(&f);
}

int main(void)
{
	check(1);
	check(1000);
	check(RANKS);
	return tap_end();
}
