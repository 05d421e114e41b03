/* SPDX-License-Identifier: BSD-3-Clause
 * call_recipe - the recipe of a call, with each {...} replaced by a value, or by what a function is given for it
 */
#include <string.h>

#include "proxy/call_parts.h"

/* ---- what a function is given ---- */

static const struct tree_node *parameter_of(struct call_site *x, size_t i, char form)
{
	size_t k = 0;
	while (k < x->parameter_count && (x->parameters[k].argument != i || x->parameters[k].form != form))
		k++;
	x->many |= k == CALL_PARAMETERS;
	if (k == x->parameter_count && !x->many)
		x->parameters[x->parameter_count++] = (struct call_parameter){i, form};
	return node_of(x->c->tree, NODE_HOLE, x->many ? 0 : (int64_t)k);
}

/* Does a series say which one it is? */
static bool asks_series(const struct tree_node *n)
{
	bool asks = n->form == NODE_USE && (strcmp(n->of->kind, "next") == 0 || strcmp(n->of->kind, "pick") == 0);
	for (uint32_t i = 0; i < n->count && !asks; i++)
		asks = asks_series(n->at[i]);
	return asks;
}

/* How far a peer is from the own rank: see make_peer in column_value.c. NULL: it has no distance, or which communicator
 * it is comes from a series, which would not be asked for any more. */
static const struct tree_node *distance_of(const struct call_site *x, size_t i)
{
	const struct tree_node *n = x->arguments[i].value.node;
	if (!n || !x->comm.node || asks_series(x->comm.node))
		return NULL;
	if (n->form == NODE_CALL && n->count == 2 && n->at[0]->form == NODE_OWN_RANK)
		return n->at[1];
	const struct tree_node *sum = n->form == NODE_IN_BRACKETS ? n->at[0] : n;
	return sum->form == NODE_PLUS && sum->at[0]->form == NODE_OWN_RANK && sum->at[1]->form == NODE_IN_BRACKETS
	               ? sum->at[1]->at[0]
	               : NULL;
}

bool call_has_distances(const struct call_site *x)
{
	bool any = false;
	for (size_t i = 0; i < x->schema->count; i++)
		any |= x->arguments[i].used && x->schema->column[i].kind == 'p' && distance_of(x, i);
	return any;
}

/* rank_in(comm) + dest_distance */
static const struct tree_node *from_distance(struct call_site *x, size_t i, const struct tree_node *visit)
{
	struct tree *t = x->c->tree;
	bool sum = x->arguments[i].value.node->form != NODE_CALL;
	const struct tree_node *own = node_call(t, "rank_in", NODES(call_argument(x, x->comm_argument, ' ', visit))),
			       *distance = parameter_of(x, i, CALL_DISTANCE);
	return sum ? node_2(t, NODE_PLUS, own, distance) : node_call(t, "peer", NODES(own, distance));
}

/* A value in the body of a function. NULL: it is not given, but part of the body. */
static const struct tree_node *make_parameter(struct call_site *x, size_t i, char form, const struct tree_node *visit)
{
	const struct schema_column *column = &x->schema->column[i];
	if (form == '*' || (column->vector && x->arguments[i].array.none))
		return NULL;
	if (distance_of(x, i))
		return from_distance(x, i, visit);
	bool address = handles_type(column->kind) && !column->vector && recipe_asks(x->recipe, '&', column);
	const struct tree_node *hole = parameter_of(x, i, address ? '&' : form);
	return address && form != '&' ? node_1(x->c->tree, NODE_DEREFERENCED, hole) : hole;
}

/* ---- the recipe ---- */

static const struct tree_node *length_of(struct tree *t, const struct argument *a)
{
	char which[100];
	if (a->array.none || a->array.fixed || a->array.elements)
		return node_number(t, a->array.none ? 0 : (int64_t)a->array.most);
	int n = snprintf(which, sizeof which, "%s_which", a->name);
	return node_format(
		t, "$($)",
		NODES(node_use(t, a->array.length), node_named(t, NODE_LOCAL, tree_name(t, which, (size_t)n))));
}

static const struct tree_node *array_of(struct call_site *x, const struct argument *a)
{
	struct tree *t = x->c->tree;
	if (a->array.none)
		return a->array.constant ? a->array.constant : node_name(t, "NULL");
	if (a->array.contiguous)
		return node_1(t, NODE_ADDRESS, handles_at(x->c, 'r', node_number(t, a->array.first)));
	return node_named(t, NODE_LOCAL, a->name);
}

