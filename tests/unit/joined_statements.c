/* SPDX-License-Identifier: BSD-3-Clause
 * joined_statements - statements of a program that stand in several places become calls of one function
 */
#include "proxy/joined_statements.h"

#include <string.h>

#include "proxy/shape.h"
#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

static struct tree tree;
static struct routines functions, calls;
static struct definitions tables;

/* ---- programs ---- */

#define BLOCK(...)       node_new(&tree, NODE_BLOCK, NULL, NODES(__VA_ARGS__))
#define CALL(name, ...)  node_1(&tree, NODE_STATEMENT, node_call(&tree, name_of(name), NODES(__VA_ARGS__)))
#define SITE(number)     node_of(&tree, NODE_SITE, number)
#define NUMBER(number)   node_number(&tree, number)
#define NEXT(number)     node_call(&tree, "next", NODES(node_of(&tree, NODE_QUEUE, number)))
#define LOOP(number)     node_of(&tree, NODE_LOOP, number)
#define PLUS(a, b)       node_2(&tree, NODE_PLUS, a, b)
#define TIMES(a, b)      node_2(&tree, NODE_TIMES, a, b)
#define IF(when, block)  node_2(&tree, NODE_IF, when, block)
#define VISIT            node_of(&tree, NODE_VISIT, 0)
#define RANK             node_name(&tree, "rank")
#define IS(number)       node_2(&tree, NODE_EQUAL, RANK, NUMBER(number))
#define FOR(i, n, block) node_new(&tree, NODE_FOR, &(struct tree_node){.number = i}, NODES(NUMBER(n), block))
#define INT              constant('t', "MPI_INT")
#define FAR(more)        PLUS(NUMBER(more), RANK)

static const char *name_of(const char *text)
{
	return tree_name(&tree, text, strlen(text));
}

static const struct tree_node *constant(char kind, const char *name)
{
	return node_new(&tree, NODE_CONSTANT, &(struct tree_node){.name = name, .number = kind}, NULL, 0);
}

static const struct tree_node *numbered(const char *name, unsigned number)
{
	char text[40];
	int n = snprintf(text, sizeof text, "%s_%u", name, number);
	return node_1(&tree, NODE_STATEMENT, node_call(&tree, tree_name(&tree, text, (size_t)n), NULL, 0));
}

static void begin(void)
{
	static const struct parameter send[] = {
		{"int ", "site"}, {"long ", "count"}, {"MPI_Datatype ", "datatype"}, {"long ", "dest"}};
	routines_free(&functions);
	routines_free(&calls);
	definitions_free(&tables);
	tree_free(&tree);
	routine_add(&calls, &tree, "Send", send, 4, BLOCK(CALL("compute", SITE(0))));
	routine_add(&calls, &tree, "Neighbor_allgather_of_all", send, 1, BLOCK(CALL("compute", SITE(0))));
}

static void add(const char *name, bool nameless, const struct tree_node *body)
{
	routine_add(&functions, &tree, name, NULL, 0, body);
	functions.each[functions.count - 1].nameless = nameless;
}

/* A function of its own for statements, between others that are nowhere else. */
static void add_place(unsigned i, const struct tree_node *block)
{
	char name[20];
	struct nodes all = {0};
	snprintf(name, sizeof name, "f_%u", i);
	nodes_add(&tree, &all, numbered("first", i));
	for (uint32_t k = 0; k < block->count; k++)
		nodes_add(&tree, &all, block->at[k]);
	nodes_add(&tree, &all, numbered("last", i));
	add(name, false, nodes_end(&tree, NODE_BLOCK, &all));
}

/* What becomes of it in so many steps; `made`: the new functions. */
static char *join(uint64_t steps, char **made)
{
	struct names names = {0};
	struct routines out = {0};
	int rv = joined_statements_make(&tree, &functions, &calls, &names, steps, &out);
	*made = text_of_routines(&out);
	ok(rv == 0 && !tree.failed, "joined");
	routines_free(&out);
	names_free(&names);
	return text_of_routines(&functions);
}

/* NULL: nothing is joined. */
static void check(const char *function, const char *call, const char *title)
{
	char *made, *then = join(JOINED_STEPS, &made);
	if (function)
		ok(strstr(made, function) && strstr(then, call), "%s: %s%s", title, made, then);
	else
		ok(*made == '\0', "%s: %s%s", title, made, then);
	free(made);
	free(then);
}

/* ---- tests ---- */

