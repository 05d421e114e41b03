/* SPDX-License-Identifier: BSD-3-Clause
 * tidy - statements of a program without what they do not need
 */
#include "proxy/tidy.h"

#include <string.h>

#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"

static struct tree tree;

static const struct tree_node *call(const char *name)
{
	return node_1(&tree, NODE_STATEMENT, node_call(&tree, name, NULL, 0));
}

static const struct tree_node *given(const char *name, const struct tree_node *value)
{
	return node_1(&tree, NODE_STATEMENT, node_call(&tree, name, NODES(value)));
}

#define BLOCK(...) node_new(&tree, NODE_BLOCK, NULL, NODES(__VA_ARGS__))

static const struct tree_node *if_(const struct tree_node *block)
{
	return node_2(&tree, NODE_IF, node_name(&tree, "x"), block);
}

static const struct tree_node *loop(enum node_form form, int64_t number, const struct tree_node *block)
{
	return node_new(&tree, form, &(struct tree_node){.number = number},
	                NODES(node_call(&tree, "f", NODES(node_number(&tree, 3))), block));
}

static void check(const struct tree_node *n, const char *expected, const char *title)
{
	char *text = text_of_statement(tidy_statements(&tree, n));
	ok(strcmp(text, expected) == 0, "%s: %s", title, text);
	free(text);
}

int main(void)
{
	const struct tree_node *a = call("a"), *b = call("b"), *i = node_of(&tree, NODE_LOOP, 0), *empty[] = {NULL},
			       *v = node_declare(&tree, "const long ", "v", false, node_number(&tree, 1)),
			       *sequence = node_new(&tree, NODE_SEQUENCE, NULL, NODES(a, b));
	check(node_new(&tree, NODE_BLOCK, NULL, empty, 0), "", "nothing");
	check(BLOCK(if_(BLOCK(a)), b), "\tif (x)\n\t\ta();\n\tb();\n", "one statement in a block");
	check(BLOCK(if_(BLOCK(a, b))), "\tif (x) {\n\t\ta();\n\t\tb();\n\t}\n", "two of them");
	check(BLOCK(if_(BLOCK(if_(BLOCK(a))))), "\tif (x) {\n\t\tif (x)\n\t\t\ta();\n\t}\n", "a block in a block");
	check(BLOCK(if_(BLOCK(v))), "\tif (x) {\n\t\tconst long v = 1;\n\t}\n", "a variable");
	check(BLOCK(if_(BLOCK(BLOCK(v, a)))), "\tif (x) {\n\t\t{\n\t\t\tconst long v = 1;\n\t\t\ta();\n\t\t}\n\t}\n",
	      "a block of its own stays");
	check(BLOCK(if_(BLOCK(node_1(&tree, NODE_SEQUENCE, a)))), "\tif (x)\n\t\ta();\n",
	      "a sequence is part of its block");
	check(BLOCK(loop(NODE_FOR_END, 0, BLOCK(a, b))),
	      "\tfor (long i = f(3); i > 0; i--) {\n\t\ta();\n\t\tb();\n\t}\n",
	      "a loop whose variable nobody asks for");
	check(BLOCK(loop(NODE_FOR_END, 1, BLOCK(given("a", i)))), "\tfor (long j = f(3); j > 0; j--)\n\t\ta(i);\n",
	      "but for that of another one");
	check(BLOCK(loop(NODE_FOR_END, 0, BLOCK(given("a", i)))),
	      "\tfor (long i = 0, i_end = f(3); i < i_end; i++)\n\t\ta(i);\n", "one whose variable somebody asks for");
	check(BLOCK(loop(NODE_FOR, 0, BLOCK(a))), "\tfor (long i = 0; i < f(3); i++)\n\t\ta();\n",
	      "one whose number is said in each turn");
	check(BLOCK(node_new(&tree, NODE_SWITCH, NULL,
	                     NODES(node_name(&tree, "x"), node_1(&tree, NODE_CASE, BLOCK(a, b)),
	                           node_1(&tree, NODE_CASE, BLOCK(v, a)), node_1(&tree, NODE_CASE, sequence)))),
	      "\tswitch (x) {\n\tcase 0:\n\t\ta();\n\t\tb();\n\t\tbreak;\n\tcase 1: {\n\t\tconst long v = 1;\n"
	      "\t\ta();\n\t\tbreak;\n\t}\n\tcase 2:\n\t\ta();\n\t\tb();\n\t\tbreak;\n\t}\n",
	      "cases");
	tree_free(&tree);
	return tap_end();
}
