/* SPDX-License-Identifier: BSD-3-Clause
 * torus - numbers of ranks and visits whose digits go round a grid
 */
#include "proxy/torus.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"

#define SIDE   4
#define VISITS 3

/* A function of a rank and a visit on a grid of 4 x 4; expected: its text; NULL: it is none. */
static void check(int64_t (*of)(int64_t column, int64_t row, int64_t v), const char *expected, const char *title)
{
	struct torus_point p[SIDE * SIDE * VISITS];
	struct torus t;
	struct tree tree = {0};
	size_t n = 0;
	for (int64_t x = 0; x < SIDE * SIDE; x++)
		for (int64_t v = 0; v < VISITS; v++)
			p[n++] = (struct torus_point){x, v, of(x % SIDE, x / SIDE, v)};
	bool found = torus_find(&t, p, n, SIDE * SIDE);
	char *text = text_of_node(found ? torus_make(&t, &tree, node_name(&tree, "rank"), node_of(&tree, NODE_VISIT, 0))
	                                : node_number(&tree, 0));
	ok(found == (expected != NULL) && (!found || strcmp(text, expected) == 0), "%s: %s", title, text);
	free(text);
	tree_free(&tree);
}

static int64_t shifted(int64_t column, int64_t row, int64_t v)
{
	return SIDE * row + (column + v) % SIDE;
}

static int64_t diagonal(int64_t column, int64_t row, int64_t v)
{
	return 100 + (row + column + SIDE - v) % SIDE + SIDE * ((v + SIDE - column) % SIDE);
}

static int64_t one_digit(int64_t column, int64_t row, int64_t v)
{
	return 7 + (2 * SIDE + column - row - v) % SIDE;
}

static int64_t none(int64_t column, int64_t row, int64_t v)
{
	return column * row * v;
}

static int64_t large(int64_t column, int64_t row, int64_t v)
{
	(void)row;
	return (INT64_C(1) << 40) + (column + v) % SIDE;
}

int main(void)
{
	struct torus t;
	ok(!torus_find(&t, NULL, 0, 16), "no points");
	check(none, NULL, "no such function");
	check(large, NULL, "numbers that are no int");
	check(one_digit, "7 + (8 + rank % 4 - rank / 4 - v) % 4", "one digit");
	check(shifted, "(rank % 4 + v) % 4 + 4 * ((rank / 4) % 4)", "a row that is shifted");
	check(diagonal, "100 + (4 + rank % 4 + rank / 4 - v) % 4 + 4 * ((4 - rank % 4 + v) % 4)", "two digits");
	return tap_end();
}
