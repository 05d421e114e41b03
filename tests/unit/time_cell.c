/* SPDX-License-Identifier: BSD-3-Clause
 * time_cell - unit test of trace/record/time_cell.c: damaged cells, no memory, and any number of times
 */
#include "trace/record/time_cell.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

static struct arena arena;
static struct time_none none;

static void begin(uint64_t size)
{
	if (arena_create(&arena, NULL, size, NULL) != 0)
		abort();
	none.never = arena_alloc(&arena, sizeof(struct record_time));
	none.poor = arena_alloc(&arena, sizeof(struct record_time));
	arena_commit(&arena);
}

static struct time_cell empty_cell(void)
{
	return (struct time_cell){.full = none.never};
}

static uint64_t some_ticks(uint64_t i)
{
	return i % 7 == 3 ? 0 : 1000 + i * 37 % 5000;
}

static void damaged(const char *title, struct time_cell c)
{
	struct histogram h;
	ok(time_cell_extract(&h, &arena, &c, none, 1, 0) == -1, "refused: %s", title);
	histogram_free(&h);
}

static void test_damaged(void)
{
	begin(UINT64_C(1) << 20);
	struct time_cell c = empty_cell();
	ref list = arena_alloc(&arena, 16 * sizeof(uint64_t));
	c.list = 1 << 24;
	damaged("a list behind the arena", c);
	c.list = list;
	*arena_at(&arena, uint64_t, list) = TIME_LIST + 1;
	damaged("a list that is too long", c);
	*arena_at(&arena, uint64_t, list) = UINT64_MAX;
	damaged("a list that is very much too long", c);
	*arena_at(&arena, uint64_t, list) = 3;
	arena_at(&arena, uint64_t, list)[1] = UINT64_C(5) << 40;
	damaged("a word without ticks in the list", c);
	c = empty_cell();
	c.few[0] = UINT64_C(1) << 40;
	damaged("a word without ticks", c);
	c = empty_cell();
	c.full = 1 << 24;
	damaged("a histogram behind the arena", c);
	arena_close(&arena);
}

/* Puts n times, and compares what comes out. */
static bool comes_back(uint64_t n, uint64_t plus, uint64_t first_visit)
{
	begin(UINT64_C(1) << 20);
	struct time_cell c = empty_cell();
	uint64_t sum = 0, min = UINT64_MAX, max = 0, least = 0, most = 0;
	struct histogram h;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t v = some_ticks(i) + plus;
		sum += v;
		least = v < min ? first_visit + i : least;
		min = v < min ? v : min;
		most = v > max ? first_visit + i : most;
		max = v > max ? v : max;
		time_cell_add(&arena, &c, none, v, first_visit + i);
	}
	bool good = time_cell_extract(&h, &arena, &c, none, 1, 3) == 0 && h.count == n && h.sum == sum;
	if (n > 0)
		good = good && h.min == min && h.max == max && h.min_visit == least && h.max_visit == most &&
		       h.min_rank == 3 && h.max_rank == 3;
	uint64_t in_bins = 0;
	for (uint32_t i = 0; i < h.bin_count; i++)
		in_bins += h.bins[i].count;
	good = good && in_bins == n && (c.full != none.never) == (n > TIME_FEW + TIME_LIST || (n && plus >> 40));
	histogram_free(&h);
	arena_close(&arena);
	return good;
}

/* Without memory, values are counted and added up. */
static void test_poor(void)
{
	uint64_t sum = 0;
	struct histogram h;
	begin(UINT64_C(1) << 16);
	struct time_cell c = empty_cell();
	for (uint64_t i = 0; i < 9; i++) {
		sum += some_ticks(i);
		time_cell_add(&arena, &c, none, some_ticks(i), i);
	}
	while (arena_alloc(&arena, 64))
		arena_commit(&arena);
	for (uint64_t i = 9; i < 100; i++) {
		sum += some_ticks(i);
		time_cell_add(&arena, &c, none, some_ticks(i), i);
	}
	ok(c.full == none.poor, "without memory there is no histogram");
	ok(time_cell_extract(&h, &arena, &c, none, 1, 0) == 0 && h.count == 100 && h.sum == sum,
	   "and values are counted and added up");
	histogram_free(&h);
	arena_close(&arena);
}

int main(void)
{
	static const uint64_t numbers[] = {0, 1, 2, 3, 5, 6, 9, 10, 17, 18, 19, 100, 5000};
	test_damaged();
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		ok(comes_back(numbers[i], 0, 0), "%d times come back", (int)numbers[i]);
	ok(comes_back(1, UINT64_C(1) << 40, 0), "a time that fits no word");
	ok(comes_back(9, UINT64_C(1) << 45, 0), "several");
	ok(comes_back(5, 0, (UINT64_C(1) << 24) - 5), "the last visits that fit a word");
	test_poor();
	return tap_end();
}
