/* SPDX-License-Identifier: BSD-3-Clause
 * share - definitions that are the same become one
 */
#include "proxy/share.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static void check_texts(const char *definitions, const char *program, const char *definitions_then,
                        const char *program_then, const char *title)
{
	char *texts[2] = {strdup(definitions), strdup(program)};
	ok(texts[0] && texts[1] && share_definitions(texts, 2) == 0 && strcmp(texts[0], definitions_then) == 0 &&
	           strcmp(texts[1], program_then) == 0,
	   "%s", title);
	free(texts[0]);
	free(texts[1]);
}

#define MANY 20000

/* Each is looked for once: else this would take hours. */
static void check_many(void)
{
	char *texts[2], *expected[2];
	size_t size;
	FILE *out[4] = {open_memstream(&texts[0], &size), open_memstream(&texts[1], &size),
	                open_memstream(&expected[0], &size), open_memstream(&expected[1], &size)};
	for (unsigned i = 0; i < MANY; i++) {
		fprintf(out[0], "static int *array_%u(long which)\n{\n\treturn a;\n}\n\n", i);
		fprintf(out[1], "\t{\n\t\tf(array_%u(v));\n\t}\n", i);
		fputs("\t{\n\t\tf(array_0(v));\n\t}\n", out[3]);
	}
	fputs("static int *array_0(long which)\n{\n\treturn a;\n}\n\n", out[2]);
	for (int i = 0; i < 4; i++)
		fclose(out[i]);
	check_texts(texts[0], texts[1], expected[0], expected[1], "many arrays that are the same");
	for (int i = 0; i < 2; i++) {
		free(texts[i]);
		free(expected[i]);
	}
}

int main(void)
{
	check_many();
	check_texts("", "f(1);\n", "", "f(1);\n", "nothing to share");
	check_texts("static const long table_0[] = {1};\nstatic const long table_1[] = {2};\n",
	            "table_1[table_0[rank]]",
	            "static const long table_0[] = {1};\nstatic const long table_1[] = {2};\n",
	            "table_1[table_0[rank]]", "tables that differ stay");
	check_texts("static const long table_0[] = {1};\nstatic const long table_1[] = {1};\n",
	            "table_1[table_12[rank]]", "static const long table_0[] = {1};\n", "table_0[table_12[rank]]",
	            "tables that are the same");
	check_texts("static const long table_0[] = {1};\nstatic long pick_1(long v)\n{\n\treturn table_0[v];\n}\n\n"
	            "static const long table_2[] = {1};\nstatic long pick_3(long v)\n{\n\treturn table_2[v];\n}\n\n",
	            "pick_3(pick_1(rank))",
	            "static const long table_0[] = {1};\nstatic long pick_1(long v)\n{\n\treturn table_0[v];\n}\n\n",
	            "pick_1(pick_1(rank))", "functions that use what is the same");
	check_texts("static long next_0(void)\n{\n\tstatic long at[2];\n}\nstatic long next_1(void)\n{\n\tstatic long "
	            "at[2];\n}\n",
	            "next_1()",
	            "static long next_0(void)\n{\n\tstatic long at[2];\n}\nstatic long next_1(void)\n{\n\tstatic long "
	            "at[2];\n}\n",
	            "next_1()", "what has a state is not shared");
	check_texts(
		"static int *array_0(long which)\n{\n\treturn a;\n}\n\nstatic int *array_1(long which)\n{\n\treturn "
		"a;\n}\n\nstatic int *array_2(long which)\n{\n\treturn a;\n}\n\n",
		"\t{\n\t\tcounts = array_0(v);\n\t\tlengths = array_1(v);\n\t\tf(counts, lengths);\n\t}\n"
		"\tcounts = array_2(v);\n\tf(counts);\n",
		"static int *array_0(long which)\n{\n\treturn a;\n}\n\nstatic int *array_1(long which)\n{\n\treturn "
		"a;\n}\n\n",
		"\t{\n\t\tcounts = array_0(v);\n\t\tlengths = array_1(v);\n\t\tf(counts, lengths);\n\t}\n"
		"\tcounts = array_0(v);\n\tf(counts);\n",
		"arrays that are the same, but not those of one call");
	return tap_end();
}
