/* SPDX-License-Identifier: BSD-3-Clause
 * nodes - expressions and statements of a program, and how they are written
 */
#include "proxy/nodes.h"

#include <string.h>

#include "proxy/node_same.h"
#include "proxy/shape.h"
#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

static struct tree tree;

static const struct tree_node *number(int64_t v)
{
	return node_number(&tree, v);
}

static const struct tree_node *two(enum node_form form, const struct tree_node *a, const struct tree_node *b)
{
	return node_2(&tree, form, a, b);
}

static void check(const struct tree_node *n, const char *expected, const char *title)
{
	char *text = text_of_node(n);
	ok(strcmp(text, expected) == 0 && print_size(n) == strlen(expected), "%s: %s", title, text);
	free(text);
}

static void test_names(void)
{
	const char *a = tree_name(&tree, "count_3", 5), *b = tree_name(&tree, "count", 5);
	ok(strcmp(a, "count") == 0 && a == b, "a name is there once");
}

static void test_visits(void)
{
	const struct tree_node *v = node_of(&tree, NODE_VISIT, 0), *i = node_of(&tree, NODE_LOOP, 0),
			       *turn = two(NODE_MODULO, v, number(6)), *own = node_1(&tree, NODE_IN_BRACKETS, turn);
	check(node_visit(&tree, two(NODE_PLUS, v, number(1)), i, 0), "i + 1", "the number of a visit by another name");
	check(node_visit(&tree, two(NODE_TIMES, number(2), own), i, 6), "2 * i",
	      "what is always less needs no remainder");
	check(node_visit(&tree, own, i, 7), "(i % 6)", "but for that of another number");
	ok(node_visit(&tree, number(3), i, 0)->form == NODE_NUMBER && node_count(own, NODE_VISIT, -1) == 1,
	   "what has none stays");
}

static void test_same(void)
{
	struct definitions d = {0};
	struct definition *a = definition_table(&d, &tree, "table", 0), *b = definition_table(&d, &tree, "table", 1);
	const struct tree_node *x = node_use(&tree, a), *y = node_use(&tree, b);
	ok(!node_same(x, y), "two tables are not the same");
	b->same = a;
	ok(node_same(x, y) && node_hash(x) == node_hash(y), "unless one stands for the other");
	check(y, "table_0", "it is called so then");
	ok(!node_same(number(1), number(2)) && node_same(two(NODE_PLUS, x, number(1)), two(NODE_PLUS, y, number(1))),
	   "so it is with what they are in");
	definitions_free(&d);
}

static const struct tree_node *send(int64_t site, const struct tree_node *count)
{
	return node_1(
		&tree, NODE_STATEMENT,
		node_call(&tree, "Send", NODES(node_of(&tree, NODE_SITE, site), count, node_of(&tree, NODE_VISIT, 0))));
}

static const struct tree_node *fill(void *context, struct tree *t, uint32_t hole)
{
	return hole == 1 ? node_name(t, context) : NULL;
}

static void test_shapes(void)
{
	const struct tree_node *rank = two(NODE_EQUAL, node_name(&tree, "rank"), number(2)), *a = send(1, number(5)),
			       *b = send(9, rank), *c = send(1, node_call(&tree, "f", NODES(number(5))));
	struct holes holes = {0};
	uint32_t next = 0;
	ok(shape_same(a, 0, b, 3) && shape_hash(a, 0) == shape_hash(b, 3),
	   "numbers and functions of the rank are holes");
	ok(!shape_same(a, 0, c, 0), "a call is none");
	ok(shape_holes(b, &holes) == 0 && holes.count == 2 && holes.each[0].kind == HOLE_SITE &&
	           holes.each[1].of == rank && strcmp(holes.each[1].call, "Send") == 0 && holes.each[1].argument == 1,
	   "they are known in order, with where they are");
	budget_free(holes.each);
	char *text = text_of_statement(shape_fill(&tree, b, 0, fill, "count", &next));
	ok(strcmp(text, "\tSend(9, count, v);\n") == 0 && next == 2, "and are filled: %s", text);
	free(text);
	const struct tree_node *one = node_of(&tree, NODE_LOOP, 1), *other = node_of(&tree, NODE_LOOP, 3);
	ok(shape_same(one, 2, other, 4) && !shape_same(one, 2, other, 3), "a loop is known by how far it is");
}

static void test_release(void)
{
	const struct tree_node *kept = two(NODE_PLUS, node_name(&tree, "kept"), number(17));
	const struct tree_mark mark = tree_mark(&tree);
	const struct tree_node *first = node_named(&tree, NODE_NAME, "first"), *seven = number(7);
	const char *name = tree_name(&tree, "lasting", 7);
	for (int i = 0; i < 10000; i++)
		two(NODE_PLUS, first, number(i));
	tree_release(&tree, mark);
	ok(node_named(&tree, NODE_NAME, "again") == first, "what is given back is used again");
	ok(seven->number == 7 && number(7)->number == 7 && tree_name(&tree, "lasting", 7) == name &&
	           strcmp(name, "lasting") == 0,
	   "but for names and numbers");
	check(kept, "kept + 17", "what was there before stays");
	ok(number(7) == number(7) && number(INT64_MIN) == number(INT64_MIN), "a number is one node");
}

int main(void)
{
	const struct tree_node *rank = node_name(&tree, "rank"), *list[] = {number(1), number(INT64_C(1) << 40)};
	test_names();
	check(number(-5), "-5", "a number");
	check(node_new(&tree, NODE_LIST, NULL, list, 2), "{1, 1099511627776L}", "a list, with a large one");
	check(node_sum(&tree, rank, 0), "rank", "nothing is added");
	check(node_sum(&tree, rank, -4), "rank - 4", "a number is subtracted");
	check(node_choice(&tree, two(NODE_LESS, rank, number(3)), number(1), number(0)), "rank < 3 ? 1 : 0",
	      "a choice");
	check(node_new(&tree, NODE_COMPOUND, &(struct tree_node){.name = "MPI_Comm"}, &rank, 1), "&(MPI_Comm){rank}",
	      "the address of a value");
	check(node_format(&tree, "f($)[$]", NODES(rank, number(2))), "f(rank)[2]", "a format");
	check(node_new(&tree, NODE_SITE, &(struct tree_node){.name = "site", .number = 2}, NULL, 0), "site + 2",
	      "what is counted from a parameter on");
	test_visits();
	test_release();
	test_same();
	test_shapes();
	tree_free(&tree);
	return tap_end();
}
