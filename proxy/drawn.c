/* SPDX-License-Identifier: BSD-3-Clause
 * drawn - columns that have no order (of a lossy trace), which the program draws from what was counted
 */
#include "proxy/drawn.h"

#include <string.h>

#include "proxy/column_numbers.h"
#include "proxy/recipe.h"
#include "trace/base/budget.h"
#include "trace/read/call_fields.h"

#define DRAWN_MOST INT64_C(1000000000) /* values of a tally: products of two numbers up to it are less than 2^63 */
#define SENDS_MOST 1000                /* kinds of sends whose room is looked for */

static const struct trace_group *lossy_group(const struct trace_column *c)
{
	for (uint32_t g = 0; g < c->count; g++)
		if (c->groups[g].lossy)
			return &c->groups[g];
	return NULL;
}

/* ---- what can be drawn ---- */

static bool is_count(const struct schema *s, size_t column)
{
	const struct schema_column *c = &s->column[column];
	bool send = s->mpi->class == MPI_CLASS_POINT_TO_POINT && s->at[PARAMETER_DEST] >= 0 &&
	            s->at[PARAMETER_SOURCE] < 0 && s->at[PARAMETER_PARTITIONS] < 0;
	bool status = s->mpi->class == MPI_CLASS_LOCAL && c->direction != '>';
	return (send && s->at[PARAMETER_COUNT] == (int)column) ||
	       (status && c->length > 6 && memcmp(c->name + c->length - 6, ".count", 6) == 0);
}

static bool can_draw(const struct schema *s, size_t column, const struct tally *values)
{
	return !s->column[column].vector && is_count(s, column) && tally_constants(values) == 0 &&
	       tally_count(values) > 0 && tally_count(values) <= (uint64_t)DRAWN_MOST && values->bins[0].min >= 0;
}

/* Does the program, or what writes it, ask for a column's values? */
static bool is_needed(const struct schema *s, size_t column)
{
	const struct recipe *r = recipe_of(s);
	return (r && recipe_uses(r, &s->column[column])) || s->at[PARAMETER_FLAG] == (int)column ||
	       s->at[PARAMETER_OUTCOUNT] == (int)column || s->at[PARAMETER_REQUEST] == (int)column ||
	       s->at[PARAMETER_ERROR] == (int)column;
}

static int refuse_function(const struct trace *t, uint32_t function, FILE *out)
{
	const struct schema *s = &t->functions[function].schema;
	bool bad[SCHEMA_MAX + 1] = {false};
	int found = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; t->sites[i].function == function && k < t->sites[i].column_count; k++) {
			const struct trace_group *g = lossy_group(&t->sites[i].columns[k]);
			if (g && (k >= s->count || (is_needed(s, k) && !can_draw(s, k, &g->lossy->values))))
				bad[k < s->count ? k : SCHEMA_MAX] = true;
		}
	for (size_t k = 0; k < s->count; k++)
		if (bad[k])
			found++, fprintf(out, "  %.*s, whose values of %.*s have no order (a lossy trace)\n",
			                 (int)s->function_length, s->function, (int)s->column[k].length,
			                 s->column[k].name);
	if (bad[SCHEMA_MAX])
		found++, fprintf(out, "  %.*s, behind which calls have no order (a lossy trace)\n",
		                 (int)s->function_length, s->function);
	return found;
}

int drawn_refused(const struct trace *t, FILE *out)
{
	int found = 0;
	for (uint32_t i = 0; i < t->function_count; i++)
		found += refuse_function(t, i, out);
	for (uint32_t i = 0; i < t->object_count; i++)
		for (uint32_t k = 0; k < t->objects[i].column_count; k++)
			if (lossy_group(&t->objects[i].columns[k])) {
				fputs("  objects that have no order (a lossy trace)\n", out);
				return found + 1;
			}
	return found;
}

/* ---- room for it ---- */

struct drawn_send {
	int64_t dest; /* in MPI_COMM_WORLD; -1: not known */
	int64_t tag, type, most;
};

struct drawn_sends {
	const struct trace *trace;
	struct calls calls;
	struct drawn_send *each;
	uint32_t count, capacity;
	bool bad;
};

