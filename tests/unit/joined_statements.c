/* SPDX-License-Identifier: BSD-3-Clause
 * joined_statements - statements of a program that stand in several places become calls of one function
 */
#include "proxy/joined_statements.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/base/budget.h"

static const char TABLES[] = "static const long table_0[] = {1, 2};\nstatic const long table_1[] = {2, 3};\n"
			     "static const long list_2[][2] = {{0, 1}};\n";
static const char CALLS[] =
	"static void Send(int site, long count, MPI_Datatype datatype, long dest)\n{\n\tcompute(site);\n}\n\n"
	"static void Recv(int site, long count, long source, MPI_Comm comm_here)\n{\n\tcompute(site);\n}\n\n"
	"static void Neighbor_allgather_of_all(int site)\n{\n\tcompute(site);\n}\n\n";

/* What becomes of functions in so many steps; `functions`: the new ones. */
static char *make_in(uint64_t steps, const char *text, char **functions)
{
	static const struct hole_type types[] = {{'c', "MPI_Comm"}, {'t', "MPI_Datatype"}, {'k', "int"}, {0, NULL}};
	struct listing b = {.types = types};
	struct names names = {0};
	char *texts[2] = {strdup(text), strdup("\tend();\n")};
	size_t size;
	FILE *out = open_memstream(functions, &size);
	int rv = out ? text_definitions_read(&b.definitions, TABLES) : -1;
	rv = rv == 0 ? text_definitions_read(&b.definitions, CALLS) : -1;
	for (size_t i = 0; i < 2 && rv == 0; i++)
		rv = listing_add_constant(&b, 't', i ? "MPI_INT" : "MPI_DOUBLE");
	rv = rv == 0 ? joined_statements_make(&b, texts, 2, &names, steps, out) : -1;
	fclose(out);
	ok(rv == 0 && strcmp(texts[1], "\tend();\n") == 0, "other lines stay");
	listing_free(&b);
	names_free(&names);
	free(texts[1]);
	return texts[0];
}

static char *make(const char *text, char **functions)
{
	return make_in(JOINED_STEPS, text, functions);
}

/* So many times, each in a function of its own: what `before` and `behind` are around, with %u for numbers that grow by
 * `step`, and with $ for one letter of `letters` after the other. */
static char *repeat(const char *place, unsigned times, unsigned step, const char *letters)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (unsigned i = 0; i < times; i++) {
		fprintf(out, "static void f_%u(void)\n{\n\tfirst_%u();\n", i, i);
		for (const char *at = place; *at; at++)
			if (*at == '%')
				fprintf(out, "%u", step * i + (unsigned)(*++at - '0'));
			else
				fputc(*at == '$' ? letters[i] : *at, out);
		fprintf(out, "\tlast_%u();\n}\n\n", i);
	}
	fclose(out);
	return text;
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;
	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

/* What stands in three functions: what is defined for it, and its call in the second one. NULL: it stays. */
static void check(const char *place, unsigned step, const char *letters, const char *function, const char *call,
                  const char *title)
{
	char *text = repeat(place, 3, step, letters), *functions, *then = make(text, &functions);
	if (function)
		ok(strstr(functions, function) != NULL && strstr(then, call) != NULL, "%s: %s%s", title, functions,
		   then);
	else
		ok(*functions == '\0' && strcmp(then, text) == 0, "%s: %s%s", title, functions, then);
	free(text);
	free(then);
	free(functions);
}

static void test_counted(void)
{
	check("\tif (next(%0))\n\t\tSend(%3, 7, MPI_INT, next(%1));\n\tSend(%4, 8, MPI_INT, next(%2));\n"
	      "\tSend(%5, 9, MPI_INT, 9);\n",
	      20, "",
	      "static void Send(int queue, int site)\n{\n\tif (next(queue))\n\t\tSend(site, 7, MPI_INT, next(queue + "
	      "1));\n\tSend(site + 1, 8, MPI_INT, next(queue + 2));\n",
	      "\tfirst_1();\n\tSend(20, 23);\n\tlast_1();\n", "the numbers of queues and call sites");
}

