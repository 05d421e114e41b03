/* SPDX-License-Identifier: BSD-3-Clause
 * column_numbers - a column of numbers, as an expression of C
 *
 * Ranks whose runs (series.h) have the same lengths and strides share an expression, in which each start is a function
 * of the rank (fit.h). Other ranks have another one, and a condition chooses. With few runs it is written out:
 *
 *     v % 10 == 9 ? 1 : 0        0 nine times, then 1, and again
 *     v < table_3[rank] ? 1 : 0  1 so often, then 0: lengths are functions of the rank where that is shorter
 *
 * With more it is a table of runs, through which draw() of the program goes.
 */
#include "proxy/column_numbers.h"

#include <string.h>

#include "proxy/first_alike.h"
#include "trace/base/budget.h"

#define RUNS_WRITTEN 4 /* out in an expression */

static bool value_is_name(int64_t v)
{
	return value_is_constant(v);
}

static const struct tree_node *make_value(void *context, int64_t v)
{
	const struct columns *c = context;
	if (!value_is_constant(v))
		return node_number(c->tree, v);
	return columns_is_absent(c->structure, v) ? node_number(c->tree, 0) : columns_constant(c, 0, v);
}

static const struct tree_node *make_kept(void *context, int64_t v)
{
	const struct columns *c = context;
	const struct tree_node *value = make_value(context, v);
	if (!value_is_constant(v) || columns_is_absent(c->structure, v))
		return value;
	return node_1(c->tree, NODE_IN_BRACKETS, node_2(c->tree, NODE_PLUS, node_name(c->tree, "KEPT"), value));
}

/* ---- runs of all ranks ---- */

int numbers_begin(struct numbers *n, struct columns *c, uint32_t column)
{
	const struct structure *s = c->structure;
	*n = (struct numbers){.c = c,
	                      .x_name = node_name(c->tree, "rank"),
	                      .of_rank = budget_calloc(s->ranks, sizeof *n->of_rank),
	                      .passes = budget_calloc(s->ranks, 1)};
	if (!n->of_rank || !n->passes)
		return error_set(c->error, "no memory");
	for (uint32_t r = 0; r < s->ranks; r++) {
		const struct runs *runs = structure_runs(s, column, r);
		n->passes[r] = runs != NULL;
		if (!runs || (runs->count == 1 && columns_is_absent(s, runs->each[0].start)))
			continue;
		if (!(n->of_rank[r] = budget_malloc(runs_size((size_t)runs->count))))
			return error_set(c->error, "no memory");
		memcpy(n->of_rank[r], runs, runs_size((size_t)runs->count));
		for (int64_t i = 0; i < runs->count && n->of_rank[r]; i++)
			if (runs->each[i].start == VALUE_LOSSY) { /* there they are drawn */
				budget_free(n->of_rank[r]);
				n->of_rank[r] = NULL;
			}
	}
	return 0;
}

int numbers_copy(struct numbers *n, const struct numbers *from)
{
	uint32_t ranks = from->c->structure->ranks;
	*n = (struct numbers){.c = from->c,
	                      .x_name = node_name(from->c->tree, "rank"),
	                      .of_rank = budget_calloc(ranks, sizeof *n->of_rank),
	                      .passes = budget_calloc(ranks, 1)};
	if (!n->of_rank || !n->passes)
		return error_set(n->c->error, "no memory");
	memcpy(n->passes, from->passes, ranks);
	for (uint32_t r = 0; r < ranks; r++) {
		size_t size = from->of_rank[r] ? runs_size((size_t)from->of_rank[r]->count) : 0;
		if (size && !(n->of_rank[r] = budget_malloc(size)))
			return error_set(n->c->error, "no memory");
		if (size)
			memcpy(n->of_rank[r], from->of_rank[r], size);
	}
	return 0;
}

void numbers_end(struct numbers *n)
{
	for (uint32_t r = 0; n->of_rank && r < n->c->structure->ranks; r++)
		budget_free(n->of_rank[r]);
	budget_free(n->of_rank);
	budget_free(n->passes);
	budget_free(n->x);
}

bool numbers_uniform(const struct numbers *n, int64_t *value)
{
	bool any = false;
	for (uint32_t r = 0; r < n->c->structure->ranks; r++) {
		const struct runs *x = n->of_rank[r];
		if (!x)
			continue;
		if (x->count != 1 || x->each[0].stride != 0 || (any && x->each[0].start != *value))
			return false;
		*value = x->each[0].start;
		any = true;
	}
	return any;
}

bool numbers_alike(const struct runs *a, const struct runs *b)
{
	if (a->count != b->count || a->lead != b->lead)
		return false;
	for (int64_t i = 0; i < a->count; i++)
		if (a->each[i].stride != b->each[i].stride || a->each[i].count != b->each[i].count)
			return false;
	return true;
}