static int sends_add(struct drawn_sends *x, const struct event *e)
{
	const struct trace *t = x->trace;
	const struct trace_group *g = NULL;
	if (e->schema->at[PARAMETER_COUNT] >= 0)
		g = lossy_group(&t->sites[e->site].columns[e->schema->at[PARAMETER_COUNT]]);
	int64_t dest = call_value(e, PARAMETER_DEST);
	if (!g || call_of(&x->calls, e)->kind != CALL_SEND || trace_is_constant(t, dest, CONST_MPI_PROC_NULL))
		return 0;
	bool world = trace_is_constant(t, call_value(e, PARAMETER_COMM), CONST_MPI_COMM_WORLD);
	const struct tally *v = &g->lossy->values;
	struct drawn_send s = {world ? dest + e->base : -1, call_value(e, PARAMETER_TAG), call_value(e, PARAMETER_TYPE),
	                       v->count ? v->bins[v->count - 1].max : 0};
	for (uint32_t i = 0; i < x->count; i++)
		if (memcmp(&x->each[i], &s, sizeof s) == 0)
			return 0;
	if (x->count == SENDS_MOST || !budget_grow(&x->each, x->count, &x->capacity, sizeof *x->each))
		return -1;
	x->each[x->count++] = s;
	return 0;
}

static int sends_check(struct drawn_sends *x, const struct event *e, uint32_t rank)
{
	enum call_kind kind = call_of(&x->calls, e)->kind;
	bool both = kind == CALL_SENDRECV && e->schema->at[PARAMETER_RECV_COUNT] >= 0;
	if (kind != CALL_RECV && kind != CALL_MRECV && kind != CALL_SENDRECV)
		return 0;
	int64_t room = call_value(e, both ? PARAMETER_RECV_COUNT : PARAMETER_COUNT),
		type = call_value(e, both ? PARAMETER_RECV_TYPE : PARAMETER_TYPE),
		tag = call_value(e, e->schema->at[PARAMETER_RECV_TAG] >= 0 ? PARAMETER_RECV_TAG : PARAMETER_TAG);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct drawn_send *s = &x->each[i];
		bool meets = (s->dest < 0 || s->dest == rank) &&
		             (tag == s->tag || value_is_constant(tag) || tag <= VALUE_LOSSY);
		x->bad |= meets && (room < s->most || type != s->type);
	}
	return 0;
}

static int walk_sends(struct drawn_sends *x, bool check, struct error *error)
{
	for (uint32_t r = 0; r < x->trace->size; r++) {
		struct walk *w = NULL;
		struct event e;
		int step;
		if (walk_begin(&w, x->trace, r, error) != 0)
			return -1;
		while ((step = walk_next(w, &e, error)) == 0)
			if ((check ? sends_check(x, &e, r) : sends_add(x, &e)) != 0) {
				walk_end(w);
				return error_set(error, "too many kinds of messages have sizes without order");
			}
		walk_end(w);
		if (step < 0)
			return -1;
	}
	return 0;
}

int drawn_has_room(const struct trace *t, struct error *error)
{
	struct drawn_sends x = {.trace = t};
	if (!trace_has_lossy(t))
		return 0;
	int rv = calls_make(&x.calls, t) == 0 ? 0 : error_set(error, "no memory");
	if (rv == 0)
		rv = walk_sends(&x, false, error);
	if (rv == 0 && x.count)
		rv = walk_sends(&x, true, error);
	if (rv == 0 && x.bad)
		rv = error_set(error, "sizes of messages have no order (a lossy trace), and not all receives have room "
		                      "for the largest");
	calls_free(&x.calls);
	budget_free(x.each);
	return rv;
}

/* ---- the expression ---- */

bool column_is_drawn(const struct columns *c, uint32_t number)
{
	for (uint32_t r = 0; r < c->structure->ranks; r++) {
		const struct runs *x = structure_runs(c->structure, number, r);
		for (int64_t i = 0; x && i < x->count; i++)
			if (x->each[i].start == VALUE_LOSSY)
				return true;
	}
	return false;
}

