/* SPDX-License-Identifier: BSD-3-Clause
 * cell - unit test of trace/record/cell.c: one value as long as it stays, all values when it does not
 */
#include "trace/record/cell.h"

#include <stdlib.h>

#include "tests/unit/tap.h"
#include "trace/record/image.h"

static struct arena arena;
static struct columns columns;

static void begin(uint64_t size)
{
	if (arena_create(&arena, NULL, size, NULL) != 0 || columns_init(&columns, &arena) != 0)
		abort();
}

static void end(void)
{
	columns_free(&columns);
	arena_close(&arena);
}

static struct cell new_cell(void)
{
	struct cell c = {0};
	cell_init(&c);
	return c;
}

static void test_constant(void)
{
	struct column room;
	struct column_image image;
	begin(UINT64_C(1) << 20);
	struct cell c = new_cell();
	uint64_t used = arena.header->used;
	struct column *open = cell_open(&columns, &c, 0, &room);
	ok(open && column_extract(&columns, open, 0, false, &image) == 0 && image.dict_count == 0, "no value");
	column_image_free(&image);
	for (uint64_t i = 0; i < 1000; i++)
		cell_put(&columns, &c, i, 5);
	ok(!c.column && arena.header->used == used, "equal values need nothing but the cell");
	open = cell_open(&columns, &c, 1000, &room);
	ok(open && column_extract(&columns, open, 1000, false, &image) == 0 && image.dict_count == 1 &&
	           image.dict[0].start == 5 && image.dict[0].count == 1 && image.pattern.size == 0,
	   "and come back");
	column_image_free(&image);
	ok(cell_predict(&columns, &c, 1000) == 5, "and are what is expected");
	cell_remember(&c, 5, 77);
	ok(cell_expects(&c, 77) && !cell_expects(&c, 78), "what was encoded as the value is remembered");
	cell_put(&columns, &c, 1000, 6);
	ok(c.column && !cell_expects(&c, 77), "until another value comes");
	end();
}

/* A cell, and a column that got the same values, are taken out as the same. */
static bool as_column(uint64_t n, uint64_t first_other)
{
	begin(UINT64_C(1) << 20);
	struct cell c = new_cell();
	struct column *plain = arena_at(&arena, struct column, arena_alloc(&arena, sizeof *plain)), room;
	struct column_image a = {0}, b = {0};
	arena_commit(&arena);
	column_init(plain);
	for (uint64_t i = 0; i < n; i++) {
		int64_t v = i < first_other ? -9 : (int64_t)(i * i % 11);
		cell_put(&columns, &c, i, v);
		column_put(&columns, plain, i, v);
	}
	struct column *open = cell_open(&columns, &c, n, &room);
	bool good = open && column_extract(&columns, open, n, false, &a) == 0 &&
	            column_extract(&columns, plain, n, false, &b) == 0 && a.dict_count == b.dict_count &&
	            a.pattern.size == b.pattern.size;
	for (size_t i = 0; good && i < a.dict_count; i++)
		good = a.dict[i].start == b.dict[i].start && a.dict[i].count == b.dict[i].count;
	for (size_t i = 0; good && i < a.pattern.size; i++)
		good = a.pattern.data[i] == b.pattern.data[i];
	column_image_free(&a);
	column_image_free(&b);
	end();
	return good;
}

static void test_damaged(void)
{
	struct column room;
	begin(UINT64_C(1) << 20);
	struct cell c = new_cell();
	ok(!cell_open(&columns, &c, 1, &room), "refused: a visit, and no value");
	c.expect = VALUE_LOSSY;
	ok(!cell_open(&columns, &c, 1, &room), "refused: a value that is none");
	c.column = UINT32_MAX - 7;
	ok(!cell_open(&columns, &c, 1, &room), "refused: a column behind the arena");
	end();
}

static void test_forgotten(void)
{
	struct column room;
	begin(UINT64_C(1) << 16);
	struct cell c = new_cell();
	cell_put(&columns, &c, 0, 5);
	while (arena_alloc(&arena, 64))
		arena_commit(&arena);
	while (arena_alloc(&arena, 8))
		arena_commit(&arena);
	cell_put(&columns, &c, 1, 6);
	cell_put(&columns, &c, 2, 7);
	struct column *open = cell_open(&columns, &c, 3, &room);
	ok(c.column == CELL_FORGOTTEN && cell_is_lossy(&columns, &c), "without memory the values are forgotten");
	ok(open && open->lossy == LOSSY_FORGOTTEN, "and the reader is told");
	end();
}

int main(void)
{
	test_damaged();
	test_constant();
	ok(as_column(1, 0), "one value is as in a column");
	ok(as_column(2, 1), "the second value is another one");
	ok(as_column(3, 2), "the third one");
	ok(as_column(500, 100), "the hundredth one");
	ok(as_column(500, 0), "always another one");
	test_forgotten();
	return tap_end();
}
