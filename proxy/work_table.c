/* SPDX-License-Identifier: BSD-3-Clause
 * work_table - what is computed between two calls of a large program, as tables
 *
 * As a switch with a case for each pair it was 30 % of a large program, and clang took minutes for it.
 */
#include "proxy/work_table.h"

#include <inttypes.h>
#include <math.h>

#define STEPS      64 /* between two powers of two */
#define TEXT(x)    #x
#define DECIMAL(x) TEXT(x)

int64_t work_table_time(double ns)
{
	int power;
	double part = frexp(ns < 1 ? 1 : ns, &power); /* 0.5 to 1 */
	return llround(STEPS * (2 * part - 1)) + STEPS * (int64_t)(power - 1);
}

static struct definition *add_table(struct definitions *tables, struct tree *t, const char *name)
{
	struct definition *d = definition_table(tables, t, name, DEFINITION_ALONE);
	d->wrap = 32;
	return d;
}

void work_table_make(struct definitions *tables, struct tree *t, const struct work_row *rows, size_t count,
                     uint32_t sites)
{
	struct definition *of = add_table(tables, t, "work_rows"), *ahead = add_table(tables, t, "work_ahead"),
			  *what = add_table(tables, t, "work_what");
	for (uint32_t site = 0, i = 0, first = 0; site < sites; site++, first = i) {
		while (i < count && rows[i].to == site)
			i++;
		definition_value(t, of, i - first, NULL);
	}
	for (size_t i = 0; i < count; i++) {
		definition_value(t, ahead, (int64_t)rows[i].to - rows[i].from, NULL);
		definition_value(t, what, rows[i].what, NULL);
	}
}

static const char times_function[] = "/* " DECIMAL(
	STEPS) " steps between a power of two and the next one. */\n"
	       "static double work_time(long what)\n{\n"
	       "\tdouble ns = (double)(" DECIMAL(STEPS) " + what % " DECIMAL(STEPS) ") / " DECIMAL(
		       STEPS) ";\n\n"
			      "\tfor (; what >= " DECIMAL(STEPS) "; what -= " DECIMAL(STEPS) ")\n\t\tns *= 2;\n"
											     "\treturn ns;\n}\n\n";

void work_table_function(FILE *out, const char *cases, uint32_t sites, bool times, double otherwise)
{
	char always[40];
	snprintf(always, sizeof always, times ? "work_time(work_what[row])" : "(double)work_what[row]");
	if (times)
		fputs(times_function, out);
	if (*cases)
		fprintf(out,
		        "/* What is not the same each time, or on all ranks. */\n"
		        "static double work_special(long number)\n{\n\tswitch (number) {\n%s"
		        "\tdefault:\n\t\treturn %.4g;\n\t}\n}\n\n",
		        cases, otherwise);
	fprintf(out,
	        "/* What is computed between two calls%s: a row for each pair, by the call behind. */\n"
	        "static double work_between(int last, int site)\n{\n"
	        "\tstatic long first[%" PRIu32 "]; /* row of each call site */\n\tlong row;\n\n"
	        "\tfor (int i = 0; first[%" PRIu32 "] == 0 && i < %" PRIu32 "; i++)\n"
	        "\t\tfirst[i + 1] = first[i] + work_rows[i];\n"
	        "\tfor (row = first[site]; row < first[site + 1]; row++)\n"
	        "\t\tif (site - work_ahead[row] == last)\n"
	        "\t\t\treturn ",
	        times ? ", in ns" : ", by number", sites + 1, sites, sites);
	if (*cases)
		fprintf(out, "work_what[row] < 0 ? work_special(-1 - work_what[row]) : ");
	fprintf(out, "%s;\n\treturn %.4g;\n}\n\n", always, otherwise);
}
