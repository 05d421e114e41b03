/* SPDX-License-Identifier: BSD-3-Clause
 * order - the things of a trace, sorted
 */
#include "merge/order.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/packed.h"
#include "trace/model/value.h"
#include "trace/model/counts.h"

static int compare_items(const struct pool_item *a, const struct pool_item *b)
{
	size_t n = a->size < b->size ? a->size : b->size;
	int order = n ? memcmp(a->bytes, b->bytes, n) : 0;
	return order ? order : (a->size > b->size) - (a->size < b->size);
}

static int by_bytes(const void *a, const void *b)
{
	return compare_items(a, b);
}

/* `used` may be NULL: all are. */
static int order_pool(struct pool *into, const struct pool *from, const bool *used)
{
	int rv = -1;
	uint32_t n = 0;
	struct pool_item *items = budget_malloc((from->count + 1) * sizeof *items);
	if (!items)
		return -1;
	for (uint32_t i = 0; i < from->count; i++)
		if (!used || used[i])
			items[n++] = from->items[i];
	qsort(items, n, sizeof *items, by_bytes);
	for (uint32_t i = 0; i < n; i++)
		if (pool_intern(into, items[i].bytes, items[i].size) == UINT32_MAX)
			goto done;
	rv = 0;
done:
	budget_free(items);
	return rv;
}

struct node_order {
	const struct trace_node *nodes; /* of the old trace */
	const uint32_t *modules;        /* -> numbers in the new one */
};

static uint32_t new_module(const struct node_order *o, uint32_t node)
{
	uint32_t module = o->nodes[node].module;
	return module == UINT32_MAX ? UINT32_MAX : o->modules[module];
}

/* Numbers are what is sorted: sorting takes as much memory again as there is to sort. */
static int by_place(const void *a, const void *b, void *context)
{
	const struct node_order *o = context;
	const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct trace_node *x = &o->nodes[i], *y = &o->nodes[k];
	uint32_t xm = new_module(o, i), ym = new_module(o, k);
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (xm != ym)
		return xm < ym ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_pair(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* By build id, then name. */
static int order_modules(const struct translation *x)
{
	const struct trace *from = x->from;
	uint32_t(*modules)[2] = budget_malloc((from->module_count + 1) * sizeof *modules);
	bool ok = modules != NULL;
	for (uint32_t i = 0; ok && i < from->module_count; i++) {
		modules[i][0] = x->strings[from->modules[i].build_id];
		modules[i][1] = x->strings[from->modules[i].name];
	}
	if (ok)
		qsort(modules, from->module_count, sizeof *modules, by_pair);
	for (uint32_t i = 0; ok && i < from->module_count; i++)
		ok = trace_module(x->into, (struct trace_module){modules[i][1], modules[i][0]}) != UINT32_MAX;
	budget_free(modules);
	return ok ? 0 : -1;
}

/* Depth first: order has the nodes but the root by parent, and those of each parent in order; first[p] is where the
 * children of p begin in it, UINT32_MAX if there are none; stack has room for all. */
static int add_in_order(const struct translation *x, const uint32_t *order, const uint32_t *first, uint32_t *stack)
{
	const struct trace_node *nodes = x->from->nodes;
	const struct node_order o = {nodes, x->modules};
	uint32_t n = x->from->node_count, depth = 0;
	if (n > 1)
		stack[depth++] = first[0];
	while (depth > 0) {
		uint32_t i = stack[depth - 1], number = order[i];
		const struct trace_node *node = &nodes[number];
		x->nodes[number] = trace_node(
			x->into, (struct trace_node){x->nodes[node->parent], new_module(&o, number), node->offset});
		if (x->nodes[number] == UINT32_MAX)
			return -1;
		if (i + 1 < n - 1 && nodes[order[i + 1]].parent == node->parent)
			stack[depth - 1] = i + 1;
		else
			depth--;
		if (first[number] != UINT32_MAX)
			stack[depth++] = first[number];
	}
	return 0;
}

/* Frames depth first, by module and offset; the strings and modules are there already, in order. */
static int order_nodes(const struct translation *x)
{
	int rv = -1;
	uint32_t n = x->from->node_count, *order = translate_numbers(n), *first = translate_numbers(n),
		 *stack = translate_numbers(n);
	if (order && first && stack) {
		for (uint32_t i = 1; i < n; i++)
			order[i - 1] = i;
		qsort_r(order, n - 1, sizeof *order, by_place, &(struct node_order){x->from->nodes, x->modules});
		for (uint32_t i = 0; i < n; i++)
			first[i] = UINT32_MAX;
		for (uint32_t i = n - 1; i-- > 0;)
			first[x->from->nodes[order[i]].parent] = i;
		x->nodes[0] = 0;
		rv = add_in_order(x, order, first, stack);
	}
	budget_free(order);
	budget_free(first);
	budget_free(stack);
	return rv;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int order_functions(struct trace *into, const struct trace *from, const uint32_t *strings)
{
	int rv = -1;
	uint32_t *order = translate_numbers(from->function_count);
	if (!order)
		return -1;
	for (uint32_t i = 0; i < from->function_count; i++)
		order[i] = strings[from->functions[i].string];
	qsort(order, from->function_count, sizeof *order, by_number);
	for (uint32_t i = 0; i < from->function_count; i++)
		if (trace_function(into, order[i]) == UINT32_MAX)
			goto done;
	rv = 0;
done:
	budget_free(order);
	return rv;
}

static int order_sites(const struct translation *x, bool object)
{
	int rv = -1;
	uint32_t n = object ? x->from->object_count : x->from->site_count;
	uint32_t(*order)[2] = budget_malloc(((size_t)n + 1) * sizeof *order);
	if (!order)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t function, node;
		if (object) {
			function = x->from->objects[i].function;
			node = x->from->objects[i].node;
		} else {
			packed_key(x->from, i, &function, &node);
		}
		order[i][0] = x->nodes[node];
		order[i][1] = x->functions[function];
	}
	qsort(order, n, sizeof *order, by_pair);
	for (uint32_t i = 0; i < n; i++)
		if (trace_site(x->into, order[i][1], order[i][0], object) == UINT32_MAX)
			goto done;
	rv = 0;
done:
	budget_free(order);
	return rv;
}

void order_column(struct trace_column *c)
{
	trace_sort_groups(c);
	for (uint32_t g = 0; g < c->count; g++)
		if (c->groups[g].lossy)
			trace_sort_groups(&c->groups[g].lossy->prefix);
}

void order_inside(struct trace_site *sites, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < sites[i].column_count; k++)
			order_column(&sites[i].columns[k]);
		for (uint32_t k = 0; k < sites[i].edge_count; k++)
			if (sites[i].edges[k].classes)
				trace_sort_groups(&sites[i].edges[k].classes->column);
		trace_sort_edges(&sites[i]);
	}
}