static void test_counted(void)
{
	begin();
	for (unsigned i = 0; i < 3; i++)
		add_place(i, BLOCK(IF(NEXT(20 * i),
		                      BLOCK(CALL("Send", SITE(20 * i + 3), NUMBER(7), INT, NEXT(20 * i + 1)))),
		                   CALL("Send", SITE(20 * i + 4), NUMBER(8), INT, NEXT(20 * i + 2)),
		                   CALL("Send", SITE(20 * i + 5), NUMBER(9), INT, NUMBER(9))));
	check("static void Send(int queue, int site)\n{\n\tif (next(queue)) {\n\t\tSend(site, 7, MPI_INT, next(queue + "
	      "1));\n\t}\n\tSend(site + 1, 8, MPI_INT, next(queue + 2));\n",
	      "\tfirst_1();\n\tSend(20, 23);\n\tlast_1();\n", "the numbers of queues and call sites");
}

static void test_given(void)
{
	begin();
	for (unsigned i = 0; i < 3; i++)
		add_place(i, BLOCK(IF(IS(i + 1), BLOCK(CALL("Send", SITE(20 * i + 3), NUMBER(i + 1), INT, FAR(1000)))),
		                   CALL("Send", SITE(20 * i + 4), NUMBER(i + 1), INT, FAR(3000))));
	check("static void Send(long when, int site, long count)\n{\n\tif (when) {\n", "\tSend(rank == 2, 23, 2);\n",
	      "what is a function of the rank");
	begin();
	for (unsigned i = 0; i < 3; i++) {
		struct definition *table = definition_table(&tables, &tree, "table", i == 1);
		add_place(i, BLOCK(IF(RANK, BLOCK(CALL("Send", SITE(20 * i + 3),
		                                       node_2(&tree, NODE_AT, node_use(&tree, table), RANK), INT,
		                                       FAR(1000)))),
		                   CALL("Send", SITE(20 * i + 4), NUMBER(1), INT, FAR(3000))));
	}
	check("(int site, const long *values)\n{\n\tif (rank) {\n\t\tSend(site, values[rank]", "\tSend(23, table_1);\n",
	      "a table, which is not asked before its condition");
}

/* Four loops, of which the inner one may ask for the variable of the outer one. */
static void add_loops(const struct tree_node *outer)
{
	begin();
	for (unsigned i = 0; i < 3; i++) {
		const struct tree_node *inner = TIMES(NUMBER(10), LOOP(1)), *count = outer ? PLUS(outer, inner) : inner;
		add_place(i, BLOCK(FOR(0, 3,
		                       BLOCK(FOR(1, 4, BLOCK(CALL("Send", SITE(20 * i + 3), count, INT, FAR(1000)))),
		                             numbered("vary", i)))));
	}
}

static void test_variables(void)
{
	add_loops(LOOP(0));
	check("static void Send(int site, long i)\n{\n\tfor (long j = 0; j < 4; j++) {\n\t\tSend(site, i + 10 * j",
	      "\t\tSend(23, i);\n", "the variable of a loop around it");
	add_loops(NULL);
	check("{\n\tfor (long i = 0; i < 4; i++) {\n\t\tSend(site, 10 * i", "\t\tSend(23);\n",
	      "the first loop has the first variable");
	for (int named = 0; named < 2; named++) {
		const char *name = named ? "count" : "v";
		begin();
		for (unsigned i = 0; i < 3; i++) {
			const struct tree_node *v = named ? node_named(&tree, NODE_LOCAL, name) : VISIT;
			add_place(
				i,
				BLOCK(node_declare(&tree, "const long ", name, false, NEXT(20 * i)),
			              CALL("Send", SITE(20 * i + 3), TIMES(NUMBER(10), v), INT, PLUS(NUMBER(1000), v)),
			              CALL("Send", SITE(20 * i + 4), TIMES(NUMBER(10), v), INT, PLUS(NUMBER(2000), v)),
			              numbered("vary", i)));
		}
		check(named ? NULL : "static void Send(int site, long v)\n{\n\tSend(site, 10 * v", "\tSend(23, v);\n",
		      named ? "another variable: it stays" : "the number of a visit");
	}
	begin();
	for (unsigned i = 0; i < 3; i++) {
		const struct tree_node *v = node_named(&tree, NODE_LOCAL, "count");
		add_place(i, BLOCK(BLOCK(node_declare(&tree, "const long ", "count", false, NEXT(20 * i)),
		                         CALL("Send", SITE(20 * i + 3), v, INT, PLUS(v, NUMBER(i + 1))))));
	}
	check("\t{\n\t\tconst long count = next(queue);\n\t\tSend(site, count, MPI_INT, count + ",
	      "\tfirst_1();\n\tSend(20, 23, 2);\n", "a block with its variable");
}

