/* SPDX-License-Identifier: BSD-3-Clause
 * call_site - the statements of a call site
 *
 * Values that are more than a term become variables in front of the call, as arrays do. Then the recipe is written,
 * with each {...} replaced.
 */
#include "proxy/call_site.h"

#include <ctype.h>
#include <string.h>

#include "proxy/array_rule.h"
#include "proxy/call_parts.h"
#include "proxy/drawn.h"
#include "proxy/outstanding.h"
#include "proxy/scalar_rule.h"
#include "trace/base/budget.h"

#define RULE_SHORT 40  /* letters that are read at a glance */
#define BASE_LONG  200 /* letters of what is said several times */

bool call_is_periodic(const struct structure *s, const struct proxy_site *site, uint64_t turns)
{
	const struct trace_site *of = &s->trace->sites[site->site];
	const struct schema *schema = trace_schema(s->trace, of);
	const struct recipe *recipe = recipe_of(schema);
	for (size_t i = 0; i < schema->count; i++)
		if (recipe_uses(recipe, &schema->column[i]) &&
		    !structure_is_periodic(s, site->first + (uint32_t)i, turns, &of->visits))
			return false;
	return true;
}

/* ---- values ---- */

/* The name of a column as a variable; the program has others of some names. */
const char *call_argument_name(const struct call_site *x, const struct schema_column *column)
{
	char out[80];
	static const char *const taken[] = {"rank",    "size",   "comm",  "type",     "group",      "op",
	                                    "win",     "file",   "info",  "keyval",   "errhandler", "message",
	                                    "request", "status", "total", "position", "memory"};
	snprintf(out, 70, "%.*s", (int)(column->length < 60 ? column->length : 60), column->name);
	for (char *at = out; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(out, taken[i]) == 0) {
			strcat(out, "_here");
			break;
		}
	return tree_name(x->c->tree, out, strlen(out));
}

static bool has_peers(const struct call_site *x)
{
	for (size_t i = 0; i < x->schema->count; i++)
		if (x->schema->column[i].kind == 'p' && !x->schema->column[i].vector &&
		    recipe_uses(x->recipe, &x->schema->column[i]))
			return true;
	return false;
}

/* What `p` values are relative to: the rank in the first communicator that the call is given. */
static int find_base(struct call_site *x)
{
	struct tree *t = x->c->tree;
	struct expression e = {0};
	x->base = node_name(t, "rank");
	if (!has_peers(x))
		return 0;
	for (size_t i = 0; i < x->schema->count; i++) {
		const struct schema_column *column = &x->schema->column[i];
		if (column->kind != 'c' || column->vector || column->direction == '>')
			continue;
		if (column_scalar(x->c, x->site, column, x->site->first + (uint32_t)i, x->base, &e) != 0)
			return -1;
		if (!e.known || !value_is_constant(e.value) ||
		    !trace_is_constant(x->c->structure->trace, e.value, CONST_MPI_COMM_WORLD))
			x->base = node_call(t, "rank_in", NODES(e.node));
		if (!e.simple || print_size(e.node) + 10 > BASE_LONG) {
			x->base = node_of(t, NODE_OWN_RANK, 0);
			x->comm = e;
			x->comm_argument = i;
			x->visits |= e.visits;
		}
		return 0;
	}
	return 0;
}

static bool asks_length(const struct call_site *x, const struct schema_column *column)
{
	return recipe_asks(x->recipe, '#', column);
}

const char *call_element_type(const struct call_site *x, const struct schema_column *column)
{
	size_t n;
	const char *type = recipe_type(x->recipe, column, &n);
	return column->kind == 'r' ? "int" : tree_name(x->c->tree, type, n);
}

/* An array, as a function of one of those in front of it if it is that. */
static int make_array(struct call_site *x, size_t i, struct array *a)
{
	const struct schema_column *column = &x->schema->column[i];
	uint32_t number = x->site->first + (uint32_t)i;
	size_t followers;
	const char *type = call_element_type(x, column);
	for (size_t k = 0; k < i && column->kind == 'i'; k++) {
		const struct array *from = &x->arguments[k].array;
		if (x->schema->column[k].kind != 'i' || !from->which.node || from->elements || !from->fixed)
			continue;
		int rv = array_by_rule(x->c, number, type, x->site->first + (uint32_t)k, from,
		                       call_element_type(x, &x->schema->column[k]), a);
		if (rv != 0)
			return rv < 0 ? -1 : 0;
	}
	if (array_followers(x->c, x->schema, x->recipe, x->site->first, i, &followers) != 0)
		return -1;
	return column_array(x->c, column, number, type, column->kind == 'r' || asks_length(x, column), followers, a);
}