uint64_t numbers_hash(const struct runs *r)
{
	uint64_t hash = hash_mix((uint64_t)r->count, (uint64_t)r->lead);
	for (int64_t i = 0; i < r->count; i++)
		hash = hash_mix(hash_mix(hash, (uint64_t)r->each[i].stride), (uint64_t)r->each[i].count);
	return hash;
}

/* Is it written out, with lengths that may be functions of the rank? */
static bool has_shape(const struct runs *r)
{
	return r->count <= RUNS_WRITTEN && r->lead >= r->count;
}

bool numbers_share(const struct runs *a, const struct runs *b)
{
	if (a->count != b->count || !has_shape(a) || !has_shape(b))
		return numbers_alike(a, b);
	for (int64_t i = 0; i < a->count; i++)
		if (a->each[i].stride != b->each[i].stride)
			return false;
	return true;
}

const struct tree_node *numbers_value(const struct columns *c, int64_t v)
{
	return make_value((void *)c, v);
}

const struct tree_node *numbers_element(const struct numbers *n, int64_t v)
{
	return (n->kept ? make_kept : make_value)(n->c, v);
}

/* ---- expressions ---- */

struct fit numbers_fit(struct numbers *n)
{
	return (struct fit){.tree = n->c->tree,
	                    .x = n->x_name,
	                    .size = n->c->structure->ranks,
	                    .leaf = n->kept ? make_kept : make_value,
	                    .is_name = value_is_name,
	                    .context = n->c,
	                    .tables = n->c->tables,
	                    .table_count = &n->c->table_count};
}

/* The start of a run, on the ranks of a group; NULL: no memory. */
static const struct tree_node *make_start(struct numbers *n, const uint32_t *group, uint32_t which, int64_t run)
{
	uint32_t ranks = n->c->structure->ranks;
	struct point *points = budget_malloc(2 * ranks * sizeof *points);
	struct fit fit = numbers_fit(n);
	size_t count = 0;
	int level;
	if (!points)
		return NULL;
	for (uint32_t r = 0; r < ranks; r++)
		if (n->of_rank[r] && group[r] == which &&
		    !columns_is_absent(n->c->structure, n->of_rank[r]->each[run].start))
			points[count++] = (struct point){n->x ? n->x[r] : r, n->of_rank[r]->each[run].start};
	const struct tree_node *made = fit_make(&fit, points, count, &level);
	budget_free(points);
	n->level = level > n->level ? level : n->level;
	return made;
}

/* Are the visits of all ranks as far from the end of the loop around them? Then it is what follows its name. */
static bool find_end(const struct numbers *n, const struct point *points, size_t count, int64_t *from_end)
{
	const struct columns *c = n->c;
	bool same = true;
	for (size_t i = 0; i < count && c->turns_name; i++) {
		const struct runs *turns = structure_runs(c->structure, c->turns_column, (uint32_t)points[i].x);
		if (!turns || turns->count != 1 || turns->each[0].stride != 0)
			return false;
		int64_t distance = points[i].y - turns->each[0].start;
		if (i > 0 && distance != *from_end)
			return false;
		*from_end = distance;
		same &= points[i].y == points[0].y;
	}
	return c->turns_name && !same;
}

/* The first visit behind a run, on the ranks of a group; NULL: no memory. */
static const struct tree_node *make_end(struct numbers *n, const uint32_t *group, uint32_t which, int64_t run)
{
	uint32_t ranks = n->c->structure->ranks;
	struct point *points = budget_malloc(ranks * sizeof *points);
	struct fit fit = numbers_fit(n);
	const struct tree_node *made;
	size_t count = 0;
	int64_t from_end = 0;
	if (!points)
		return NULL;
	fit.x = node_name(n->c->tree, "rank");
	for (uint32_t r = 0; r < ranks; r++) {
		if (!n->of_rank[r] || group[r] != which)
			continue;
		points[count] = (struct point){r, 0};
		for (int64_t i = 0; i <= run; i++)
			points[count].y += n->of_rank[r]->each[i].count;
		count++;
	}
	if (find_end(n, points, count, &from_end)) {
		made = node_sum(n->c->tree, n->c->turns_name, from_end);
		n->local = true;
	} else {
		made = fit_make(&fit, points, count, NULL);
	}
	budget_free(points);
	return made;
}

/* How far a visit is behind the first one of its run. */
static const struct tree_node *visit_from(struct tree *t, const struct tree_node *visit, const struct tree_node *from)
{
	bool sum = from->form == NODE_PLUS || from->form == NODE_MINUS;
	return node_1(t, NODE_IN_BRACKETS,
	              node_2(t, NODE_MINUS, visit, sum ? node_1(t, NODE_IN_BRACKETS, from) : from));
}

