/* SPDX-License-Identifier: BSD-3-Clause
 * column_table - the runs of a column as a table, which draw() of the program goes through
 *
 * What comes again and again in it is there once, with a row behind it that leads back (repeats.h).
 */
#include "proxy/column_numbers.h"

#include "proxy/node_same.h"
#include "proxy/repeats.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

struct same_row {
	const struct tree_node **rows;
	const struct tree_node *row;
};

static bool is_same_row(const void *context, uint32_t i)
{
	const struct same_row *k = context;
	return node_same(k->rows[i], k->row);
}

/* Rows of a table of runs, and loops of rows. */
struct table {
	struct tree *tree;
	const struct tree_node **each; /* of each run */
	struct definition *runs;       /* the rows; NULL: they are below */
	struct nodes order;            /* numbers of rows, each of which is once in `given` */
	struct nodes given;
	uint32_t rows;
	struct index index;
};

/* Rows in lines of so many. */
static void add_in_lines(struct tree *t, struct nodes *to, uint32_t i, uint32_t wide, const struct tree_node *one)
{
	if (i)
		nodes_add(t, to, node_named(t, NODE_TEXT, i % wide ? ", " : ",\n\t\t"));
	nodes_add(t, to, one);
}

static int add_given(struct table *t, const struct tree_node *row)
{
	struct same_row key = {t->given.each, row};
	uint64_t hash = node_hash(row);
	uint32_t found = index_find(&t->index, hash, is_same_row, &key);
	if (found == INDEX_NONE) {
		found = t->given.count;
		nodes_add(t->tree, &t->given, row);
		if (index_add(&t->index, hash, found) != 0)
			return -1;
	}
	add_in_lines(t->tree, &t->order, t->rows - 1, 32, node_number(t->tree, found));
	return 0;
}

static int add_row(struct table *t, const struct tree_node *row)
{
	t->rows++;
	if (!t->runs)
		return add_given(t, row);
	for (uint32_t i = 0; i < row->count; i++)
		definition_value(t->tree, t->runs, row->at[i]->number,
		                 row->at[i]->form == NODE_NUMBER ? NULL : row->at[i]);
	return 0;
}

/* Adds symbols; behind a loop comes a row that leads back: {how many more times, 0, -rows}. */
static int add_symbols(struct table *t, const struct repeats *r, const uint32_t *symbols, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t first = t->rows;
		if (symbols[i] < r->base) {
			if (add_row(t, t->each[symbols[i]]) != 0)
				return -1;
			continue;
		}
		const struct repeat *loop = &r->each[symbols[i] - r->base];
		if (add_symbols(t, r, loop->body, loop->length) != 0)
			return -1;
		const struct tree_node *back =
			node_new(t->tree, NODE_LIST, NULL,
		                 NODES(node_number(t->tree, (int64_t)loop->times - 1), node_number(t->tree, 0),
		                       node_number(t->tree, (int64_t)first - t->rows)));
		if (add_row(t, back) != 0)
			return -1;
	}
	return 0;
}

/* Runs [begin, end) of a table, those that are equal as one symbol. */
static int add_rows(struct table *t, int64_t begin, int64_t end)
{
	struct repeats loops = {0};
	struct index index = {0};
	size_t n = 0;
	uint32_t *symbols = budget_malloc((size_t)(end - begin + 1) * sizeof *symbols);
	int rv = symbols ? 0 : -1;
	for (int64_t i = begin; i < end && rv == 0; i++) {
		struct same_row key = {t->each, t->each[i]};
		uint64_t hash = node_hash(key.row);
		uint32_t found = index_find(&index, hash, is_same_row, &key);
		rv = found == INDEX_NONE ? index_add(&index, hash, (uint32_t)i) : 0;
		symbols[n++] = found == INDEX_NONE ? (uint32_t)i : found;
	}
	if (rv == 0)
		rv = repeats_find(&loops, symbols, &n, (uint32_t)end);
	if (rv == 0)
		rv = add_symbols(t, &loops, symbols, n);
	repeats_free(&loops);
	index_free(&index);
	budget_free(symbols);
	return rv;
}

/* Rows that depend on the rank are computed at each call. A compiler takes long for a large table that is computed:
 * there is each row once, and the table is put together in a loop. */
static const struct tree_node *make_computed(struct table *t, const struct tree_node *name)
{
	struct nodes given = {0};
	const struct tree_node *rows = node_number(t->tree, t->rows);
	for (uint32_t i = 0; i < t->given.count; i++)
		add_in_lines(t->tree, &given, i, 8, t->given.each[i]);
	return node_format(t->tree,
	                   "\tconst long given[][3] = {$};\n\tstatic const int order[] = {$};\n"
	                   "\tlong $[$][3];\n\tfor (int i = 0; i < $; i++)\n"
	                   "\t\tmemcpy($[i], given[order[i]], sizeof *given);\n",
	                   NODES(nodes_end(t->tree, NODE_SEQUENCE, &given),
	                         nodes_end(t->tree, NODE_SEQUENCE, &t->order), name, rows, rows, name));
}

/* The function that asks it for the next value. name: of the table. */
static struct definition *make_next(struct numbers *n, struct table *t, uint32_t number, const struct tree_node *name,
                                    uint32_t lead)
{
	struct tree *tree = t->tree;
	const struct tree_node *computed = t->runs ? node_named(tree, NODE_TEXT, "") : make_computed(t, name);
	struct definition *next = definition_add(n->c->tables, tree, "next", number);
	next->state = true;
	next->text = node_format(tree,
	                         "static long $(void)\n{\n\tstatic long at[$];\n$\treturn draw($, $, $, "
	                         "at);\n}\n\n",
	                         NODES(node_use(tree, next), node_number(tree, (int64_t)t->rows + 2), computed, name,
	                               node_number(tree, t->rows), node_number(tree, lead)));
	return next;
}

int numbers_table(struct numbers *n, const struct tree_node **rows, const struct runs *r, const struct tree_node **out)
{
	struct tree *tree = n->c->tree;
	uint32_t number = n->c->table_count++;
	struct table t = {.tree = tree, .each = rows};
	const struct tree_node *name = node_format(tree, "runs_$", NODES(node_number(tree, number)));
	if (n->level == 0) {
		t.runs = definition_table(n->c->tables, tree, "runs", number);
		t.runs->sides = 2;
		t.runs->side[1] = 3;
		t.runs->wrap = 8;
		name = node_use(tree, t.runs);
	}
	int rv = add_rows(&t, 0, r->lead);
	uint32_t lead = t.rows;
	if (rv == 0)
		rv = add_rows(&t, r->lead, r->count);
	if (rv == 0)
		*out = node_format(tree, "$()", NODES(node_use(tree, make_next(n, &t, number, name, lead))));
	n->drawn = true;
	budget_free(t.order.each);
	budget_free(t.given.each);
	index_free(&t.index);
	return rv;
}
