/* SPDX-License-Identifier: BSD-3-Clause
 * fit - functions of the rank as expressions
 */
#include "proxy/fit.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

#define NAME INT64_C(1000000)

static struct tree tree;

static const struct tree_node *make_leaf(void *context, int64_t y)
{
	(void)context;
	return y == NAME ? node_name(&tree, "NONE") : node_number(&tree, y);
}

static int64_t first_only(int64_t x)
{
	return x == 0;
}

static int64_t all_but_first(int64_t x)
{
	return x > 0;
}

static bool is_name(int64_t y)
{
	return y == NAME;
}

static void expect(int64_t (*f)(int64_t), int64_t size, const char *expected, const char *title)
{
	struct point points[64];
	uint32_t count = 0;
	struct definitions tables = {0};
	struct fit fit = {.tree = &tree,
	                  .x = node_name(&tree, "rank"),
	                  .size = size,
	                  .leaf = make_leaf,
	                  .is_name = is_name,
	                  .tables = &tables,
	                  .table_count = &count};
	for (int64_t x = 0; x < size; x++)
		points[size - 1 - x] = (struct point){x, f(x)};
	char *text = text_of_node(fit_make(&fit, points, (size_t)size, NULL));
	ok(strcmp(text, expected) == 0 && !tree.failed, "%s: %s", title, text);
	definitions_free(&tables);
	free(text);
}

/* The neighbour to the lower left on a grid of 4 rows of 4 that goes on at its other side, and a tag there. */
static int64_t aslant(int64_t x)
{
	return (x / 4 + 1) % 4 * 4 + (x + 3) % 4;
}

static int64_t tag_aslant(int64_t x)
{
	return 100 + (x % 4 + 1) % 4 + 32 * ((x / 4 + 3) % 4);
}

static int64_t row_around(int64_t x)
{
	return 7 - 2 * ((x / 3 + 1) % 5);
}

static int64_t seven(int64_t x)
{
	return (void)x, 7;
}

static int64_t next_one(int64_t x)
{
	return x + 1;
}

static int64_t around(int64_t x)
{
	return (x + 3) % 16;
}

static int64_t back_around(int64_t x)
{
	return (x + 15) % 16;
}

static int64_t in_row(int64_t x)
{
	return x / 4 * 4 + (x + 1) % 4;
}

static int64_t partner(int64_t x)
{
	return x ^ 4;
}

static int64_t mirror(int64_t x)
{
	return 15 - x;
}

static int64_t above(int64_t x)
{
	return x < 4 ? NAME : x - 4;
}

static int64_t right(int64_t x)
{
	return x % 4 == 3 ? NAME : x + 1;
}

static int64_t column(int64_t x)
{
	return 3 * (x % 4) + 7 * (x / 4);
}

