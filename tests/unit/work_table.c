/* SPDX-License-Identifier: BSD-3-Clause
 * work_table - what is computed between two calls, as tables
 */
#include "proxy/work_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/blocks.h"
#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"

/* As work_time() of a program. */
static double time_of(long what)
{
	double ns = (double)(64 + what % 64) / 64;
	for (; what >= 64; what -= 64)
		ns *= 2;
	return ns;
}

static void check_times(void)
{
	double worst = 0;
	for (double ns = 1; ns < 1e12; ns *= 1.003)
		worst = fmax(worst, fabs(time_of(work_table_time(ns)) / ns - 1));
	ok(worst < 0.008, "a time is at most 0.8 %% off: %g", worst);
	ok(work_table_time(1) == 0 && work_table_time(2) == 64 && work_table_time(3) == 96,
	   "times have the numbers they should");
	ok(work_table_time(0) == 0 && work_table_time(0.5) == 0, "less than 1 ns is 1 ns");
	ok(time_of(work_table_time(127.9)) == 128, "what is nearly a power of two is one");
}

static void check_tables(void)
{
	const struct work_row rows[] = {{0, 1, 7}, {1, 3, -1}, {3, 3, 0}, {4, 3, 12}};
	struct tree tree = {0};
	struct definitions tables = {0};
	work_table_make(&tables, &tree, rows, 4, 5);
	char *text = text_of_definitions(&tables);
	ok(strcmp(text, "static const long work_rows[] = {0, 1, 0, 3, 0};\n"
	                "static const long work_ahead[] = {1, 2, 0, -1};\n"
	                "static const long work_what[] = {7, -1, 0, 12};\n") == 0,
	   "a row for each pair, by the call behind");
	free(text);
	definitions_free(&tables);
	tree_free(&tree);
}

static void check_function(void)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	work_table_function(f, "", 5, true, 0);
	fclose(f);
	ok(strstr(text, "work_time(work_what[row])") && !strstr(text, "work_special"),
	   "times, which are always the same");
	free(text);
	f = open_memstream(&text, &size);
	work_table_function(f, "\tcase 0:\n\t\treturn 5;\n", 5, false, 0);
	fclose(f);
	ok(strstr(text, "work_special") && !strstr(text, "work_time"), "numbers, and what is not always the same");
	free(text);
}

/* With counters a program has blocks, too. */
static void check_names(void)
{
	static const char *const tables[] = {"work_rows", "work_ahead", "work_what", "work_special", "work_time"};
	bool used[BLOCKS], known = false;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	memset(used, true, sizeof used);
	blocks_write(f, used);
	fclose(f);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		known |= strstr(text, tables[i]) != NULL;
	ok(!known && strstr(text, "work_back"), "no table has a name that the blocks have");
	free(text);
}

int main(void)
{
	check_times();
	check_tables();
	check_function();
	check_names();
	return tap_end();
}
