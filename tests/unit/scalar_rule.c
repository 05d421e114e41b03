/* SPDX-License-Identifier: BSD-3-Clause
 * scalar_rule - a number that follows from another one of the same call
 */
#include "proxy/scalar_rule.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

enum { RANKS = 4, COLUMNS = 2, VISITS = 60 };

typedef int64_t function(uint32_t rank, int64_t visit);

/* A call with two columns on four ranks. NULL: a rank has no visit to it. */
struct call {
	struct trace trace;
	struct structure structure;
	struct proxy_column columns[COLUMNS];
	uint32_t of_rank[COLUMNS][RANKS];
	struct error error;
};

static void fill_column(struct call *c, int column, function *f, int64_t visits)
{
	c->columns[column] = (struct proxy_column){.of_rank = c->of_rank[column], .numbers = true};
	for (uint32_t r = 0; r < RANKS; r++) {
		struct series series = {0};
		size_t bytes;
		c->of_rank[column][r] = COLUMN_NONE;
		if (f(r, 0) == VALUE_NONE)
			continue;
		for (int64_t v = 0; v < visits; v++)
			if (series_append(&series, f(r, v)) != 0)
				abort();
		struct runs *runs = series_runs(&series, true, &bytes);
		c->of_rank[column][r] = pool_intern(&c->structure.runs, runs, bytes);
		budget_free(runs);
		series_free(&series);
	}
}

/* expected: the expression, with its tables in front; NULL: it does not follow. */
static void check(function *y, function *x, int64_t visits, const char *expected, const char *title)
{
	struct call c = {.structure = {.ranks = RANKS}};
	struct tree tree = {0};
	struct definitions tables = {0};
	const struct tree_node *node;
	char all[200] = "";
	pool_intern(&c.trace.strings, "-", 2);
	c.structure.trace = &c.trace;
	c.structure.columns = c.columns;
	fill_column(&c, 0, y, visits);
	fill_column(&c, 1, x, visits);
	struct columns columns = {.structure = &c.structure, .tree = &tree, .tables = &tables, .error = &c.error};
	int rv = scalar_by_rule(&columns, 0, 1, "tag", &node);
	if (rv == 1) {
		char *text = text_of_node(node), *made = text_of_definitions(&tables);
		snprintf(all, sizeof all, "%s%s", made, text);
		free(text);
		free(made);
	}
	ok(rv == (expected != NULL) && (!expected || strcmp(all, expected) == 0), "%s: %d %s", title, rv, all);
	definitions_free(&tables);
	tree_free(&tree);
	pool_free(&c.structure.runs);
	pool_free(&c.trace.strings);
}

static int64_t none(uint32_t rank, int64_t visit)
{
	(void)rank, (void)visit;
	return VALUE_NONE;
}

static int64_t name(uint32_t rank, int64_t visit)
{
	return visit % 7 == 6 ? VALUE_CONSTANT : visit + rank;
}

static int64_t negative(uint32_t rank, int64_t visit)
{
	return visit - rank;
}

static int64_t tag(uint32_t rank, int64_t visit)
{
	return 100 + (visit * visit + rank) % 11;
}

static int64_t size_of_tag(uint32_t rank, int64_t visit)
{
	static const int64_t sizes[11] = {20, 16, 25, 20, 9, 31, 2, 47, 11, 36, 5};
	return sizes[(visit * visit + rank) % 11];
}

static int64_t by_chance(uint32_t rank, int64_t visit)
{
	return 100 + (int64_t)(((uint64_t)visit + rank) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % 5;
}

static int64_t more_by_chance(uint32_t rank, int64_t visit)
{
	return 3 * by_chance(rank, visit);
}

static int64_t twice(uint32_t rank, int64_t visit)
{
	return 2 * tag(rank, visit) + 7;
}

static int64_t but_one(uint32_t rank, int64_t visit)
{
	return size_of_tag(rank, visit) + (rank == 3 && visit == VISITS - 1);
}

static int64_t not_last(uint32_t rank, int64_t visit)
{
	return rank == RANKS - 1 ? VALUE_NONE : tag(rank, visit);
}

static int64_t far(uint32_t rank, int64_t visit)
{
	return 1000 * tag(rank, visit);
}

static int64_t always(uint32_t rank, int64_t visit)
{
	(void)rank, (void)visit;
	return 5;
}

int main(void)
{
	check(none, none, VISITS, NULL, "no rank makes the call");
	check(tag, name, VISITS, NULL, "the other one is a constant of MPI now and then");
	check(name, tag, VISITS, NULL, "it is one itself");
	check(tag, negative, VISITS, NULL, "the other one is negative: no place in a table");
	check(tag, not_last, VISITS, NULL, "a rank that has the one only");
	check(but_one, tag, VISITS, NULL, "one of all visits differs");
	check(tag, far, VISITS, NULL, "a table would have large gaps");
	check(size_of_tag, always, VISITS, NULL, "the other one says nothing");
	check(more_by_chance, by_chance, 5000, NULL, "visits that are too many to be compared");
	check(more_by_chance, by_chance, 4000, "(3 * tag)", "as many as are compared");
	check(twice, tag, VISITS, "(2 * tag + 7)", "a rule");
	check(size_of_tag, tag, VISITS,
	      "static const long table_0[] = {20, 16, 25, 20, 9, 31, 2, 47, 11, 36, 5};\ntable_0[tag - 100]",
	      "a table of what the other one is");
	return tap_end();
}
