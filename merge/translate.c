/* SPDX-License-Identifier: BSD-3-Clause
 * translate - the numbers that the things of one trace have in another
 */
#include "merge/translate.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/packed.h"
#include "trace/model/value.h"

uint32_t *translate_numbers(uint32_t n)
{
	return budget_malloc(((size_t)n + 1) * sizeof(uint32_t));
}

int64_t translate_value(const struct translation *x, int64_t v, enum reference reference)
{
	if (value_is_constant(v))
		return VALUE_CONSTANT + x->strings[(uint64_t)v - (uint64_t)VALUE_CONSTANT];
	switch (reference) {
	case REFERENCE_STRING:
		return x->strings[v];
	case REFERENCE_VECTOR:
		return translate_vector(x, (uint32_t)v);
	case REFERENCE_SITE:
		return x->sites[v];
	case REFERENCE_CLASS:
	case REFERENCE_NONE:
		break;
	}
	return v;
}

struct leaf_translation {
	const struct translation *x;
	enum reference reference;
};

static int64_t leaf_translate(void *context, int64_t v)
{
	const struct leaf_translation *l = context;
	return translate_value(l->x, v, l->reference);
}

int translate_map(const struct translation *x, const struct rankmap *m, enum reference reference, struct rankmap *out)
{
	return rankmap_translate(out, m, leaf_translate, &(struct leaf_translation){x, reference});
}

/* Pools. */

int translate_strings(struct translation *x)
{
	const struct pool *p = &x->from->strings;
	for (uint32_t i = 0; i < p->count; i++)
		if ((x->strings[i] = pool_intern(&x->into->strings, p->items[i].bytes, p->items[i].size)) == UINT32_MAX)
			return -1;
	return 0;
}

/* The elements of a vector, translated; malloc'ed, NULL on no memory. */
int64_t *translate_array(const struct translation *x, const struct pool_item *p)
{
	size_t n = p->size / sizeof(int64_t);
	int64_t *values = budget_malloc((n + 1) * sizeof *values);
	if (!values)
		return NULL;
	memcpy(values, p->bytes, p->size);
	for (size_t k = 0; k < n; k++)
		values[k] = translate_value(x, values[k], REFERENCE_NONE);
	return values;
}

/* The array itself goes to `into`, unless that has it. */
static uint32_t move_vector(const struct translation *x, struct pool_item *p)
{
	for (size_t at = 0; at + sizeof(int64_t) <= p->size; at += sizeof(int64_t)) {
		int64_t v;
		memcpy(&v, p->bytes + at, sizeof v);
		v = translate_value(x, v, REFERENCE_NONE);
		memcpy(p->bytes + at, &v, sizeof v);
	}
	uint32_t number = pool_find(&x->into->vector_pool, p->bytes, p->size);
	if (number == UINT32_MAX && (number = pool_adopt(&x->into->vector_pool, p->bytes, p->size)) == UINT32_MAX)
		return UINT32_MAX;
	if (x->into->vector_pool.items[number].bytes != p->bytes)
		budget_free(p->bytes);
	*p = (struct pool_item){NULL, 0};
	return number;
}

/* Only vectors that a column refers to are taken over. */
uint32_t translate_vector(const struct translation *x, uint32_t number)
{
	if (x->vectors[number] == UINT32_MAX && x->take) {
		x->vectors[number] = move_vector(x, &x->take->vector_pool.items[number]);
	} else if (x->vectors[number] == UINT32_MAX) {
		const struct pool_item *p = &x->from->vector_pool.items[number];
		int64_t *values = translate_array(x, p);
		if (values)
			x->vectors[number] = pool_intern(&x->into->vector_pool, values, p->size);
		budget_free(values);
	}
	return x->vectors[number];
}

/* Only patterns that a column refers to are taken over. */
uint32_t translate_pattern(struct translation *x, uint32_t number)
{
	if (x->patterns[number] == UINT32_MAX) {
		const struct pool_item *p = &x->from->patterns.items[number];
		x->patterns[number] = pool_intern(&x->into->patterns, p->bytes, p->size);
	}
	return x->patterns[number];
}

int translate_modules(struct translation *x)
{
	const struct trace *from = x->from;
	for (uint32_t i = 0; i < from->module_count; i++) {
		struct trace_module m = {x->strings[from->modules[i].name], x->strings[from->modules[i].build_id]};
		if ((x->modules[i] = trace_module(x->into, m)) == UINT32_MAX)
			return -1;
	}
	return 0;
}

int translate_paths(struct translation *x)
{
	const struct trace *from = x->from;
	if (translate_modules(x) != 0)
		return -1;
	x->nodes[0] = 0;
	for (uint32_t i = 1; i < from->node_count; i++) {
		const struct trace_node *n = &from->nodes[i];
		uint32_t module = n->module == UINT32_MAX ? UINT32_MAX : x->modules[n->module];
		if ((x->nodes[i] = trace_node(x->into, (struct trace_node){x->nodes[n->parent], module, n->offset})) ==
		    UINT32_MAX)
			return -1;
	}
	return 0;
}

int translate_functions(struct translation *x)
{
	for (uint32_t i = 0; i < x->from->function_count; i++)
		if ((x->functions[i] = trace_function(x->into, x->strings[x->from->functions[i].string])) == UINT32_MAX)
			return -1;
	return 0;
}

int translate_sites(struct translation *x)
{
	for (uint32_t i = 0; i < x->from->site_count; i++) {
		uint32_t function, node;
		packed_key(x->from, i, &function, &node);
		if ((x->sites[i] = trace_site(x->into, x->functions[function], x->nodes[node], false)) == UINT32_MAX)
			return -1;
	}
	return 0;
}