/* Which vectors a map refers to. */
static void mark_arrays(const struct rankmap *m, bool *vectors)
{
	for (uint32_t n = 0; n < m->node_count; n++)
		if (m->nodes[n].low == DIAGRAM_LEAF && !value_is_constant(m->nodes[n].delta))
			vectors[m->nodes[n].delta] = true;
}

/* Which patterns, or which vectors, a column refers to. */
static void mark_column(const struct trace_column *c, enum reference reference, bool *patterns, bool *vectors)
{
	for (uint32_t g = 0; g < c->count; g++) {
		const struct trace_group *group = &c->groups[g];
		if (group->pattern)
			patterns[group->pattern - 1] = true;
		if (group->lossy)
			mark_column(&group->lossy->prefix, reference, patterns, vectors);
		for (uint32_t d = 0; reference == REFERENCE_VECTOR && !group->lossy && d < group->count; d++)
			if (!group->dict[d].vector)
				mark_arrays(&group->dict[d].start, vectors);
	}
}

/* The same of a site. */
static void mark_site(const struct trace *t, const struct trace_site *s, bool *patterns, bool *vectors)
{
	for (uint32_t k = 0; k < s->column_count; k++)
		mark_column(&s->columns[k], schema_reference(trace_schema(t, s), k), patterns, vectors);
	for (uint32_t k = 0; k < s->edge_count; k++)
		if (s->edges[k].classes)
			mark_column(&s->edges[k].classes->column, REFERENCE_CLASS, patterns, vectors);
}

static int mark_used(const struct trace *t, bool *patterns, bool *vectors)
{
	struct trace_site room;
	for (uint32_t i = 0; i < t->object_count; i++)
		mark_site(t, &t->objects[i], patterns, vectors);
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s =
			packed_has(t, i, PACKED_CLASSES) ? packed_look(t, i, &room) : packed_look_columns(t, i, &room);
		if (!s)
			return -1;
		mark_site(t, s, patterns, vectors);
		packed_leave(t, &room);
	}
	return 0;
}