/* A run as an expression of the visit, of which `from` was the first one of the run; NULL: 0. NULL: no memory. */
static const struct tree_node *make_run(struct numbers *n, const uint32_t *group, uint32_t which, int64_t run,
                                        const struct tree_node *visit, const struct tree_node *from,
                                        const struct runs *r)
{
	struct tree *t = n->c->tree;
	const struct tree_node *start = make_start(n, group, which, run);
	const int64_t stride = r->each[run].stride;
	if (!start || stride == 0)
		return start;
	n->visits = true;
	n->level = 2;
	const struct tree_node *steps = from ? visit_from(t, visit, from) : visit;
	if (stride != 1 && stride != -1)
		steps = node_2(t, NODE_TIMES, node_number(t, stride < 0 ? -stride : stride), steps);
	if (stride > 0 && node_is_number(start, 0))
		return steps;
	return node_2(t, stride < 0 ? NODE_MINUS : NODE_PLUS, start, steps);
}

/* Runs from one on: visit < end ? this : those behind it. NULL: no memory. */
static const struct tree_node *make_runs(struct numbers *n, const uint32_t *group, uint32_t which, int64_t run,
                                         const struct tree_node *visit, const struct tree_node *from,
                                         const struct runs *r)
{
	struct tree *t = n->c->tree;
	const struct tree_node *to = run + 1 < r->count ? make_end(n, group, which, run) : NULL;
	const struct tree_node *own = run + 1 < r->count && !to ? NULL : make_run(n, group, which, run, visit, from, r);
	if (!own || !to)
		return own;
	const struct tree_node *others = make_runs(n, group, which, run + 1, visit, to, r);
	if (!others)
		return NULL;
	const struct tree_node *when = node_is_number(to, 1) ? node_2(t, NODE_EQUAL, visit, node_number(t, 0))
	                                                     : node_2(t, NODE_LESS, visit, to);
	return node_choice(t, when, own, others);
}

static const struct tree_node *make_few(struct numbers *n, const uint32_t *group, uint32_t which, const struct runs *r)
{
	struct tree *t = n->c->tree;
	const struct tree_node *visit = node_of(t, NODE_VISIT, 0);
	int64_t total = 0;
	for (int64_t i = 0; i < r->count; i++)
		total += r->each[i].count;
	if (r->lead < r->count)
		visit = node_1(t, NODE_IN_BRACKETS, node_2(t, NODE_MODULO, visit, node_number(t, total)));
	n->visits = true;
	n->level = 2;
	return make_runs(n, group, which, 0, visit, NULL, r);
}

static const struct tree_node *make_run_table(struct numbers *n, const uint32_t *group, uint32_t which,
                                              const struct runs *r)
{
	struct tree *t = n->c->tree;
	const struct tree_node **rows = budget_calloc((size_t)r->count, sizeof *rows), *made = NULL;
	int rv = rows ? 0 : -1;
	n->level = 0;
	for (int64_t i = 0; i < r->count && rv == 0; i++) {
		const struct tree_node *start = make_start(n, group, which, i);
		rv = start ? 0 : -1;
		if (start)
			rows[i] = node_new(
				t, NODE_LIST, NULL,
				NODES(start, node_number(t, r->each[i].stride), node_number(t, r->each[i].count)));
	}
	if (rv == 0)
		rv = numbers_table(n, rows, r, &made);
	budget_free(rows);
	n->level = 2;
	return rv == 0 ? made : NULL;
}

/* ---- groups of ranks ---- */

static const struct tree_node *make_group(struct numbers *n, const uint32_t *group, uint32_t which,
                                          const struct runs *r)
{
	bool cyclic = r->lead < r->count;
	if (r->count == 1 && (r->each[0].stride == 0 || r->each[0].count == 0))
		return make_run(n, group, which, 0, node_of(n->c->tree, NODE_VISIT, 0), NULL, r);
	if (r->count <= RUNS_WRITTEN && (!cyclic || r->lead == 0))
		return make_few(n, group, which, r);
	return make_run_table(n, group, which, r);
}

static const struct tree_node *choose_leaf(void *context, int64_t i)
{
	return ((const struct tree_node **)context)[i];
}