static int make_argument(struct call_site *x, size_t i)
{
	const struct schema_column *column = &x->schema->column[i];
	struct argument *a = &x->arguments[i];
	uint32_t number = x->site->first + (uint32_t)i;
	a->used = true;
	if (column->vector) {
		if (make_array(x, i, &a->array) != 0)
			return -1;
		a->gathered = column->kind == 'r' && !a->array.contiguous && !a->array.none;
		if (!a->array.none && !a->array.contiguous)
			a->name = call_argument_name(x, column);
		return 0;
	}
	if (column_scalar(x->c, x->site, column, number, x->base, &a->value) != 0)
		return -1;
	/* What has come from a series comes from it once, also if it is asked for several times. */
	if (!a->value.simple && (recipe_uses(x->recipe, column) > 1 || recipe_polls(x->recipe)))
		a->name = call_argument_name(x, column);
	return 0;
}

/* Requests that a program knows by itself need no table, nor a long rule. */
static void leave_requests(struct call_site *x, struct argument *a, size_t i)
{
	const char *text = x->site->requests_in_order && !a->value.known ? outstanding_text(x->schema, i) : NULL;
	if (!text || dense_sizes(x->c->tree, &a->tables) + print_size(a->value.node) < RULE_SHORT)
		return;
	a->value = (struct expression){.node = node_named(x->c->tree, NODE_TEXT, text)};
	definitions_free(&a->tables);
	a->name = NULL;
}

/* Its tables are kept aside. */
static int attempt_argument(struct call_site *x, size_t i)
{
	struct definitions *tables = x->c->tables;
	struct argument *a = &x->arguments[i];
	x->c->tables = &a->tables;
	int rv = make_argument(x, i);
	x->c->tables = tables;
	if (rv == 0 && a->value.node)
		leave_requests(x, a, i);
	return rv;
}

/* A number that is recorded as it is, and has no order of its own. */
static bool may_follow(const struct call_site *x, size_t i)
{
	const struct schema_column *column = &x->schema->column[i];
	const struct argument *a = &x->arguments[i];
	return a->used && column->kind == 'i' && !column->vector && !a->value.known &&
	       !column_is_drawn(x->c, x->site->first + (uint32_t)i);
}

/* A number as a function of another one of the call, if that is shorter. */
static int try_rule(struct call_site *x, size_t i, size_t from)
{
	struct argument *a = &x->arguments[i], *of = &x->arguments[from];
	struct definitions *tables = x->c->tables, own = {0};
	struct tree *t = x->c->tree;
	const char *name = call_argument_name(x, &x->schema->column[from]);
	const struct tree_node *made;
	uint32_t count = x->c->table_count;
	x->c->tables = &own;
	int rv = scalar_by_rule(x->c, x->site->first + (uint32_t)i, x->site->first + (uint32_t)from, name, &made);
	x->c->tables = tables;
	if (rv == 1 &&
	    print_size(made) + dense_sizes(t, &own) < print_size(a->value.node) + dense_sizes(t, &a->tables)) {
		definitions_free(&a->tables);
		a->value = (struct expression){.node = made};
		a->tables = own;
		of->first = true;
		of->name = name;
		return 0;
	}
	x->c->table_count = count;
	definitions_free(&own);
	return rv < 0 ? -1 : 0;
}

/* Only one that has no tables decides another one, and one that decides others is not decided itself. */
static int find_rules(struct call_site *x)
{
	for (size_t i = 0; i < x->schema->count; i++)
		for (size_t k = 0; k < x->schema->count; k++) {
			const struct argument *a = &x->arguments[i], *of = &x->arguments[k];
			if (i != k && may_follow(x, i) && may_follow(x, k) && !a->first && a->tables.first &&
			    !of->tables.first && try_rule(x, i, k) != 0)
				return -1;
		}
	return 0;
}

