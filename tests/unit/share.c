/* SPDX-License-Identifier: BSD-3-Clause
 * share - definitions that are the same become one
 */
#include "proxy/share.h"

#include <string.h>

#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"

static struct tree tree;
static struct definitions all;
static uint32_t number;

static void begin(void)
{
	number = 0;
	definitions_free(&all);
}

static struct definition *table(const char *kind, int64_t value)
{
	struct definition *d = definition_table(&all, &tree, kind, number++);
	definition_value(&tree, d, value, NULL);
	return d;
}

/* A function that asks for another definition. */
static struct definition *function(const char *kind, struct definition *of, uint32_t call)
{
	struct definition *d = definition_add(&all, &tree, kind, number++);
	d->text = node_format(&tree, "static long $(long v)\n{\n\treturn $[v];\n}\n\n",
	                      NODES(node_use(&tree, d), node_use(&tree, of)));
	d->call = call;
	return d;
}

static void check(const char *expected, const char *title)
{
	int rv = share_definitions(&all);
	char *text = text_of_definitions(&all);
	ok(rv == 0 && strcmp(text, expected) == 0, "%s: %s", title, text);
	free(text);
}

#define MANY 20000

/* Each is looked for once: else this would take hours. */
static void check_many(void)
{
	begin();
	struct definition *of = table("table", 1), *last = NULL;
	for (uint32_t i = 0; i < MANY; i++)
		last = function("array", of, i);
	ok(share_definitions(&all) == 0 && last->gone && definition_shared(last) == of->next && !of->next->gone,
	   "many arrays that are the same");
}

int main(void)
{
	check_many();
	begin();
	check("", "nothing to share");
	table("table", 1), table("table", 2);
	check("static const long table_0[] = {1};\nstatic const long table_1[] = {2};\n", "tables that differ stay");
	begin();
	table("table", 1), table("table", 1);
	check("static const long table_0[] = {1};\n", "tables that are the same");
	begin();
	struct definition *first = function("pick", table("table", 1), DEFINITION_NOWHERE),
			  *second = function("pick", table("table", 1), DEFINITION_NOWHERE);
	check("static const long table_0[] = {1};\nstatic long pick_1(long v)\n{\n\treturn table_0[v];\n}\n\n",
	      "functions that use what is the same");
	char *text = text_of_node(node_call(&tree, "f", NODES(node_use(&tree, first), node_use(&tree, second))));
	ok(strcmp(text, "f(pick_1, pick_1)") == 0, "who uses them uses the one that is there: %s", text);
	free(text);
	begin();
	struct definition *of = table("table", 1);
	function("next", of, DEFINITION_NOWHERE)->state = true;
	function("next", of, DEFINITION_NOWHERE)->state = true;
	check("static const long table_0[] = {1};\nstatic long next_1(long v)\n{\n\treturn table_0[v];\n}\n\n"
	      "static long next_2(long v)\n{\n\treturn table_0[v];\n}\n\n",
	      "what has a state is not shared");
	begin();
	of = table("table", 1);
	function("array", of, 7), function("array", of, 7), function("array", of, 8);
	check("static const long table_0[] = {1};\nstatic long array_1(long v)\n{\n\treturn table_0[v];\n}\n\n"
	      "static long array_2(long v)\n{\n\treturn table_0[v];\n}\n\n",
	      "arrays that are the same, but not those of one call");
	begin();
	tree_free(&tree);
	return tap_end();
}
