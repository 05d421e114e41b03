/* SPDX-License-Identifier: BSD-3-Clause
 * unended - what killed ranks were doing: the chunk OPEN, what is refused of it; ranks together; canonical order
 */
#include "trace/model/unended.h"

#include "tests/unit/chunk.h"
#include "trace/read/hang.h"

/* Of all three ranks: site, what, ranks, sum, least, most - least, and who has them. */
#define ENTRY(site, computes, sum, least, range, low, high) site, computes, 0, sum, least, range, low, high

static void test_refused(void)
{
	struct chunk_test x;
	chunk_test_begin(&x, "OPEN", 3, SAMPLE_KILLED);
	ok(chunk_look(&x, "", 0) && !chunk_numbers(&x, NUMBERS(0)) && chunk_numbers(&x, NUMBERS(0, 0)),
	   "no entries; refused: nothing, bytes behind them");
	ok(!chunk_numbers(&x, NUMBERS(1, ENTRY(2, 0, 60, 10, 20, 0, 2))), "a call of three ranks");
	ok(!chunk_numbers(&x, NUMBERS(2, ENTRY(2, 0, 60, 10, 20, 0, 2), ENTRY(2, 1, 60, 20, 0, 0, 0))) &&
	           chunk_numbers(&x, NUMBERS(2, ENTRY(2, 1, 60, 10, 20, 0, 2), ENTRY(2, 0, 60, 20, 0, 0, 0))) &&
	           chunk_numbers(&x, NUMBERS(2, ENTRY(2, 0, 60, 10, 20, 0, 2), ENTRY(2, 0, 60, 20, 0, 0, 0))) &&
	           chunk_numbers(&x, NUMBERS(2, ENTRY(2, 0, 60, 10, 20, 0, 2), ENTRY(1, 0, 60, 20, 0, 0, 0))),
	   "refused: entries in disorder, or twice");
	ok(chunk_numbers(&x, NUMBERS(1, ENTRY(99, 0, 60, 10, 20, 0, 2))), "refused: a site that there is not");
	ok(chunk_numbers(&x, NUMBERS(1, ENTRY(2, 2, 60, 10, 20, 0, 2))), "refused: neither call nor computation");
	ok(chunk_numbers(&x, NUMBERS(1, ENTRY(2, 0, 29, 10, 20, 0, 2))) &&
	           chunk_numbers(&x, NUMBERS(1, ENTRY(2, 0, 93, 10, 20, 0, 2))),
	   "refused: a mean that is not between the least and the most");
	ok(chunk_numbers(&x, NUMBERS(1, ENTRY(2, 0, 60, 10, 20, 3, 2))) &&
	           chunk_numbers(&x, NUMBERS(1, ENTRY(2, 0, 60, 10, 20, 0, 3))) &&
	           chunk_numbers(&x, NUMBERS(1, ENTRY(2, 0, 60, 10, 20, UINT64_C(1) << 32, 2))),
	   "refused: ranks that are not in it");
	ok(chunk_numbers(&x, NUMBERS(1, ENTRY(2, 0, UINT64_MAX, 10, 20, 0, 2))) &&
	           chunk_numbers(&x, NUMBERS(1, ENTRY(2, 0, 60, 10, UINT64_MAX, 0, 2))) &&
	           chunk_numbers(&x, NUMBERS(1, ENTRY(2, 0, 3 * UNENDED_SANE + 6, UNENDED_SANE + 1, 2, 0, 2))),
	   "refused: times of more than any day");
	chunk_damage(&x, "OPEN");
	ok(fails_well(chunk_decode_again, &x), "no memory");
	chunk_test_end(&x);
}

static void test_together(void)
{
	struct trace t, other;
	const uint32_t moved[] = {3, 1, 0, 2};
	char text[128];
	size_t length;
	if (trace_init(&t) != 0 || trace_init(&other) != 0)
		abort();
	t.size = 8;
	ok(unended_function(&t, &length)[0] == '\0' && length == 0 && !hang_place(&t, 0), "nothing is known");
	ok(unended_add(&t, 0, true, 5, 70) == 0 && unended_add(&t, 0, true, 1, 30) == 0 &&
	           unended_add(&t, 0, false, 2, 7) == 0 && unended_add(&t, 0, true, 7, 70) == 0 && t.unended_count == 2,
	   "calls of a site are one, computations another");
	ok(unended_add(&t, 0, true, 5, 1) == -1, "a rank twice");
	ok(unended_add(&other, 1, false, 3, 4) == 0 && unended_add(&other, 2, true, 0, 30) == 0 &&
	           unended_merge(&t, &other, moved) == 0 && t.unended_count == 3,
	   "those of another trace, whose sites have other numbers here");
	unended_order(&t);
	const struct trace_unended *u = t.unended;
	ok(u[0].site == 0 && u[0].call && u[0].sum == 200 && u[0].min == 30 && u[0].min_rank == 0 && u[0].max == 70 &&
	           u[0].max_rank == 5 && rankmap_size(&u[0].ranks) == 4,
	   "sum and extremes; of several ranks the lowest");
	ok(u[1].site == 0 && !u[1].call && u[1].sum == 7 && u[2].site == 1 && !u[2].call && u[2].sum == 4,
	   "in order of site, calls first");
	ok(unended_call(&t) == &u[0] && hang_place(&t, 2) == &u[1] && !hang_place(&t, 6), "what a rank was doing");
	ok(strcmp(hang_ranks(text, sizeof text, &t, &u[0].ranks), "0-1,5,7") == 0, "its ranks: %s", text);
	trace_free(&other);
	trace_free(&t);
}

int main(void)
{
	test_refused();
	test_together();
	return tap_end();
}
