/* SPDX-License-Identifier: BSD-3-Clause
 * call_short - a call in both forms: its statements, and the call of a function that has them (call_function.h)
 *
 * What a function is given is said once: values that are asked for twice need no variable. If one of them has the
 * number of the visit, that is counted where it stands.
 */
#include <string.h>

#include "proxy/call_parts.h"
#include "trace/base/budget.h"
#include "trace/model/mpi.h"

bool call_may_be_short(const struct call_site *x)
{
	for (size_t i = 0; i < x->schema->count; i++)
		if (x->arguments[i].gathered)
			return false;
	return !mpi_initializes(x->schema->mpi);
}

/* ---- the body ---- */

/* NULL: there is none. */
static const struct tree_node *make_body(struct call_site *x)
{
	struct tree *t = x->c->tree;
	struct nodes all = {0};
	const struct tree_node *last,
		*compute =
			node_1(t, NODE_STATEMENT,
	                       node_call(t, "compute",
	                                 NODES(node_new(t, NODE_SITE, &(struct tree_node){.name = "site"}, NULL, 0))));
	bool poll = recipe_polls(x->recipe);
	if (!poll)
		nodes_add(t, &all, compute);
	x->in_body = true;
	int rv = call_recipe(x, node_of(t, NODE_VISIT, 0), &all, &last);
	x->in_body = false;
	if (rv == 0)
		nodes_add(t, &all, poll ? node_2(t, NODE_DO, compute, last) : node_1(t, NODE_STATEMENT, last));
	const struct tree_node *body = nodes_end(t, NODE_BLOCK, &all);
	return rv == 0 ? body : NULL;
}

static const char *joined(struct call_site *x, const char *a, const char *b)
{
	char text[200];
	int n = snprintf(text, sizeof text, "%s%s", a, b);
	return tree_name(x->c->tree, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

static struct parameter make_type(struct call_site *x, const struct call_parameter *p)
{
	const struct schema_column *column = &x->schema->column[p->argument];
	const char *handle = handles_type(column->kind), *name = call_argument_name(x, column);
	if (p->form == CALL_DISTANCE)
		return (struct parameter){"long ", joined(x, name, "_distance")};
	if (p->form == '#')
		return (struct parameter){"int ", joined(x, name, "_count")};
	if (column->vector)
		return (struct parameter){
			joined(x, column->kind == 'r' ? "MPI_Request" : call_element_type(x, column), " *"), name};
	if (handle)
		return (struct parameter){joined(x, handle, p->form == '&' ? " *" : " "), name};
	return (struct parameter){column->kind == 's' ? "const char *" : "long ", name};
}

/* ---- the call ---- */

/* Counts the number of the visit where it is always looked at; *asked: what comes now is not. */
static unsigned count_always(const struct tree_node *n, bool *asked)
{
	bool asks = n->form == NODE_CHOICE || n->form == NODE_BOTH || n->form == NODE_EITHER || n->form == NODE_BITS;
	*asked |= n->form == NODE_ADDRESS || n->form == NODE_COMPOUND;
	unsigned count = n->form == NODE_VISIT ? 1 + *asked : 0;
	for (uint32_t i = 0; i < n->count; i++) {
		count += count_always(n->at[i], asked);
		*asked |= asks;
	}
	return count;
}

/* Does it stand once in all values, where it is always looked at? */
static bool counts_once(struct call_site *x)
{
	unsigned count = 0;
	for (size_t k = 0; k < x->parameter_count; k++) {
		bool asked = false;
		const struct call_parameter *p = &x->parameters[k];
		count += count_always(call_argument(x, p->argument, p->form, node_of(x->c->tree, NODE_VISIT, 0)),
		                      &asked);
	}
	return count == 1;
}

/* Variables that other values ask for stay. */
static bool drops_variable(const struct call_site *x, size_t i)
{
	return !x->schema->column[i].vector && !x->arguments[i].first;
}

static void make_short(struct call_site *x, const struct call_place *at, const uint32_t *counter,
                       struct call_body *body, struct call_made *made)
{
	struct tree *t = x->c->tree;
	struct nodes before = {0};
	x->distances = call_has_distances(x);
	for (size_t i = 0; i < x->schema->count; i++)
		if (drops_variable(x, i))
			x->arguments[i].name = NULL;
	bool once = counter && !call_has_variables(x) && counts_once(x);
	const struct tree_node *visit = once ? call_next_visit(t, *counter) : node_of(t, NODE_VISIT, 0);
	made->block = call_begin(x, at, once ? NULL : counter, &before);
	made->before = nodes_end(t, NODE_SEQUENCE, &before);
	body->parameters = x->parameter_count;
	for (size_t k = 0; k < x->parameter_count; k++) {
		const struct call_parameter *p = &x->parameters[k];
		made->values[k] = call_argument(x, p->argument, p->form, at->visit ? at->visit : visit);
		body->types[k] = make_type(x, p);
	}
}

int call_short(struct call_site *x, const struct call_place *at, const uint32_t *counter, struct nodes *out)
{
	struct tree *t = x->c->tree;
	struct call_body body = {.node = make_body(x)};
	struct call_made made = {.number = at->number, .indent = at->indent};
	struct nodes plain = {0};
	if (!body.node || x->many)
		return call_plain(x, at, counter, out);
	snprintf(body.mpi, sizeof body.mpi, "%.*s", (int)x->schema->function_length, x->schema->function);
	if (call_plain(x, at, counter, &plain) != 0) {
		budget_free(plain.each);
		return -1;
	}
	made.plain = nodes_end(t, NODE_SEQUENCE, &plain);
	make_short(x, at, counter, &body, &made);
	if (call_functions_add(x->c->functions, t, &body, &made, out) != 0)
		return error_set(x->c->error, "no memory");
	return 0;
}
