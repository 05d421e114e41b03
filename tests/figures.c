/* SPDX-License-Identifier: BSD-3-Clause
 * figures - prints what insight/figures.def says: `figures page` is doc/figures.md, `figures aggregate` the table of
 * doc/man/aggregate.md, `figures names` what tests/figures.t has to find, a line each: key, JSON, unit, condition,
 * metric
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "insight/figure.h"

static const char *unit_name(enum figure_unit unit)
{
	static const char *const names[] = {"number", "node hours", "seconds", "share, 0 to 1",
	                                    "bytes",  "bytes",      "ratio"};
	return names[unit];
}

/* A bar would end the cell. */
static void print_columns(bool page)
{
	for (int i = 0; i < FIGURE_COLUMNS; i++) {
		const struct figure_column_info *c = &figure_columns[i];
		if (!page)
			printf("| %s | `%s` | %s |\n", c->heading, c->name, c->meaning);
		else
			printf("- `%s` (`%s`; %s; of %s%s%s%s).\n  %c%s.\n", c->json, c->name, unit_name(c->unit),
			       c->of_run && c->calls ? "a run, a group, calls"
			       : c->of_run           ? "a run, a group"
			       : c->runs && c->calls ? "a group, calls"
			       : c->runs             ? "a group"
			                             : "calls",
			       c->condition ? "; hooks: `" : "", c->condition ? c->condition : "",
			       c->condition ? "`" : "", toupper(c->meaning[0]), c->meaning + 1);
	}
}

static void print_page(void)
{
	printf("# Figures\n"
	       "Every number that spoor shows of a run, or of many, is a line of `insight/figures.def`. This page is\n"
	       "printed from it: `tests/figures page > doc/figures.md`. [activity.md](activity.md) defines times and\n"
	       "bytes.\n\n"
	       "## What is shown\n"
	       "The first name is that of JSON, CSV and Python, and of `spoor list --format` if a single run has it.\n"
	       "The second one is that of `spoor aggregate --sort`. Hooks may ask for those with a name for that\n"
	       "([policy.md](policy.md)); of shares they ask in percent. In OpenMetrics the name begins with\n"
	       "`spoor_`.\n\n");
	print_columns(true);
	printf("\nIn OpenMetrics, by partition:\n\n| name | figure |\n|---|---|\n");
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (figure_columns[i].metric)
			printf("| `spoor_%s` | `%s` |\n", figure_columns[i].metric, figure_columns[i].json);
	printf("\n## What is kept of a trace\n"
	       "These are columns of table `summary` of the index ([index.md](index.md)), and rows of the figures of\n"
	       "libspoor and Python. Times are of all ranks together.\n\n");
	for (int i = 0; i < FIGURES; i++)
		printf("- `%s` (%s): %s.\n", figure_names[i].key, figure_names[i].unit, figure_names[i].meaning);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	if (!strcmp(what, "page"))
		print_page();
	else if (!strcmp(what, "aggregate"))
		print_columns(false);
	else if (!strcmp(what, "names"))
		for (int i = 0; i < FIGURE_COLUMNS; i++)
			printf("%s %s %d %s %s %d%d%d\n", figure_columns[i].name, figure_columns[i].json,
			       figure_columns[i].unit, figure_columns[i].condition ? figure_columns[i].condition : "-",
			       figure_columns[i].metric ? figure_columns[i].metric : "-", figure_columns[i].runs,
			       figure_columns[i].of_run, figure_columns[i].calls);
	else
		return 2;
	return 0;
}
