/* SPDX-License-Identifier: BSD-3-Clause
 * counts_file - the chunk CNTR: what is refused, damage, and tables of counters that are merged
 */
#include "trace/file/counts_file.h"

#include "tests/unit/chunk.h"
#include "trace/model/counts.h"

static void test_refused(int how, const char *what)
{
	struct chunk_test x;
	uint64_t many[1 + 4 * (TRACE_COUNTERS + 1)] = {TRACE_COUNTERS + 1};
	for (size_t i = 0; i <= TRACE_COUNTERS; i++)
		many[1 + 4 * i] = i;
	chunk_test_begin(&x, "CNTR", 3, SAMPLE_DETAIL | how);
	ok(chunk_look(&x, "", 0), "%s: refused: nothing", what);
	ok(chunk_numbers(&x, many, sizeof many / sizeof *many), "%s: refused: more counters than there can be", what);
	ok(chunk_numbers(&x, NUMBERS(1, 1 << 20, 3, 0, 0)), "%s: refused: a name that is no string", what);
	ok(chunk_numbers(&x, NUMBERS(1, 1, 3, 0, 1 << 20)), "%s: refused: a reason that is no string", what);
	ok(chunk_numbers(&x, NUMBERS(1, 1, 3, 0, 0)), "%s: refused: a counter without values", what);
	ok(!chunk_numbers(&x, NUMBERS(0)) && chunk_numbers(&x, NUMBERS(0, 0)),
	   "%s: no counters; refused: bytes behind them", what);
	chunk_damage(&x, what);
	ok(fails_well(chunk_decode_again, &x), "%s: no memory", what);
	chunk_test_end(&x);
}

/* Two counters, and as many empty histograms as it takes. Returns whether any number of them is taken. */
static bool two_counters(uint64_t first, uint64_t second)
{
	struct chunk_test x;
	uint64_t list[100] = {2, first, 3, 0, 0, second, 3, 0, 0};
	bool taken = false;
	chunk_test_begin(&x, "CNTR", 3, SAMPLE_DETAIL | SAMPLE_PART);
	for (size_t n = 9; n < 100; n++)
		taken |= !chunk_numbers(&x, list, n);
	chunk_test_end(&x);
	return taken;
}

/* Counters by name, whatever their numbers were. */
static void test_merge(void)
{
	struct trace into, from;
	uint32_t numbers[TRACE_COUNTERS], strings[4] = {0};
	if (trace_init(&into) != 0 || trace_init(&from) != 0)
		abort();
	uint32_t a = pool_intern(&into.strings, "a", 1), b = pool_intern(&into.strings, "b", 1);
	uint32_t fb = pool_intern(&from.strings, "b", 1), fa = pool_intern(&from.strings, "a", 1);
	strings[fa] = a;
	strings[fb] = b;
	counts_tell(&into, counts_number(&into, a), 2, 1, b);
	counts_tell(&from, counts_number(&from, fb), 3, 0, 0);
	counts_tell(&from, counts_number(&from, fa), 1, 4, fa);
	counts_merge(&into, &from, strings, numbers);
	ok(into.counter_count == 2 && numbers[0] == 1 && numbers[1] == 0, "counters are found by their names");
	ok(into.counters[0].ranks == 3 && into.counters[0].missing == 5 && into.counters[0].reason == a &&
	           into.counters[1].ranks == 3 && into.counters[1].reason == 0,
	   "ranks add up; of two reasons the first in the order of bytes is kept");
	for (uint32_t i = 10; i < 10 + TRACE_COUNTERS - 2; i++)
		counts_number(&into, i);
	ok(counts_number(&into, 99) == UINT32_MAX && counts_number(&into, a) == 0 &&
	           into.counter_count == TRACE_COUNTERS,
	   "no more than there can be");
	trace_free(&into);
	trace_free(&from);
}

int main(void)
{
	test_refused(0, "final");
	test_refused(SAMPLE_PART, "a part");
	ok(two_counters(1, 2) && !two_counters(1, 1), "two counters; refused: the same one twice");
	test_merge();
	return tap_end();
}
