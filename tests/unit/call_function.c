/* SPDX-License-Identifier: BSD-3-Clause
 * call_function - calls of a program that differ in their values only, as calls of a function
 */
#include "proxy/call_function.h"

#include <string.h>

#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"

static struct tree tree;

static const struct tree_node *name(const char *text)
{
	return node_name(&tree, text);
}

static const struct tree_node *handle(const char *array, const struct tree_node *at)
{
	return node_2(&tree, NODE_AT, name(array), at);
}

static const struct tree_node *statement(const struct tree_node *n)
{
	return node_1(&tree, NODE_STATEMENT, n);
}

/* MPI_Thing with three values. */
static const struct tree_node *make_body(void)
{
	const struct tree_node *hole[3],
		*site = node_new(&tree, NODE_SITE, &(struct tree_node){.name = "site"}, NULL, 0);
	for (int i = 0; i < 3; i++)
		hole[i] = node_of(&tree, NODE_HOLE, i);
	return node_new(
		&tree, NODE_BLOCK, NULL,
		NODES(statement(node_call(&tree, "compute", NODES(site))),
	              statement(node_call(&tree, "MPI_Thing",
	                                  NODES(node_call(&tree, "buffer", NODES(name("OUT"), hole[0])), hole[0],
	                                        hole[1], node_1(&tree, NODE_DEREFERENCED, hole[2]))))));
}

static void add(struct call_functions *f, struct nodes *out, uint32_t number, const struct tree_node *count,
                const struct tree_node *comm)
{
	struct call_body body = {
		.mpi = "MPI_Thing",
		.node = make_body(),
		.parameters = 3,
		.types = {{"long ", "count"}, {"MPI_Comm ", "comm_here"}, {"MPI_Datatype *", "type_here"}}};
	const struct tree_node *type = node_1(&tree, NODE_ADDRESS, handle("type", node_number(&tree, 0)));
	struct call_made made = {
		.number = number,
		.indent = 1,
		.values = {count, comm, type},
		.before = node_new(&tree, NODE_SEQUENCE, NULL, &type, 0),
		.plain = node_1(
			&tree, NODE_SEQUENCE,
			statement(name("MPI_Thing(as it is, without a function, which is a rather long text)")))};
	if (call_functions_add(f, &tree, &body, &made, out) != 0)
		abort();
}

static void check(uint32_t calls, const struct tree_node *other_comm, const char *functions, const char *statements,
                  const char *title)
{
	struct call_functions f = {0};
	struct routines made = {0};
	struct names names = {0};
	struct nodes list = {0};
	for (uint32_t i = 0; i < calls; i++)
		add(&f, &list, 40 + i, i == 2 ? name("list_3[v]") : node_number(&tree, 7),
		    i == 3 ? other_comm : handle("comm", node_number(&tree, 4)));
	nodes_add(&tree, &list, statement(node_call(&tree, "last", NULL, 0)));
	const struct tree_node *body = nodes_end(&tree, NODE_BLOCK, &list);
	int rv = call_functions_choose(&f, &tree, &names, &made);
	char *then = text_of_statement(call_functions_expand(&f, &tree, body)), *defined = text_of_routines(&made);
	ok(rv == 0 && strstr(defined, functions) && (*functions || !*defined) && strstr(then, statements) &&
	           strstr(then, "\tlast();\n"),
	   "%s: %s%s", title, defined, then);
	free(then);
	free(defined);
	routines_free(&made);
	names_free(&names);
	call_functions_free(&f);
}

int main(void)
{
	const struct tree_node *four = handle("comm", node_number(&tree, 4)),
			       *five = handle("comm", node_number(&tree, 5));
	check(2, four, "", "as it is", "a few calls stay as they are");
	check(8, four,
	      "static void Thing(int site, long count)\n{\n\tcompute(site);\n"
	      "\tMPI_Thing(buffer(OUT, count), count, comm[4], type[0]);\n}\n\n",
	      "\tThing(40, 7);\n\tThing(41, 7);\n\tThing(42, list_3[v]);\n",
	      "what is always the same is in the function");
	check(8, five, "(int site, long count, MPI_Comm comm_here)", "Thing(43, 7, comm[5]);\n",
	      "so it is with handles");
	check(8, handle("comm", node_of(&tree, NODE_VISIT, 0)), "MPI_Comm comm_here", "Thing(43, 7, comm[v]);\n",
	      "and with expressions");
	tree_free(&tree);
	return tap_end();
}
