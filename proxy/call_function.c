/* SPDX-License-Identifier: BSD-3-Clause
 * call_function - calls of a large program that differ in their values only, as calls of a function
 */
#include "proxy/call_function.h"

#include <string.h>

#include "proxy/node_same.h"
#include "trace/base/budget.h"

#define CALLS_FEW 3 /* are as they are */

struct call_function {
	struct call_body body;
	uint32_t calls;
	bool same[CALL_PARAMETERS]; /* as that of the first call */
	uint32_t first;
	const char *name; /* NULL: it is not used */
};

/* ---- collecting ---- */

struct body_key {
	const struct call_functions *f;
	const struct call_body *body;
};

static bool is_same_body(const void *context, uint32_t i)
{
	const struct body_key *k = context;
	const struct call_body *a = &k->f->each[i].body, *b = k->body;
	bool same = a->parameters == b->parameters && node_same(a->node, b->node);
	for (size_t p = 0; same && p < a->parameters; p++)
		same = strcmp(a->types[p].type, b->types[p].type) == 0 &&
		       strcmp(a->types[p].name, b->types[p].name) == 0;
	return same;
}

/* May it stand in a function? A number, a name of MPI, or a handle: 17, MPI_SUM, &request[0]. */
static bool is_global(const struct tree_node *n)
{
	const struct tree_node *handle = n->form == NODE_ADDRESS ? n->at[0] : n;
	return n->form == NODE_NUMBER || n->form == NODE_CONSTANT ||
	       (handle->form == NODE_AT && handle->at[0]->form == NODE_NAME && handle->at[1]->form == NODE_NUMBER);
}

static struct call_function *function_of(struct call_functions *f, const struct call_body *body)
{
	struct body_key key = {f, body};
	uint64_t hash = node_hash(body->node);
	uint32_t found = index_find(&f->index, hash, is_same_body, &key);
	if (found != INDEX_NONE)
		return &f->each[found];
	if (!budget_grow(&f->each, f->count, &f->capacity, sizeof *f->each) ||
	    index_add(&f->index, hash, f->count) != 0)
		return NULL;
	f->each[f->count] = (struct call_function){.body = *body, .first = f->call_count};
	return &f->each[f->count++];
}

int call_functions_add(struct call_functions *f, struct tree *t, const struct call_body *body,
                       const struct call_made *call, struct nodes *out)
{
	struct call_function *of = function_of(f, body);
	if (!of || !budget_grow(&f->calls, f->call_count, &f->call_capacity, sizeof *f->calls))
		return -1;
	f->calls[f->call_count] = *call;
	f->calls[f->call_count].function = (uint32_t)(of - f->each);
	for (size_t i = 0; i < of->body.parameters; i++)
		of->same[i] = of->calls == 0 ? is_global(call->values[i])
		                             : of->same[i] && node_same(call->values[i], f->calls[of->first].values[i]);
	of->calls++;
	nodes_add(t, out, node_of(t, NODE_CALL_SITE, f->call_count++));
	return 0;
}

/* ---- the functions ---- */

/* The statements of a call, if it is one of a function with this name. */
static const struct tree_node *make_call(const struct call_functions *f, struct tree *t, const struct call_made *m,
                                         const char *name)
{
	const struct call_function *of = &f->each[m->function];
	struct nodes values = {0}, all = {0};
	nodes_add(t, &values, node_of(t, NODE_SITE, m->number));
	for (size_t i = 0; i < of->body.parameters; i++)
		if (!of->same[i])
			nodes_add(t, &values, m->values[i]);
	for (uint32_t i = 0; i < m->before->count; i++)
		nodes_add(t, &all, m->before->at[i]);
	nodes_add(t, &all, node_1(t, NODE_STATEMENT, node_call(t, name, values.each, values.count)));
	budget_free(values.each);
	const struct tree_node *list = nodes_end(t, m->block ? NODE_BLOCK : NODE_SEQUENCE, &all);
	return m->block ? node_1(t, NODE_SEQUENCE, list) : list;
}

struct filling {
	const struct call_functions *f;
	const struct call_function *of;
};

/* What stands for a parameter in the body. `*&type[0]` is type[0]. */
static const struct tree_node *fill_hole(void *context, struct tree *t, const struct tree_node *n)
{
	const struct filling *x = context;
	const struct tree_node *hole = n->form == NODE_DEREFERENCED ? n->at[0] : n;
	if (hole->form != NODE_HOLE)
		return NULL;
	const struct tree_node *value = x->of->same[hole->number] ? x->f->calls[x->of->first].values[hole->number]
	                                                          : node_name(t, x->of->body.types[hole->number].name);
	if (n == hole)
		return value;
	return value->form == NODE_ADDRESS ? value->at[0] : node_1(t, NODE_DEREFERENCED, value);
}

static void add_function(const struct call_functions *f, struct tree *t, const struct call_function *of,
                         const char *name, struct routines *out)
{
	struct filling x = {f, of};
	struct parameter given[CALL_PARAMETERS + 1] = {{"int ", "site"}};
	uint32_t count = 1;
	for (size_t i = 0; i < of->body.parameters; i++)
		if (!of->same[i])
			given[count++] = of->body.types[i];
	routine_add(out, t, name, given, count, node_replace(t, of->body.node, fill_hole, &x));
}

/* Does a function make the program shorter? */
static bool is_shorter(const struct call_functions *f, struct tree *t, uint32_t number)
{
	const struct call_function *of = &f->each[number];
	struct printer plain = {.out = NULL}, other = plain;
	struct routines one = {0};
	if (of->calls <= CALLS_FEW)
		return false;
	add_function(f, t, of, of->body.mpi, &one);
	routines_print(&other, &one);
	routines_free(&one);
	for (uint32_t i = of->first; i < f->call_count; i++)
		if (f->calls[i].function == number) {
			print_statement(&other, make_call(f, t, &f->calls[i], of->body.mpi), f->calls[i].indent);
			print_statement(&plain, f->calls[i].plain, f->calls[i].indent);
		}
	return other.size < plain.size;
}

int call_functions_choose(struct call_functions *f, struct tree *t, struct names *names, struct routines *out)
{
	for (uint32_t i = 0; i < f->count; i++) {
		struct call_function *of = &f->each[i];
		if (!is_shorter(f, t, i))
			continue;
		const char *name = names_make(names, names_without_mpi(of->body.mpi));
		if (!name)
			return -1;
		of->name = tree_name(t, name, strlen(name));
		add_function(f, t, of, of->name, out);
	}
	return t->failed ? -1 : 0;
}

static const struct tree_node *expand_site(void *context, struct tree *t, const struct tree_node *n)
{
	const struct call_functions *f = context;
	if (n->form == NODE_STATEMENT || n->form == NODE_DECLARE)
		return n;
	if (n->form != NODE_CALL_SITE)
		return NULL;
	const struct call_made *m = &f->calls[n->number];
	return f->each[m->function].name ? make_call(f, t, m, f->each[m->function].name) : m->plain;
}

const struct tree_node *call_functions_expand(const struct call_functions *f, struct tree *t, const struct tree_node *n)
{
	return node_replace(t, n, expand_site, (void *)f);
}

void call_functions_free(struct call_functions *f)
{
	budget_free(f->each);
	budget_free(f->calls);
	index_free(&f->index);
}
