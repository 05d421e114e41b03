/* SPDX-License-Identifier: BSD-3-Clause
 * tidy - statements of a program without what they do not need
 */
#include "proxy/tidy.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static void check(const char *from, const char *to, const char *title)
{
	char *text = strdup(from);
	int rv = tidy_statements(&text);
	ok(rv == 0 && strcmp(text, to) == 0, "%s: %s", title, text);
	free(text);
}

int main(void)
{
	check("", "", "nothing");
	check("void f(void)\n{\n\ta();\n}\n", "void f(void)\n{\n\ta();\n}\n", "a function keeps its braces");
	check("\tif (x) {\n\t\ta(i, { 1 });\n\t}\n\tb();\n", "\tif (x)\n\t\ta(i, { 1 });\n\tb();\n",
	      "one line in a block");
	check("\tif (x) {\n\t\ta();\n\t\tb();\n\t}\n", "\tif (x) {\n\t\ta();\n\t\tb();\n\t}\n", "two lines");
	check("\tif (x) {\n\t\tif (y) {\n\t\t\ta();\n\t\t}\n\t}\n", "\tif (x) {\n\t\tif (y)\n\t\t\ta();\n\t}\n",
	      "a block in a block");
	check("\tif (x) {\n\t\tconst long v = 1;\n\t}\n", "\tif (x) {\n\t\tconst long v = 1;\n\t}\n", "a variable");
	check("\tfor (long i = 0, i_end = f(3); i < i_end; i++) {\n\t\ta(ii, i2);\n\t\tb();\n\t}\n",
	      "\tfor (long i = f(3); i > 0; i--) {\n\t\ta(ii, i2);\n\t\tb();\n\t}\n",
	      "a loop whose variable nobody asks for");
	check("\tfor (long i = 0, i_end = f(3); i < i_end; i++) {\n\t\ta(2 * i);\n\t}\n",
	      "\tfor (long i = 0, i_end = f(3); i < i_end; i++)\n\t\ta(2 * i);\n",
	      "one whose variable somebody asks for");
	check("\tfor (long i = 0; i < 7; i++) {\n\t\ta();\n\t}\n", "\tfor (long i = 0; i < 7; i++)\n\t\ta();\n",
	      "one with a number");
	check("\tswitch (x) {\n\tcase 1: {\n\t\ta();\n\t\tb();\n\t\tbreak;\n\t}\n\tcase 2: {\n\t\tconst long v = 1;\n"
	      "\t\ta(v);\n\t\tbreak;\n\t}\n\t}\n",
	      "\tswitch (x) {\n\tcase 1:\n\t\ta();\n\t\tb();\n\t\tbreak;\n\tcase 2: {\n\t\tconst long v = "
	      "1;\n\t\ta(v);\n"
	      "\t\tbreak;\n\t}\n\t}\n",
	      "cases");
	return tap_end();
}