static int64_t any(int64_t x)
{
	static const int64_t values[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
	return values[x];
}

static int64_t drawn_two(int64_t x)
{
	return x == 1 ? 1340 : x == 2 ? 1710 : 2000;
}

static int64_t drawn_line(int64_t x)
{
	return x == 0 ? 0 : x == 3 ? 99 : 102;
}

static int64_t drawn_three(int64_t x)
{
	return x == 0 ? 3 : x == 1 ? 5 : 7;
}

static int64_t only_last(int64_t x)
{
	return x == 2 ? 1 : 0;
}

static int64_t column_edge(int64_t x)
{
	return x % 2 ? NAME : x + 1;
}

static int64_t only_first(int64_t x)
{
	return x == 0 ? 60 : 0;
}

#define MANY 480

static unsigned asked;

static bool count_asked(int64_t y)
{
	asked++;
	return is_name(y);
}

/* Values without a rule: forms that hold for a point or two are not gone through inside of each other. */
static void check_irregular(void)
{
	struct point points[MANY];
	uint32_t count = 0, state = 1;
	struct definitions tables = {0};
	struct fit fit = {.tree = &tree,
	                  .x = node_name(&tree, "rank"),
	                  .size = MANY,
	                  .is_name = count_asked,
	                  .tables = &tables,
	                  .table_count = &count};
	for (int64_t x = 0; x < MANY; x++) {
		state = state * UINT32_C(1664525) + 1013904223;
		points[x] = (struct point){x, state >> 12};
	}
	char *text = text_of_node(fit_make(&fit, points, MANY, NULL));
	ok(strcmp(text, "table_0[rank]") == 0 && asked < 100 * MANY, "%d values without a rule: %u questions", MANY,
	   asked);
	free(text);
	definitions_free(&tables);
}

/* Ranks that are their own values, but for two: that holds for nearly all, with each of the many sides that a grid may
 * have, and there is no condition for the two. What that takes is counted, and ends with the budget. */
static void check_hostile(void)
{
	enum { POINTS = 5040, STEPS = 300 * POINTS };
	struct point *points = calloc(POINTS, sizeof *points);
	struct budget budget = {.memory = 1 << 24, .steps = STEPS};
	uint32_t count = 0;
	struct definitions tables = {0};
	struct fit fit = {.tree = &tree,
	                  .x = node_name(&tree, "rank"),
	                  .size = POINTS,
	                  .is_name = count_asked,
	                  .tables = &tables,
	                  .table_count = &count};
	for (int64_t x = 0; x < POINTS; x++)
		points[x] = (struct point){x, x == 1 || x == POINTS - 2 ? 0 : x};
	asked = 0;
	budget_begin(&budget);
	fit_make(&fit, points, POINTS, NULL);
	budget_end(&budget);
	ok(budget.spent && asked <= STEPS, "%d values that many forms nearly hold for: %u questions, %d steps", POINTS,
	   asked, STEPS);
	free(points);
	definitions_free(&tables);
}

int main(void)
{
	check_irregular();
	check_hostile();
	tree_free(&tree); /* it had no memory */
	struct point twice[] = {{1, 2}, {0, 5}, {1, 2}}, unclear[] = {{1, 2}, {0, 5}, {1, 3}};
	expect(seven, 16, "7", "a constant");
	expect(next_one, 16, "(rank + 1)", "a shift");
	expect(around, 16, "((rank + 3) % size)", "a ring");
	expect(back_around, 16, "((rank + size - 1) % size)", "a ring the other way");
	expect(in_row, 16, "(rank / 4 * 4 + (rank + 1) % 4)", "a ring in a row");
	expect(partner, 16, "(rank ^ 4)", "a partner");
	expect(mirror, 16, "(15 - rank)", "from the end");
	expect(above, 16, "(rank <= 3 ? NONE : rank - 4)", "a grid with an edge");
	expect(right, 16, "(rank % 4 == 3 ? NONE : rank + 1)", "the other edge");
	expect(column, 16, "(7 * (rank / 4) + 3 * (rank % 4))", "rows and columns");
	expect(aslant, 16, "(4 * ((rank / 4 + 1) % 4) + (rank + 3) % 4)", "aslant on a grid without an edge");
	expect(tag_aslant, 16, "(32 * ((rank / 4 + 3) % 4) + (rank + 1) % 4 + 100)", "a number for each place there");
	expect(row_around, 15, "(-2 * ((rank / 3 + 1) % 5) + 7)", "only rows");
	expect(first_only, 4, "(rank == 0 ? 1 : 0)", "the first one, and no grid of 2 x 2 with an exception");
	expect(all_but_first, 4, "(rank == 0 ? 0 : 1)", "all but the first one");
	expect(any, 16, "table_0[rank]", "a table where there is no rule");
	expect(only_first, 4, "(rank == 0 ? 60 : 0)", "one of four, although three points are on any grid");
	expect(drawn_two, 4, "table_0[rank]", "no line through two of four, as there is one through any");
	expect(drawn_line, 4, "table_0[rank]", "nor through the first and the last");
	expect(drawn_three, 4, "table_0[rank]", "no two conditions for three values of four");
	expect(only_last, 3, "(rank == 2 ? 1 : 0)", "one condition, however few ranks there are");
	expect(column_edge, 4, "(rank % 2 == 0 ? rank + 1 : NONE)", "the edge of a small grid");
	ok(fit_is_function(twice, 3) && !fit_is_function(unclear, 3), "one value for each x");
	tree_free(&tree);
	return tap_end();
}