static void test_given(void)
{
	check("\tif (rank == $)\n\t\tSend(%3, $, MPI_INT, 1000 + rank);\n\tSend(%4, $, MPI_INT, 3000 + rank);\n", 20,
	      "123", "static void Send(long when, int site, long count)\n{\n\tif (when)\n",
	      "\tSend(rank == 2, 23, 2);\n", "what is a function of the rank");
	check("\tif (rank)\n\t\tSend(%3, table_$[rank - 1], MPI_INT, 1000 + rank);\n\tSend(%4, 1, MPI_INT, 3000 + "
	      "rank);\n",
	      20, "010",
	      "static void Send(int site, const long *values)\n{\n\tif (rank)\n\t\tSend(site, values[rank - 1]",
	      "\tSend(23, table_1);\n", "a table, which is not asked before its condition");
	check("\tif (rank)\n\t\tSend(%3, list_$[rank][1], MPI_INT, 1000 + rank);\n", 20, "234", NULL, NULL,
	      "lists of lists stay");
}

static void test_variables(void)
{
	check("\tfor (long i = 0; i < 3; i++) {\n\t\tfor (long j = 0; j < 4; j++)\n\t\t\tSend(%3, 10 * i + j, MPI_INT, "
	      "1000 + rank);\n\t\tvary_$();\n\t}\n",
	      20, "123",
	      "static void Send(int site, long i)\n{\n\tfor (long j = 0; j < 4; j++)\n\t\tSend(site, 10 * i + j",
	      "\t\tSend(23, i);\n", "the variable of a loop around it");
	check("\tfor (long i = 0; i < 3; i++) {\n\t\tfor (long j = 0; j < 4; j++)\n\t\t\tSend(%3, 10 * j, MPI_INT, "
	      "1000 "
	      "+ rank);\n\t\tvary_$();\n\t}\n",
	      20, "123", "{\n\tfor (long i = 0; i < 4; i++)\n\t\tSend(site, 10 * i", "\t\tSend(23);\n",
	      "the first loop has the first variable");
	check("\tconst long v = visit[%0]++;\n\tSend(%3, 10 * v, MPI_INT, 1000 + v);\n\tSend(%4, 10 * v, MPI_INT, 2000 "
	      "+ "
	      "v);\n\tvary_$();\n",
	      20, "123", "static void Send(int site, long v)\n{\n\tSend(site, 10 * v", "\tSend(23, v);\n",
	      "the number of a visit");
	check("\tconst long count = next(%0);\n\tSend(%3, count, MPI_INT, 1000 + count);\n\tvary_$();\n", 20, "123",
	      NULL, NULL, "another variable: it stays");
	check("\t{\n\t\tconst long count = next(%0);\n\t\tSend(%3, count, MPI_INT, 1000 + count + $);\n\t}\n", 20,
	      "123", "\t\tconst long count = next(queue);\n\t\tSend(site, count, MPI_INT, 1000 + count + ",
	      "\tSend(20, 23, 2);\n", "a block with its variable");
}

static void test_names(void)
{
	char *functions,
		*then = make("static void part(void)\n{\n\tif (rank == 1)\n\t\tSend(1, 1, MPI_INT, 1000 + "
	                     "rank);\n\tSend(2, 1, MPI_INT, 2000 + rank);\n}\n\n"
	                     "static void part_2(void)\n{\n\tif (rank == 1)\n\t\tSend(3, 1, MPI_DOUBLE, 1000 + "
	                     "rank);\n\tSend(4, 1, MPI_DOUBLE, 2000 + rank);\n}\n\n"
	                     "static void solve(void)\n{\n\tif (rank == 1)\n\t\tSend(5, 1, MPI_INT, 1000 + "
	                     "rank);\n\tSend(6, 1, MPI_INT, 2000 + rank);\n}\n\n"
	                     "static void all(void)\n{\n\tpart();\n\tpart_2();\n\tsolve();\n}\n\n",
	                     &functions);
	ok(count(functions, "static void ") == 1 &&
	           strstr(functions,
	                  "(int site, MPI_Datatype datatype)\n{\n\tif (rank == 1)\n\t\tSend(site, 1, datatype"),
	   "a handle is given, as what it is: %s", functions);
	ok(strcmp(then, "static void solve(void)\n{\n\tSend(5, MPI_INT);\n}\n\nstatic void all(void)\n{\n\tSend(1, "
	                "MPI_INT);\n\tSend(3, MPI_DOUBLE);\n\tsolve();\n}\n\n") == 0,
	   "functions that nobody named are left out, others stay: %s", then);
	free(then);
	free(functions);
}

/* A function that does nothing but call one with a long name saves nothing, as its name is as long. */
static void test_end(void)
{
	char *text = repeat("\tNeighbor_allgather_of_all(%3);\n", 40, 20, ""), *functions,
	     *then = make(text, &functions);
	ok(*functions == '\0' && strcmp(then, text) == 0, "it comes to an end");
	free(text);
	free(then);
	free(functions);
}