static void test_names(void)
{
	static const char *const names[] = {"part", "part_2", "solve", "put"};
	struct nodes calls_of_all = {0};
	begin();
	for (unsigned i = 0; i < 4; i++) {
		const struct tree_node *type = i == 1 ? constant('t', "MPI_DOUBLE") : INT;
		const struct tree_node *first =
			IF(IS(1), BLOCK(CALL("Send", SITE(2 * i + 1), NUMBER(1), type, FAR(1000))));
		const struct tree_node *second = CALL("Send", SITE(2 * i + 2), NUMBER(1), type, FAR(2000));
		add(names[i], i < 2, i == 2 ? BLOCK(first, second, CALL("release", NUMBER(1))) : BLOCK(first, second));
		nodes_add(&tree, &calls_of_all,
		          node_1(&tree, NODE_STATEMENT, node_call(&tree, name_of(names[i]), NULL, 0)));
	}
	add("all", false, nodes_end(&tree, NODE_BLOCK, &calls_of_all));
	check("(int site, MPI_Datatype datatype)\n{\n\tif (rank == 1) {\n\t\tSend(site, 1, datatype",
	      "static void solve(void)\n{\n\tSend(5, MPI_INT);\n\trelease(1);\n}\n\nstatic void "
	      "all(void)\n{\n\tSend(1, "
	      "MPI_INT);\n\tSend(3, MPI_DOUBLE);\n\tsolve();\n\tSend(7, MPI_INT);\n}\n\n",
	      "a handle is given, as what it is; functions that nobody named, and those of one line, are left out");
}

/* A function that does nothing but call one with a long name saves nothing, as its name is as long. */
static void test_end(void)
{
	begin();
	for (unsigned i = 0; i < 40; i++)
		add_place(i, BLOCK(CALL("Neighbor_allgather_of_all", SITE(20 * i + 3))));
	check(NULL, "", "it comes to an end");
}

#define PAIRS 5000

/* Statements that are in two places each: all in two functions, or each in functions of its own. */
static void add_pairs(bool apart)
{
	struct nodes all = {0};
	begin();
	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		char name[60];
		int n = snprintf(name, sizeof name, "long_enough_that_a_function_is_shorter_%u", i % PAIRS);
		const struct tree_node *value = node_call(&tree, tree_name(&tree, name, (size_t)n), NULL, 0);
		nodes_add(&tree, &all, IF(IS(i), BLOCK(CALL("Send", SITE(i), NUMBER(1), INT, value))));
		nodes_add(&tree, &all, CALL("Recv", SITE(i), NUMBER(1), NUMBER(2), value));
		nodes_add(&tree, &all, numbered("between", i));
		if (!apart && i % PAIRS != PAIRS - 1)
			continue;
		snprintf(name, sizeof name, "part_%u", i);
		add(name, false, nodes_end(&tree, NODE_BLOCK, &all));
	}
}

/* However many statements are alike, it takes no more than it may, and what a few looks at each of them take. */
static void test_many(uint64_t steps, bool apart)
{
	add_pairs(apart);
	struct budget budget = {.memory = UINT64_C(1) << 32, .steps = UINT64_C(1) << 40};
	char *before = text_of_routines(&functions), *made;
	uint64_t most = steps + strlen(before) + 100 * 8 * PAIRS;
	budget_begin(&budget);
	char *then = join(steps, &made);
	ok(budget.done <= most, "pairs that are alike%s: %llu steps of %llu", apart ? " in functions of their own" : "",
	   (unsigned long long)budget.done, (unsigned long long)most);
	ok((*made != '\0') == (steps > 1) && (*made || strcmp(before, then) == 0), "what is left stays");
	budget_end(&budget);
	free(before);
	free(then);
	free(made);
}

int main(void)
{
	for (int apart = 0; apart < 2; apart++) {
		test_many(1, apart);
		test_many(UINT64_C(1) << 22, apart);
	}
	test_end();
	test_counted();
	test_given();
	test_variables();
	test_names();
	begin();
	routines_free(&calls);
	tree_free(&tree);
	return tap_end();
}
