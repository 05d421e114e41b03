/* SPDX-License-Identifier: BSD-3-Clause
 * dense - long tables of a program, as short texts
 */
#include "proxy/dense.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dense_read.h"
#include "tests/unit/tap.h"

#define NUMBERS 800

/* Packs a text; the caller frees both. */
static int pack(const char *text, char **definitions, char **calls)
{
	size_t size;
	FILE *f = open_memstream(calls, &size);
	*definitions = strdup(text);
	int rv = dense_tables(definitions, "", f);
	fclose(f);
	return rv;
}

static void check_stays(const char *text, const char *title)
{
	char *definitions, *calls;
	ok(pack(text, &definitions, &calls) == 0 && strcmp(definitions, text) == 0 && !*calls, "%s", title);
	free(definitions);
	free(calls);
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
	char *text = NULL, *definitions, *calls;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	fputs("static const long list_7[] = {0", f);
	for (int i = 1; i < n; i++)
		fprintf(f, ", %d", i * i % 7);
	fputs("};\n", f);
	fclose(f);
	bool packed = pack(text, &definitions, &calls) == 1 && strstr(definitions, "static long list_7[");
	free(text);
	free(definitions);
	free(calls);
	return packed;
}

/* Rows of `width` numbers; 0: no rows. */
static void check_packs(const long *values, int width, const char *title)
{
	char *text = NULL, *definitions, *calls, head[80];
	size_t size;
	long back[NUMBERS];
	FILE *f = open_memstream(&text, &size);
	if (width)
		fprintf(f, "static const long list_7[][%d] = {", width);
	else
		fputs("static const long list_7[] = {", f);
	for (int i = 0; i < NUMBERS; i++)
		fprintf(f, "%s%s%ld%s", i ? ", " : "", width && i % width == 0 ? "\n\t{" : "", values[i],
		        width && i % width == width - 1 ? "}" : "");
	fputs("};\nstatic long next_8(void)\n{\n}\n", f);
	fclose(f);
	snprintf(head, sizeof head,
	         width ? "static long list_7[%d][%d];\nstatic long next_8" : "static long list_7[%d];\nstatic",
	         width ? NUMBERS / width : NUMBERS, width);
	int rv = pack(text, &definitions, &calls);
	ok(rv == 1 && strncmp(definitions, head, strlen(head)) == 0 &&
	           strlen(definitions) + strlen(calls) < strlen(text) && unpack_call(calls, back, NUMBERS) &&
	           memcmp(values, back, sizeof back) == 0,
	   "%s: %zu letters are %zu", title, strlen(text), strlen(definitions) + strlen(calls));
	free(text);
	free(definitions);
	free(calls);
}

int main(void)
{
	long values[NUMBERS];
	check_stays("", "nothing");
	check_stays("static const long list_0[] = {1, 2, 3};\nstatic long next_1(void)\n{\n}\n", "few numbers");
	check_stays(
		"static const long list_0[] = {MPI_PROC_NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
		"0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};\n",
		"what has a name");
	check_stays("static const long list_0[][4] = {{1, 2, 3}, {0, 0, 0, 0}};\n", "a row that is not full");
	check_stays("static const long list_0[", "an end in a name");
	check_stays("static const long list_0[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
	            "0, 0, 0, 0, "
	            "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};\n",
	            "what is shorter without the function that unpacks it");
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
	return tap_end();
}