static void test_short(void)
{
	char *functions, *then = make("static void part(void)\n{\n\tfor (long i = 0; i < 3; i++) {\n\t\tSend(1, i, "
	                              "MPI_INT, 1);\n\t\tb();\n\t}\n}\n\n"
	                              "static void part_2(void)\n{\n\tc();\n\td();\n}\n\n"
	                              "static void part_3(void)\n{\n\tconst long v = visit[0]++;\n\te(v);\n}\n\n"
	                              "static void part_4(void)\n{\n\tg();\n\th();\n}\n\n"
	                              "static void solve(void)\n{\n\tif (rank) {\n\t\tpart();\n\t\tlast();\n\t}\n"
	                              "\tif (size)\n\t\tpart_2();\n\tpart_3();\n\tpart_4();\n\tpart_4();\n}\n\n"
	                              "static void a(void)\n{\n\tif (rank == 1)\n\t\tSend(5, 1, MPI_INT, 1000 + "
	                              "rank);\n\tSend(6, 1, MPI_INT, 2000 + rank);\n}\n\n"
	                              "static void b(void)\n{\n\tif (rank == 1)\n\t\tSend(7, 1, MPI_INT, 1000 + "
	                              "rank);\n\tSend(8, 1, MPI_INT, 2000 + rank);\n}\n\n"
	                              "static void c(void)\n{\n\tif (rank == 1)\n\t\tSend(9, 1, MPI_INT, 1000 + "
	                              "rank);\n\tSend(10, 1, MPI_INT, 2000 + rank);\n}\n\n",
	                              &functions);
	ok(strstr(then, "\tif (rank) {\n\t\tfor (long i = 0; i < 3; i++) {\n\t\t\tSend(1, i, MPI_INT, 1);\n"
	                "\t\t\tb();\n\t\t}\n\t\tlast();\n\t}\n") &&
	           !strstr(then, "part()"),
	   "a short function without a name stands where it is called: %s", then);
	ok(strstr(then, "\tif (size)\n\t\tpart_2();\n\tpart_3();\n\tpart_4();\n\tpart_4();\n"),
	   "not if there are no braces, or with a variable, or twice");
	free(then);
	free(functions);
}

#define PAIRS 5000

/* Statements that are in two places each: all in two functions, or each in functions of its own, which others call. */
static char *write_pairs(bool apart)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		if (apart || i % PAIRS == 0)
			fprintf(out, "static void part_%u(void)\n{\n", i);
		fprintf(out,
		        "\tif (rank == %u)\n\t\tSend(%u, 1, MPI_INT, long_enough_that_a_function_is_shorter_%u());\n",
		        i, i, i % PAIRS);
		fprintf(out, "\tRecv(%u, 1, 2, long_enough_that_a_function_is_shorter_%u());\n", i, i % PAIRS);
		fprintf(out, apart || i % PAIRS == PAIRS - 1 ? "}\n\n" : "\tbetween_%u();\n", i);
	}
	fputs("static void all(void)\n{\n", out);
	for (unsigned i = 0; apart && i < 2 * PAIRS; i++)
		fprintf(out, "\tpart_%u();\n", i);
	fputs("}\n\n", out);
	fclose(out);
	return text;
}

/* However many statements are alike, it takes no more than it may, and what a few looks at each line take. */
static void test_many(uint64_t steps, bool apart)
{
	char *text = write_pairs(apart), *functions;
	uint64_t lines = count(text, "\n"), most = steps + strlen(text) + 100 * lines;
	struct budget budget = {.memory = UINT64_C(1) << 32, .steps = UINT64_C(1) << 40};
	budget_begin(&budget);
	char *then = make_in(steps, text, &functions);
	ok(budget.done <= most, "%llu lines that are alike%s: %llu steps of %llu, %llu may", (unsigned long long)lines,
	   apart ? " in functions of their own" : "", (unsigned long long)budget.done, (unsigned long long)most,
	   (unsigned long long)steps);
	ok(count(then, "_shorter_") + 2 * count(functions, "_shorter_") == 4 * PAIRS &&
	           (*functions != '\0') == (steps > 1),
	   "what is left stays, %u functions are made", count(functions, "static void "));
	budget_end(&budget);
	free(text);
	free(then);
	free(functions);
}

int main(void)
{
	for (int apart = 0; apart < 2; apart++) {
		test_many(1, apart);
		test_many(UINT64_C(1) << 22, apart);
	}
	test_end();
	test_short();
	test_counted();
	test_given();
	test_variables();
	test_names();
	return tap_end();
}
