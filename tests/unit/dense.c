/* SPDX-License-Identifier: BSD-3-Clause
 * dense - long tables of a program, as short texts
 */
#include "proxy/dense.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dense_read.h"
#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"

#define NUMBERS 800

static struct tree tree;

/* A table of numbers, in rows of `width`; 0: no rows. */
static struct definition *make(struct definitions *d, const long *values, int count, int width)
{
	struct definition *of = definition_table(d, &tree, "list", 7);
	of->sides = width ? 2 : 1;
	of->side[1] = width;
	for (int i = 0; i < count; i++)
		definition_value(&tree, of, values[i], NULL);
	return of;
}

/* Packs them; the caller frees what then is in front of the program, and at its end. */
static int pack(struct definitions *d, char **definitions, char **calls)
{
	FILE *f = nodes_open(calls);
	int rv = dense_tables(d, "", f);
	fclose(f);
	*definitions = text_of_definitions(d);
	return rv;
}

static void check_stays(struct definitions *d, const char *title)
{
	char *definitions, *calls, *text = text_of_definitions(d);
	ok(pack(d, &definitions, &calls) == 0 && strcmp(definitions, text) == 0 && !*calls, "%s", title);
	free(definitions);
	free(calls);
	free(text);
	definitions_free(d);
}

/* Reads what a call says, as unpack() of the program does. */
static bool unpack_call(const char *call, long *to, long n)
{
	static const char begin[] = "\tunpack(list_7, \"";
	const char *p = strstr(call, begin), *end = strstr(call, "\");");
	if (!p || !end)
		return false;
	dense_begin(p + sizeof begin - 1, end);
	if (next_number(6, 1) != n)
		return false;
	next_numbers(to, n);
	return true;
}

/* So many numbers with no more than one digit: are they packed? */
static bool is_packed(int n)
{
	long values[NUMBERS];
	struct definitions d = {0};
	char *definitions, *calls;
	for (int i = 0; i < n; i++)
		values[i] = i * i % 7;
	make(&d, values, n, 0);
	bool packed = pack(&d, &definitions, &calls) == 1 && strstr(definitions, "static long list_7[");
	free(definitions);
	free(calls);
	definitions_free(&d);
	return packed;
}

/* Rows of `width` numbers; 0: no rows. */
static void check_packs(const long *values, int width, const char *title)
{
	struct definitions d = {0};
	char *definitions, *calls, head[80];
	long back[NUMBERS];
	struct definition *of = make(&d, values, NUMBERS, width), *next = definition_add(&d, &tree, "next", 8);
	next->text = node_format(&tree, "static long $(void)\n{\n}\n", NODES(node_use(&tree, next)));
	char *text = text_of_definitions(&d);
	size_t size = dense_size(&tree, of);
	snprintf(head, sizeof head,
	         width ? "static long list_7[%d][%d];\nstatic long next_8" : "static long list_7[%d];\nstatic",
	         width ? NUMBERS / width : NUMBERS, width);
	int rv = pack(&d, &definitions, &calls);
	ok(rv == 1 && strncmp(definitions, head, strlen(head)) == 0 && size < strlen(text) / 2 &&
	           strlen(definitions) + strlen(calls) < strlen(text) && unpack_call(calls, back, NUMBERS) &&
	           memcmp(values, back, sizeof back) == 0,
	   "%s: %zu letters are %zu", title, strlen(text), strlen(definitions) + strlen(calls));
	free(text);
	free(definitions);
	free(calls);
	definitions_free(&d);
}

int main(void)
{
	long values[NUMBERS];
	struct definitions d = {0};
	memset(values, 0, sizeof values);
	check_stays(&d, "nothing");
	make(&d, values, 3, 0);
	check_stays(&d, "few numbers");
	definition_value(&tree, make(&d, values, 60, 0), 0, node_named(&tree, NODE_CONSTANT, "MPI_PROC_NULL"));
	check_stays(&d, "what has a name");
	make(&d, values, 61, 4);
	check_stays(&d, "a row that is not full");
	make(&d, values, 48, 0)->hexadecimal = true;
	check_stays(&d, "a table of bits");
	make(&d, values, 48, 0);
	check_stays(&d, "what is shorter without the function that unpacks it");
	for (int i = 0; i < NUMBERS; i++)
		values[i] = i * (i + 3L) % 1021 % 250;
	check_packs(values, 0, "without order");
	check_packs(values, 8, "in rows");
	for (int i = 0; i < NUMBERS; i++)
		values[i] = 5000000000L + 1000L * i + i * 31L % 7;
	check_packs(values, 0, "rising, and large");
	for (int i = 0; i < NUMBERS; i++)
		values[i] = i % 50 ? 0 : -123456789012L;
	check_packs(values, 4, "few that are far away");
	for (int i = 0; i < NUMBERS; i++)
		values[i] = 1 + i * (i + 3L) % 1021 % 32;
	check_packs(values, 0, "all up to 32 as often");
	for (int i = 0; i < NUMBERS; i++)
		values[i] = 100000L * (i % 4) + i;
	check_packs(values, 4, "each row as the one before it");
	for (int i = 0; i < NUMBERS; i++)
		values[i] = i % 37 * 7919L % 250 + (i % 90 == 0);
	check_packs(values, 0, "again and again, with exceptions");
	for (int i = 0; i < NUMBERS; i++)
		values[i] = i % 400 * (i % 400 + 3L) % 1021 % 250;
	check_packs(values, 8, "the second half as the first");
	ok(!is_packed(127) && is_packed(128), "many numbers are packed in any case");
	tree_free(&tree);
	return tap_end();
}