const struct tree_node *call_argument(struct call_site *x, size_t i, char form, const struct tree_node *visit)
{
	const struct schema_column *column = &x->schema->column[i];
	const struct argument *a = &x->arguments[i];
	struct tree *t = x->c->tree;
	bool handle = handles_type(column->kind) != NULL;
	const struct tree_node *parameter = x->in_body ? make_parameter(x, i, form, visit) : NULL;
	if (parameter)
		return parameter;
	if (form == CALL_DISTANCE)
		return node_visit(t, distance_of(x, i), visit, x->turns);
	if (form == '*') {
		size_t most = column_most(x->c, x->site->first + (uint32_t)i);
		return node_call(t, "room", NODES(node_number(t, 8 * (int64_t)(most > 8192 ? most : 8192))));
	}
	if (form == '#')
		return length_of(t, a);
	if (column->vector)
		return array_of(x, a);
	if (a->name)
		return handle && form != '&' ? node_1(t, NODE_DEREFERENCED, node_named(t, NODE_LOCAL, a->name))
		                             : node_named(t, NODE_LOCAL, a->name);
	if (form == '&' && a->value.known) /* a constant has no address */
		return node_new(t, NODE_COMPOUND, &(struct tree_node){.name = handles_type(column->kind)},
		                &a->value.node, 1);
	const struct tree_node *value = node_visit(t, a->value.node, visit, x->turns);
	return form == '&' ? node_1(t, NODE_ADDRESS, value) : value;
}

static size_t column_of(const struct call_site *x, const char *name, size_t n)
{
	size_t i = 0;
	while (i < x->schema->count &&
	       (x->schema->column[i].length != n || memcmp(x->schema->column[i].name, name, n) != 0))
		i++;
	return i;
}

static const struct tree_node *read_recipe(struct call_site *x, const char *at, const char *end,
                                           const struct tree_node *visit);

/* MPI_IN_PLACE where that was recorded, else what stands between `at` and `end`. NULL: a parameter is missing. */
static const struct tree_node *in_place(struct call_site *x, size_t i, const char *at, const char *end,
                                        const struct tree_node *visit)
{
	struct tree *t = x->c->tree;
	const struct expression *e = &x->arguments[i].value;
	const struct tree_node *place = node_named(t, NODE_CONSTANT, "MPI_IN_PLACE");
	if (e->known && e->value != 0)
		return place;
	x->many |= x->in_body && !e->known;
	const struct tree_node *when = e->known ? NULL : call_argument(x, i, ' ', visit),
			       *else_ = read_recipe(x, at, end, visit);
	return else_ && when ? node_choice(t, when, place, else_) : else_;
}

/* The text between `at` and `end`, with what stands for values. NULL: a parameter is missing. */
static const struct tree_node *read_recipe(struct call_site *x, const char *at, const char *end,
                                           const struct tree_node *visit)
{
	struct tree *t = x->c->tree;
	struct nodes all = {0};
	while (at < end) {
		size_t n = strcspn(at, "{");
		n = n < (size_t)(end - at) ? n : (size_t)(end - at);
		if (n) {
			nodes_add(t, &all, node_named(t, NODE_TEXT, tree_name(t, at, n)));
			at += n;
			continue;
		}
		const char *name = at + 1 + (strchr("&*#", at[1]) != NULL), *close = name + strcspn(name, "?}"),
			   *stop = close;
		size_t i = column_of(x, name, (size_t)(close - name));
		for (int depth = *close == '?'; depth > 0;) {
			stop++;
			depth += (*stop == '{') - (*stop == '}');
		}
		const struct tree_node *one = i == x->schema->count ? NULL
		                              : stop > close        ? in_place(x, i, close + 1, stop, visit)
		                                             : call_argument(x, i, name == at + 1 ? ' ' : at[1], visit);
		if (!one)
			break;
		nodes_add(t, &all, one);
		at = stop + 1;
	}
	const struct tree_node *made = nodes_end(t, NODE_SEQUENCE, &all);
	return at < end ? NULL : made;
}

int call_recipe(struct call_site *x, const struct tree_node *visit, struct nodes *out, const struct tree_node **last)
{
	const char *at = x->recipe->text;
	for (const char *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		const struct tree_node *one = read_recipe(x, at, end - 1, visit); /* in front of ";\n" */
		if (!one)
			return -1;
		nodes_add(x->c->tree, out, node_1(x->c->tree, NODE_STATEMENT, one));
	}
	*last = read_recipe(x, at, at + strlen(at), visit);
	return *last ? 0 : -1;
}