/* Vectors hold strings' numbers: they are translated first, then sorted. */
static int order_vectors(struct translation *x, const bool *used)
{
	int rv = -1;
	uint32_t n = 0;
	const struct pool *from = &x->from->vector_pool;
	struct pool_item *items = budget_calloc(from->count + UINT64_C(1), sizeof *items);
	if (!items)
		return -1;
	for (uint32_t i = 0; i < from->count; i++) {
		if (!used[i])
			continue;
		items[n] = (struct pool_item){.bytes = (uint8_t *)translate_array(x, &from->items[i]),
		                              .size = from->items[i].size};
		if (!items[n++].bytes)
			goto done;
	}
	qsort(items, n, sizeof *items, by_bytes);
	for (uint32_t i = 0; i < n; i++)
		if (pool_intern(&x->into->vector_pool, items[i].bytes, items[i].size) == UINT32_MAX)
			goto done;
	rv = 0;
done:
	for (uint32_t i = 0; i < n; i++)
		budget_free(items[i].bytes);
	budget_free(items);
	return rv;
}

struct moved {
	struct pool_item item;
	uint32_t number;
};

static int by_item(const void *a, const void *b)
{
	return compare_items(&((const struct moved *)a)->item, &((const struct moved *)b)->item);
}

/* The same without a copy, for a trace that is not needed any more: programs that make new arrays all the time have
 * most of their memory there. Returns the numbers that the vectors have now; malloc'ed, NULL on no memory. */
static uint32_t *move_vectors(const struct translation *x, struct pool *from, const bool *used)
{
	uint32_t n = 0, done = 0, *moved = translate_numbers(from->count);
	struct moved *items = budget_calloc(from->count + UINT64_C(1), sizeof *items);
	for (uint32_t i = 0; moved && items && i < from->count; i++) {
		struct pool_item *p = &from->items[i];
		moved[i] = UINT32_MAX;
		if (!used[i])
			continue;
		for (size_t k = 0; k < p->size / sizeof(int64_t); k++) {
			int64_t value;
			memcpy(&value, p->bytes + k * sizeof value, sizeof value);
			value = translate_value(x, value, REFERENCE_NONE);
			memcpy(p->bytes + k * sizeof value, &value, sizeof value);
		}
		items[n++] = (struct moved){*p, i};
		*p = (struct pool_item){NULL, 0};
	}
	bool ok = moved && items;
	if (ok)
		qsort(items, n, sizeof *items, by_item);
	for (; ok && done < n; done += ok)
		ok = (moved[items[done].number] = pool_adopt(&x->into->vector_pool, items[done].item.bytes,
		                                             items[done].item.size)) != UINT32_MAX;
	for (; items && done < n; done++)
		budget_free(items[done].item.bytes);
	budget_free(items);
	if (!ok) {
		budget_free(moved);
		moved = NULL;
	}
	return moved;
}

/* vectors_of: NULL, or the vectors of x->from, to be moved; *moved: their numbers. */
static int order_used(struct translation *x, struct pool *vectors_of, uint32_t **moved)
{
	bool *patterns = budget_calloc(x->from->patterns.count + UINT64_C(1), sizeof *patterns);
	bool *vectors = budget_calloc(x->from->vector_pool.count + UINT64_C(1), sizeof *vectors);
	int rv = -1;
	if (patterns && vectors && mark_used(x->from, patterns, vectors) == 0) {
		rv = order_pool(&x->into->patterns, &x->from->patterns, patterns);
		if (rv == 0 && vectors_of)
			rv = (*moved = move_vectors(x, vectors_of, vectors)) ? 0 : -1;
		else if (rv == 0)
			rv = order_vectors(x, vectors);
	}
	budget_free(patterns);
	budget_free(vectors);
	return rv;
}

int order_tables(struct translation *x, struct pool *vectors, uint32_t **moved)
{
	const struct trace *from = x->from;
	if (order_pool(&x->into->strings, &from->strings, NULL) != 0 || translate_strings(x) != 0 ||
	    order_used(x, vectors, moved) != 0 || order_modules(x) != 0 || translate_modules(x) != 0 ||
	    order_nodes(x) != 0 || order_functions(x->into, from, x->strings) != 0 || translate_functions(x) != 0 ||
	    order_sites(x, false) != 0 || order_sites(x, true) != 0)
		return -1;
	counts_order(x->into, from, x->strings);
	return 0;
}