static int make_arguments(struct call_site *x)
{
	for (size_t i = 0; i < x->schema->count; i++)
		if (recipe_uses(x->recipe, &x->schema->column[i]) && attempt_argument(x, i) != 0)
			return -1;
	if (find_rules(x) != 0)
		return -1;
	x->visits = x->comm.visits;
	for (size_t i = 0; i < x->schema->count; i++)
		if (x->arguments[i].used) {
			x->visits |= x->arguments[i].value.visits || x->arguments[i].array.which.visits;
			definitions_join(x->c->tables, &x->arguments[i].tables);
		}
	return 0;
}

/* ---- variables ---- */

static const struct tree_node *declare(struct call_site *x, const char *type, const char *name,
                                       const struct tree_node *value)
{
	return node_declare(x->c->tree, type, name, false, value);
}

/* A type or a name that is put together. */
static const char *joined(struct call_site *x, const char *a, const char *b)
{
	char text[200];
	int n = snprintf(text, sizeof text, "%s%s", a, b);
	return tree_name(x->c->tree, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

static void declare_array(struct call_site *x, size_t i, const struct tree_node *visit, struct nodes *out)
{
	const struct argument *a = &x->arguments[i];
	struct tree *t = x->c->tree;
	const char *name = joined(x, a->name, a->gathered ? "_numbers" : ""), *which = joined(x, a->name, "_which"),
		   *type = call_element_type(x, &x->schema->column[i]), *pointer = joined(x, type, " *const ");
	if (a->array.elements) {
		nodes_add(t, out,
		          node_declare(t, joined(x, type, " "), name, true,
		                       node_visit(t, a->array.elements, visit, x->turns)));
	} else if (a->array.queue) {
		nodes_add(t, out, declare(x, pointer, name, node_call(t, "numbers", NODES(a->array.queue))));
	} else {
		nodes_add(t, out,
		          declare(x, "const long ", which, node_visit(t, a->array.which.node, visit, x->turns)));
		nodes_add(t, out,
		          declare(x, pointer, name,
		                  node_format(t, "$($)",
		                              NODES(node_use(t, a->array.made), node_named(t, NODE_LOCAL, which)))));
	}
	if (!a->gathered)
		return;
	bool fixed = a->array.fixed || a->array.elements;
	const struct tree_node *length =
		fixed ? node_number(t, (int64_t)a->array.most)
		      : node_format(t, "$($)", NODES(node_use(t, a->array.length), node_named(t, NODE_LOCAL, which)));
	nodes_add(t, out,
	          declare(x, "MPI_Request *const ", a->name,
	                  node_call(t, "gather", NODES(length, node_named(t, NODE_LOCAL, name)))));
}

static bool asks_rank(const struct call_site *x)
{
	for (size_t i = 0; x->comm.node && !x->distances && i < x->schema->count; i++)
		if (x->arguments[i].used && x->arguments[i].value.node && call_asks_rank(x->arguments[i].value.node))
			return true;
	return false;
}

static void declare_scalar(struct call_site *x, size_t i, const struct tree_node *visit, struct nodes *out)
{
	const struct argument *a = &x->arguments[i];
	struct tree *t = x->c->tree;
	const char *type = handles_type(x->schema->column[i].kind);
	const struct tree_node *value = node_visit(t, a->value.node, visit, x->turns);
	if (type)
		value = node_1(t, NODE_ADDRESS, value);
	nodes_add(t, out,
	          declare(x,
	                  type                               ? joined(x, type, " *const ")
	                  : x->schema->column[i].kind == 's' ? "const char *const "
	                                                     : "const long ",
	                  a->name, value));
}

static void add_variables(struct call_site *x, const struct tree_node *visit, struct nodes *out)
{
	struct tree *t = x->c->tree;
	if (asks_rank(x))
		nodes_add(t, out,
		          declare(x, "const long ", "own_rank",
		                  node_call(t, "rank_in", NODES(node_visit(t, x->comm.node, visit, x->turns)))));
	for (int first = 1; first >= 0; first--)
		for (size_t i = 0; i < x->schema->count; i++) {
			const struct argument *a = &x->arguments[i];
			if (a->used && a->name && a->first == first)
				(x->schema->column[i].vector ? declare_array : declare_scalar)(x, i, visit, out);
		}
}

bool call_has_variables(const struct call_site *x)
{
	bool any = asks_rank(x);
	for (size_t i = 0; i < x->schema->count; i++)
		any |= x->arguments[i].used && x->arguments[i].name;
	return any;
}

const struct tree_node *call_next_visit(struct tree *t, uint32_t counter)
{
	return node_1(t, NODE_NEXT, node_2(t, NODE_AT, node_name(t, "visit"), node_of(t, NODE_COUNTER, counter)));
}

bool call_begin(struct call_site *x, const struct call_place *at, const uint32_t *counter, struct nodes *out)
{
	struct tree *t = x->c->tree;
	bool block = (counter || call_has_variables(x)) && !at->alone;
	if (counter)
		nodes_add(t, out, declare(x, "const long ", "v", call_next_visit(t, *counter)));
	add_variables(x, at->visit ? at->visit : node_of(t, NODE_VISIT, 0), out);
	return block;
}

static void add_call(struct tree *t, struct nodes *out, const char *name, const struct tree_node *const *at,
                     size_t count)
{
	nodes_add(t, out, node_1(t, NODE_STATEMENT, node_call(t, name, at, count)));
}

/* The requests of an array go back to where they are. */
static void add_scatter(struct call_site *x, const struct tree_node *visit, struct nodes *out)
{
	struct tree *t = x->c->tree;
	for (size_t i = 0; i < x->schema->count; i++)
		if (x->arguments[i].gathered)
			add_call(t, out, "scatter",
			         NODES(call_argument(x, i, '#', visit),
			               node_named(t, NODE_LOCAL, joined(x, x->arguments[i].name, "_numbers")),
			               node_named(t, NODE_LOCAL, x->arguments[i].name)));
}

int call_plain(struct call_site *x, const struct call_place *at, const uint32_t *counter, struct nodes *out)
{
	struct tree *t = x->c->tree;
	struct nodes own = {0};
	const struct tree_node *last,
		*visit = at->visit ? at->visit : node_of(t, NODE_VISIT, 0),
		*compute = node_1(t, NODE_STATEMENT, node_call(t, "compute", NODES(node_of(t, NODE_SITE, at->number))));
	bool poll = recipe_polls(x->recipe), initial = mpi_initializes(x->schema->mpi),
	     block = call_begin(x, at, counter, &own);
	if (!poll && !initial)
		nodes_add(t, &own, compute);
	if (call_recipe(x, visit, &own, &last) != 0) {
		budget_free(own.each);
		return error_set(x->c->error, "a parameter of %.*s is not in the trace",
		                 (int)x->schema->function_length, x->schema->function);
	}
	nodes_add(t, &own, poll ? node_2(t, NODE_DO, compute, last) : node_1(t, NODE_STATEMENT, last));
	add_scatter(x, visit, &own);
	if (initial)
		add_call(t, &own, "begin", NULL, 0);
	const struct tree_node *all = nodes_end(t, block ? NODE_BLOCK : NODE_SEQUENCE, &own);
	for (uint32_t i = 0; !block && i < all->count; i++)
		nodes_add(t, out, all->at[i]);
	if (block)
		nodes_add(t, out, all);
	return 0;
}

static int make_statements(struct call_site *x, const struct call_place *at, struct nodes *out)
{
	uint32_t counter = *at->counters;
	bool counted = x->visits && !at->visit;
	*at->counters += counted;
	if (x->visits && at->used)
		*at->used = true;
	return (x->c->functions && call_may_be_short(x) ? call_short : call_plain)(x, at, counted ? &counter : NULL,
	                                                                           out);
}

int call_make(struct columns *c, const struct proxy_site *site, const struct call_place *at, struct nodes *out)
{
	struct call_site *x = budget_calloc(1, sizeof *x);
	if (!x)
		return error_set(c->error, "no memory");
	x->c = c;
	c->call = at->number;
	x->site = site;
	x->turns = at->turns;
	x->schema = trace_schema(c->structure->trace, &c->structure->trace->sites[site->site]);
	x->recipe = recipe_of(x->schema);
	int rv = find_base(x);
	if (rv == 0)
		rv = make_arguments(x);
	if (rv == 0)
		rv = make_statements(x, at, out);
	for (size_t i = 0; i < x->schema->count; i++)
		definitions_free(&x->arguments[i].tables);
	budget_free(x);
	return rv;
}