static const struct tree_node *draw_from(struct columns *c, struct point *points, size_t count)
{
	struct numbers n = {.c = c, .x_name = node_name(c->tree, "rank")};
	struct fit f = numbers_fit(&n);
	const struct tree_node *made = points ? fit_make(&f, points, count, NULL) : NULL;
	budget_free(points);
	return made;
}

/* A function that draws on ranks of the group, of which each begins behind the visits of those in front. NULL: no
 * memory. */
static struct definition *make_drawn(struct columns *c, const struct trace_site *at, const struct trace_group *g,
                                     uint32_t number)
{
	struct tree *t = c->tree;
	const struct tally *tally = &g->lossy->values;
	struct point *points = budget_malloc((c->structure->ranks + UINT64_C(1)) * sizeof *points);
	int64_t before = 0, visits, all = (int64_t)tally_count(tally);
	size_t count = 0;
	for (uint32_t r = 0; points && r < c->structure->ranks; r++)
		if (rankmap_get(trace_group_ranks(g), r, &visits) && rankmap_get(&at->visits, r, &visits)) {
			points[count++] = (struct point){r, before};
			before = (before + visits % all) % all;
		}
	const struct tree_node *first = draw_from(c, points, count);
	struct definition *counted = definition_table(c->tables, t, "counted", number),
			  *drawn = definition_add(c->tables, t, "drawn", number);
	counted->sides = 2;
	counted->side[1] = 4;
	for (uint32_t i = 0; i < tally->count; i++) {
		definition_value(t, counted, tally->bins[i].min, NULL);
		definition_value(t, counted, tally->bins[i].max, NULL);
		definition_value(t, counted, (int64_t)tally->bins[i].count, NULL);
		definition_value(t, counted, (int64_t)tally->bins[i].sum, NULL);
	}
	if (first)
		drawn->text =
			node_format(t, "static long $(long v)\n{\n\treturn draw_counted($, $, ($) + v, $);\n}\n\n",
		                    NODES(node_use(t, drawn), node_use(t, counted), node_number(t, all), first,
		                          node_number(t, number)));
	return first ? drawn : NULL;
}

/* On which of the ranks that make the call it is drawn; *where: NULL: on all. */
static int find_where(struct columns *c, uint32_t number, const struct trace_group *g, const struct tree_node **where)
{
	struct point *points = budget_malloc((c->structure->ranks + UINT64_C(1)) * sizeof *points);
	size_t count = 0, drawn = 0;
	int64_t unused;
	for (uint32_t r = 0; points && r < c->structure->ranks; r++)
		if (structure_runs(c->structure, number, r)) {
			bool here = rankmap_get(trace_group_ranks(g), r, &unused);
			drawn += here;
			points[count++] = (struct point){r, here};
		}
	*where = draw_from(c, points, count);
	if (!*where)
		return error_set(c->error, "no memory");
	if (drawn == count)
		*where = NULL;
	return 0;
}

int column_drawn(struct columns *c, const struct proxy_site *site, uint32_t number, struct expression *out)
{
	const struct trace_site *at = &c->structure->trace->sites[site->site];
	const struct schema *s = trace_schema(c->structure->trace, at);
	size_t column = number - site->first;
	const struct trace_group *g = column < at->column_count ? lossy_group(&at->columns[column]) : NULL;
	const struct tree_node *where = NULL;
	struct expression other = {0};
	struct numbers n;
	uint32_t table = c->table_count++;
	if (!g || !can_draw(s, column, &g->lossy->values))
		return error_set(c->error, "values are not known in order: it is a lossy trace");
	struct definition *drawn = make_drawn(c, at, g, table);
	if (!drawn)
		return error_set(c->error, "no memory");
	int rv = find_where(c, number, g, &where);
	if (where && rv == 0) {
		rv = numbers_begin(&n, c, number);
		if (rv == 0)
			rv = numbers_write(&n, &other);
		numbers_end(&n);
	}
	*out = (struct expression){
		.visits = true,
		.node = node_format(c->tree, "$($)", NODES(node_use(c->tree, drawn), node_of(c->tree, NODE_VISIT, 0)))};
	if (where && rv == 0)
		out->node = node_1(c->tree, NODE_IN_BRACKETS, node_choice(c->tree, where, out->node, other.node));
	return rv;
}