/* A function that chooses among expressions. */
static const struct tree_node *make_pick(struct numbers *n, struct point *points, size_t count,
                                         const struct tree_node **each, uint32_t groups)
{
	struct tree *t = n->c->tree;
	struct fit fit = numbers_fit(n);
	fit.x = node_name(t, "rank");
	const struct tree_node *which = fit_make(&fit, points, count, NULL);
	struct nodes cases = {0};
	for (uint32_t g = 0; g < groups; g++) {
		nodes_add(t, &cases,
		          g + 1 < groups ? node_format(t, "\tcase $:\n", NODES(node_number(t, g)))
		                         : node_named(t, NODE_TEXT, "\tdefault:\n"));
		nodes_add(t, &cases, node_format(t, "\t\treturn $;\n", NODES(each[g])));
	}
	struct definition *pick = definition_add(n->c->tables, t, "pick", n->c->table_count++);
	pick->text = node_format(t, "static long $(long v)\n{\n\t(void)v;\n\tswitch ($) {\n$\t}\n}\n\n",
	                         NODES(node_use(t, pick), which, nodes_end(t, NODE_SEQUENCE, &cases)));
	return node_format(t, "$($)",
	                   NODES(node_use(t, pick), n->visits ? node_of(t, NODE_VISIT, 0) : node_number(t, 0)));
}

/* Which of the expressions it is depends on the rank. */
static int make_choice(struct numbers *n, const uint32_t *group, const struct tree_node **each, uint32_t groups,
                       const struct tree_node **out)
{
	uint32_t ranks = n->c->structure->ranks;
	struct point *points = groups > 1 ? budget_malloc(2 * ranks * sizeof *points) : NULL;
	struct fit fit = numbers_fit(n);
	size_t count = 0;
	*out = each[0];
	if (!points)
		return groups == 1 ? 0 : -1;
	fit.x = node_name(n->c->tree, "rank");
	fit.leaf = choose_leaf;
	fit.plain = fit.strict = true;
	fit.context = each;
	n->level = 2;
	for (uint32_t r = 0; r < ranks; r++)
		if (n->of_rank[r])
			points[count++] = (struct point){r, group[r]};
	*out = groups == 2 ? fit_make(&fit, points, count, NULL) : NULL;
	int rv = *out || !n->local ? 0 : 1; /* a function of its own does not know what is local */
	if (!*out && rv == 0)
		*out = make_pick(n, points, count, each, groups);
	budget_free(points);
	return rv;
}

static bool are_together(const void *context, uint32_t a, uint32_t b)
{
	const struct numbers *n = context;
	return (n->shapes ? numbers_share : numbers_alike)(n->of_rank[a], n->of_rank[b]);
}

static uint64_t hash_together(const struct numbers *n, const struct runs *r)
{
	uint64_t hash = (uint64_t)r->count;
	if (!n->shapes || !has_shape(r))
		return numbers_hash(r);
	for (int64_t i = 0; i < r->count; i++)
		hash = hash_mix(hash, (uint64_t)r->each[i].stride);
	return hash;
}

/* Finds the group of each rank, and the first rank of each group. Returns how many there are, or -1: no memory. */
static int64_t find_groups(const struct numbers *n, uint32_t *group, uint32_t *first)
{
	struct first_alike alike = {are_together, n, {0}};
	int64_t groups = 0;
	for (uint32_t r = 0; r < n->c->structure->ranks && groups >= 0; r++) {
		uint32_t k = n->of_rank[r] ? first_alike_find(&alike, r, hash_together(n, n->of_rank[r])) : INDEX_NONE;
		if (k == r)
			first[groups] = r;
		if (k != INDEX_NONE)
			group[r] = k == r ? (uint32_t)groups++ : group[k];
		else if (n->of_rank[r])
			groups = -1;
	}
	first_alike_free(&alike);
	return groups;
}

static int make_groups(struct numbers *n, uint32_t *group, uint32_t *first, const struct tree_node **each,
                       const struct tree_node **out)
{
	const int64_t found = find_groups(n, group, first);
	const uint32_t groups = found > 0 ? (uint32_t)found : 0;
	int rv = found < 0 ? -1 : 0;
	for (uint32_t g = 0; g < groups && rv == 0; g++) {
		each[g] = make_group(n, group, g, n->of_rank[first[g]]);
		rv = each[g] ? 0 : -1;
	}
	if (rv == 0 && groups > 0)
		rv = make_choice(n, group, each, groups, out);
	if (rv == 0 && groups == 0)
		*out = node_number(n->c->tree, 0);
	n->groups = groups;
	return rv;
}

int numbers_rules(struct numbers *n, bool shapes, const struct tree_node **out)
{
	uint32_t ranks = n->c->structure->ranks, *group = budget_calloc(ranks, sizeof *group);
	uint32_t *first = budget_calloc(ranks, sizeof *first);
	const struct tree_node **each = budget_calloc(ranks, sizeof *each);
	n->shapes = shapes;
	int rv = group && first && each ? make_groups(n, group, first, each, out) : -1;
	budget_free(group);
	budget_free(first);
	budget_free(each);
	return rv;
}
