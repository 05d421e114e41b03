/* SPDX-License-Identifier: BSD-3-Clause
 * merge - the trace of two sets of ranks: the union of their sites
 */
#include "merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "merge/loss.h"
#include "merge/refine.h"
#include "trace/column.h"
#include "trace/counts.h"
#include "trace/timing.h"

/* Numbers of things in `from` -> numbers in `into`. */
struct translation {
	struct trace *into;
	const struct trace *from;
	uint32_t *strings, *vectors, *patterns, *modules, *nodes, *functions, *sites;
	uint32_t counters[TRACE_COUNTERS];
};

static uint32_t *numbers(uint32_t n)
{
	return malloc(((size_t)n + 1) * sizeof(uint32_t));
}

static uint32_t vector_translate(const struct translation *x, uint32_t number);

static int64_t value_translate(const struct translation *x, int64_t v, enum reference reference)
{
	if (value_is_constant(v))
		return VALUE_CONSTANT + x->strings[(uint64_t)v - (uint64_t)VALUE_CONSTANT];
	switch (reference) {
	case REFERENCE_STRING:
		return x->strings[v];
	case REFERENCE_VECTOR:
		return vector_translate(x, (uint32_t)v);
	case REFERENCE_SITE:
		return x->sites[v];
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
	return value_translate(l->x, v, l->reference);
}

static int map_translate(const struct translation *x, const struct rankmap *m, enum reference reference, struct rankmap *out)
{
	return rankmap_translate(out, m, leaf_translate, &(struct leaf_translation){x, reference});
}

/* Pools. */

static int translate_strings(struct translation *x)
{
	const struct pool *p = &x->from->strings;
	for (uint32_t i = 0; i < p->count; i++)
		if ((x->strings[i] = pool_intern(&x->into->strings, p->items[i].bytes, p->items[i].size)) == UINT32_MAX)
			return -1;
	return 0;
}

/* The elements of a vector, translated; malloc'ed, NULL on no memory. */
static int64_t *vector_translated(const struct translation *x, const struct pool_item *p)
{
	size_t n = p->size / sizeof(int64_t);
	int64_t *values = malloc((n + 1) * sizeof *values);
	if (!values)
		return NULL;
	memcpy(values, p->bytes, p->size);
	for (size_t k = 0; k < n; k++)
		values[k] = value_translate(x, values[k], REFERENCE_NONE);
	return values;
}

/* Only vectors that a column refers to are taken over. */
static uint32_t vector_translate(const struct translation *x, uint32_t number)
{
	if (x->vectors[number] == UINT32_MAX) {
		const struct pool_item *p = &x->from->vector_pool.items[number];
		int64_t *values = vector_translated(x, p);
		if (values)
			x->vectors[number] = pool_intern(&x->into->vector_pool, values, p->size);
		free(values);
	}
	return x->vectors[number];
}

/* Only patterns that a column refers to are taken over. */
static uint32_t pattern_translate(struct translation *x, uint32_t number)
{
	if (x->patterns[number] == UINT32_MAX) {
		const struct pool_item *p = &x->from->patterns.items[number];
		x->patterns[number] = pool_intern(&x->into->patterns, p->bytes, p->size);
	}
	return x->patterns[number];
}

static int translate_paths(struct translation *x)
{
	const struct trace *from = x->from;
	for (uint32_t i = 0; i < from->module_count; i++) {
		struct trace_module m = {x->strings[from->modules[i].name], x->strings[from->modules[i].build_id]};
		if ((x->modules[i] = trace_module(x->into, m)) == UINT32_MAX)
			return -1;
	}
	x->nodes[0] = 0;
	for (uint32_t i = 1; i < from->node_count; i++) {
		const struct trace_node *n = &from->nodes[i];
		uint32_t module = n->module == UINT32_MAX ? UINT32_MAX : x->modules[n->module];
		if ((x->nodes[i] = trace_node(x->into, (struct trace_node){x->nodes[n->parent], module, n->offset})) == UINT32_MAX)
			return -1;
	}
	return 0;
}

static int translate_functions(struct translation *x)
{
	for (uint32_t i = 0; i < x->from->function_count; i++)
		if ((x->functions[i] = trace_function(x->into, x->strings[x->from->functions[i].string])) == UINT32_MAX)
			return -1;
	return 0;
}

static int translate_sites(struct translation *x)
{
	for (uint32_t i = 0; i < x->from->site_count; i++) {
		const struct trace_site *s = &x->from->sites[i];
		if ((x->sites[i] = trace_site(x->into, x->functions[s->function], x->nodes[s->node], false)) == UINT32_MAX)
			return -1;
	}
	return 0;
}

/* Columns. */

static bool same_shape(const struct trace_group *a, const struct trace_group *b)
{
	if (a->lossy || b->lossy || a->pattern != b->pattern || a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!trace_stretch_alike(&a->dict[i], &b->dict[i]))
			return false;
	return true;
}

/* A column has one group without order at most. */
static struct trace_group *lossy_group(struct trace_column *c, const struct rankmap *ranks)
{
	struct trace_group g = {0};
	for (uint32_t i = 0; i < c->count; i++) {
		struct trace_group *known = &c->groups[i];
		if (!known->lossy)
			continue;
		if (trace_group_lossy(&g, ranks) != 0 ||
		    rankmap_union(&known->dict[0].start, &known->dict[0].start, &g.dict[0].start) != 0)
			known = NULL;
		trace_group_free(&g);
		return known;
	}
	if (trace_group_lossy(&g, ranks) != 0) {
		trace_group_free(&g);
		return NULL;
	}
	return trace_add_group_take(c, &g) == 0 ? &c->groups[c->count - 1] : NULL;
}

static int tally_translate(const struct translation *x, struct tally *into, const struct tally *from, enum reference reference)
{
	struct tally t = {0};
	int rv = -1;
	if (reference == REFERENCE_STRING) {
		for (uint32_t i = 0; i < from->count; i++)
			if (tally_add(&t, value_translate(x, from->bins[i].min, reference), from->bins[i].count) != 0)
				goto done;
		rv = tally_merge(into, &t) != 0 ? -1 : trace_tally_fold(x->into, into);
		goto done;
	}
	uint32_t constants = tally_constants(from);
	for (uint32_t i = 0; i < constants; i++)
		if (tally_add(&t, value_translate(x, from->bins[i].min, REFERENCE_NONE), from->bins[i].count) != 0)
			goto done;
	const struct tally numbers = {from->bins ? from->bins + constants : NULL, from->count - constants, 0};
	rv = tally_merge(into, &t) != 0 || (numbers.count && tally_merge(into, &numbers) != 0) ? -1 : 0;
done:
	tally_free(&t);
	return rv;
}

static int merge_lossy(struct translation *x, struct trace_column *into, const struct trace_group *from, enum reference reference)
{
	struct trace_group *g = lossy_group(into, trace_group_ranks(from));
	if (!g)
		return -1;
	struct trace_lossy *to = g->lossy;
	const struct trace_lossy *l = from->lossy;
	to->why |= l->why;
	to->since = l->since < to->since ? l->since : to->since;
	/* the values of a vector column are lengths */
	if (tally_translate(x, &to->values, &l->values, reference == REFERENCE_STRING ? reference : REFERENCE_NONE) != 0 ||
	    tally_translate(x, &to->elements, &l->elements, REFERENCE_NONE) != 0)
		return -1;
	for (uint32_t i = 0; i < l->next_count; i++) {
		struct tally *runs = trace_next(to, x->sites[l->next[i].to]);
		if (!runs || tally_merge(runs, &l->next[i].runs) != 0)
			return -1;
	}
	return 0;
}

static int stretch_translate(struct translation *x, const struct trace_stretch *s, enum reference reference, struct trace_stretch *to)
{
	*to = (struct trace_stretch){.count = s->count, .vector = s->vector};
	if (map_translate(x, &s->start, s->vector ? REFERENCE_NONE : reference, &to->start) != 0 ||
	    (s->count > 1 && map_translate(x, &s->stride, REFERENCE_NONE, &to->stride) != 0))
		return -1;
	if (!s->vector)
		return 0;
	to->elements = calloc(s->width + UINT64_C(1), sizeof *to->elements);
	if (!to->elements)
		return -1;
	for (; to->width < s->width; to->width++)
		if (map_translate(x, &s->elements[to->width], REFERENCE_NONE, &to->elements[to->width]) != 0)
			return -1;
	return 0;
}

static int merge_group(struct translation *x, struct trace_column *into, const struct trace_group *from, enum reference reference)
{
	int rv = -1;
	if (from->lossy)
		return merge_lossy(x, into, from, reference);
	struct trace_group g = {.pattern = from->pattern ? pattern_translate(x, from->pattern - 1) + 1 : 0};
	g.dict = calloc(from->count, sizeof *g.dict);
	if (!g.dict || (from->pattern && g.pattern == 0)) {
		free(g.dict);
		return -1;
	}
	while (g.count < from->count) {
		g.count++;
		if (stretch_translate(x, &from->dict[g.count - 1], reference, &g.dict[g.count - 1]) != 0)
			goto done;
	}
	for (uint32_t i = 0; i < into->count; i++) {
		struct trace_group *known = &into->groups[i];
		if (!same_shape(known, &g))
			continue;
		for (uint32_t k = 0; k < g.count; k++)
			if (trace_stretch_join(&known->dict[k], &g.dict[k]) != 0)
				goto done;
		rv = 0;
		goto done;
	}
	return trace_add_group_take(into, &g);
done:
	trace_group_free(&g);
	return rv;
}

static void merge_extremes(struct trace_site *into, const struct trace_site *from)
{
	if (from->communicate.count == 0)
		return;
	bool none = into->communicate.count == 0;
	if (none || from->least < into->least || (from->least == into->least && from->least_rank < into->least_rank)) {
		into->least = from->least;
		into->least_rank = from->least_rank;
	}
	if (none || from->most > into->most || (from->most == into->most && from->most_rank < into->most_rank)) {
		into->most = from->most;
		into->most_rank = from->most_rank;
	}
}

static int merge_site(struct translation *x, struct trace_site *into, const struct trace_site *from, bool object)
{
	if (rankmap_union(&into->visits, &into->visits, &from->visits) != 0)
		return -1;
	for (uint32_t i = 0; i < from->column_count; i++) {
		enum reference reference = schema_reference(trace_schema(x->from, from), i);
		for (uint32_t g = 0; g < from->columns[i].count; g++)
			if (merge_group(x, &into->columns[i], &from->columns[i].groups[g], reference) != 0)
				return -1;
	}
	if (object)
		return 0;
	merge_extremes(into, from);
	if (trace_time_add(&into->communicate, &from->communicate) != 0 || counts_add(&into->counts, from->counts, x->counters) != 0)
		return -1;
	for (uint32_t i = 0; i < from->edge_count; i++) {
		struct trace_edge *e = trace_edge(into, x->sites[from->edges[i].to]);
		if (!e || trace_time_add(&e->compute, &from->edges[i].compute) != 0 || counts_add(&e->counts, from->edges[i].counts, x->counters) != 0)
			return -1;
	}
	return 0;
}

static int merge_all_sites(struct translation *x)
{
	for (uint32_t i = 0; i < x->from->site_count; i++)
		if (merge_site(x, &x->into->sites[x->sites[i]], &x->from->sites[i], false) != 0)
			return -1;
	/* what is sent on from here must have them in order, whatever came from where */
	for (uint32_t i = 0; i < x->from->site_count; i++)
		trace_sort_edges(&x->into->sites[x->sites[i]]);
	for (uint32_t i = 0; i < x->from->object_count; i++) {
		const struct trace_site *s = &x->from->objects[i];
		uint32_t to = trace_site(x->into, x->functions[s->function], x->nodes[s->node], true);
		if (to == UINT32_MAX || merge_site(x, &x->into->objects[to], s, true) != 0)
			return -1;
	}
	return 0;
}

static int merge_map(struct translation *x, struct rankmap *into, const struct rankmap *from, enum reference reference)
{
	struct rankmap translated;
	if (map_translate(x, from, reference, &translated) != 0)
		return -1;
	int rv = rankmap_union(into, into, &translated);
	rankmap_free(&translated);
	return rv;
}

static int merge_ranks(struct translation *x)
{
	const struct trace *from = x->from;
	struct trace *into = x->into;
	if (merge_map(x, &into->events, &from->events, REFERENCE_NONE) != 0 || merge_map(x, &into->first, &from->first, REFERENCE_SITE) != 0 ||
	    merge_map(x, &into->host, &from->host, REFERENCE_STRING) != 0 ||
	    merge_map(x, &into->host_number, &from->host_number, REFERENCE_NONE) != 0 || merge_map(x, &into->lost, &from->lost, REFERENCE_NONE) != 0 ||
	    merge_map(x, &into->in_flight, &from->in_flight, REFERENCE_SITE) != 0)
		return -1;
	for (unsigned i = 0; i < TRACE_TOTALS; i++)
		if (trace_total_add(&into->total[i], &from->total[i]) != 0)
			return -1;
	loss_merge(&into->loss, &from->loss);
	if (from->bins > into->bins)
		into->bins = from->bins;
	if (from->size > into->size)
		into->size = from->size;
	return 0;
}

/* vectors: NULL, or the numbers in `into` of those that are there already (UINT32_MAX: not); it is freed. */
static int merge_known(struct trace *into, const struct trace *from, uint32_t *vectors, struct error *error)
{
	struct translation x = {.into = into, .from = from};
	x.strings = numbers(from->strings.count);
	x.vectors = vectors ? vectors : numbers(from->vector_pool.count);
	x.patterns = numbers(from->patterns.count);
	x.modules = numbers(from->module_count);
	x.nodes = numbers(from->node_count);
	x.functions = numbers(from->function_count);
	x.sites = numbers(from->site_count);
	for (uint32_t i = 0; x.patterns && i < from->patterns.count; i++)
		x.patterns[i] = UINT32_MAX;
	for (uint32_t i = 0; !vectors && x.vectors && i < from->vector_pool.count; i++)
		x.vectors[i] = UINT32_MAX;
	bool ok = x.strings && x.vectors && x.patterns && x.modules && x.nodes && x.functions && x.sites;
	ok = ok && translate_strings(&x) == 0 && translate_paths(&x) == 0 && counts_merge(into, from, x.strings, x.counters) == 0 &&
	     translate_functions(&x) == 0 && translate_sites(&x) == 0 && merge_all_sites(&x) == 0 && timing_merge(into, from, x.sites) == 0 && merge_ranks(&x) == 0;
	free(x.strings);
	free(x.vectors);
	free(x.patterns);
	free(x.modules);
	free(x.nodes);
	free(x.functions);
	free(x.sites);
	return ok ? 0 : error_set(error, "cannot merge: a rank is in both traces, or there is no memory");
}

int merge_into(struct trace *into, const struct trace *from, struct error *error)
{
	return merge_known(into, from, NULL, error);
}

/* Canonical order: a new trace is given the things of the old one in sorted order, and then the old one is merged into it. */

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
	struct pool_item *items = malloc((from->count + 1) * sizeof *items);
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
	free(items);
	return rv;
}

struct ordered_node {
	uint32_t number; /* in the old trace */
	uint32_t module; /* in the new one */
	uint64_t offset;
	uint32_t parent; /* in the old trace */
};

static int by_place(const void *a, const void *b)
{
	const struct ordered_node *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_module(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Modules by build id, then name; frames depth first, by module and offset. The strings are there already, in order. */
static int order_paths(struct trace *into, const struct trace *from, const uint32_t *strings)
{
	int rv = -1;
	uint32_t n = from->node_count;
	uint32_t(*modules)[2] = malloc((from->module_count + 1) * sizeof *modules);
	uint32_t *translated = numbers(n), *module_numbers = numbers(from->module_count), *first = numbers(n), *stack = numbers(n);
	struct ordered_node *nodes = malloc((n + 1) * sizeof *nodes);
	if (!modules || !translated || !module_numbers || !nodes || !first || !stack)
		goto done;
	for (uint32_t i = 0; i < from->module_count; i++) {
		modules[i][0] = strings[from->modules[i].build_id];
		modules[i][1] = strings[from->modules[i].name];
	}
	qsort(modules, from->module_count, sizeof *modules, by_module);
	for (uint32_t i = 0; i < from->module_count; i++)
		if (trace_module(into, (struct trace_module){modules[i][1], modules[i][0]}) == UINT32_MAX)
			goto done;
	for (uint32_t i = 0; i < from->module_count; i++)
		module_numbers[i] = trace_module(into, (struct trace_module){strings[from->modules[i].name], strings[from->modules[i].build_id]});
	for (uint32_t i = 1; i < n; i++) {
		uint32_t module = from->nodes[i].module;
		nodes[i - 1] = (struct ordered_node){i, module == UINT32_MAX ? UINT32_MAX : module_numbers[module], from->nodes[i].offset,
		                                     from->nodes[i].parent};
	}
	qsort(nodes, n - 1, sizeof *nodes, by_place);
	/* first[p]: where the children of p begin in nodes */
	for (uint32_t i = 0; i < n; i++)
		first[i] = UINT32_MAX;
	for (uint32_t i = n - 1; i-- > 0;)
		first[nodes[i].parent] = i;
	size_t depth = 0;
	translated[0] = 0;
	if (n > 1)
		stack[depth++] = first[0];
	while (depth > 0) {
		uint32_t i = stack[depth - 1];
		const struct ordered_node *node = &nodes[i];
		translated[node->number] = trace_node(into, (struct trace_node){translated[node->parent], node->module, node->offset});
		if (translated[node->number] == UINT32_MAX)
			goto done;
		if (i + 1 < n - 1 && nodes[i + 1].parent == node->parent)
			stack[depth - 1] = i + 1;
		else
			depth--;
		if (first[node->number] != UINT32_MAX)
			stack[depth++] = first[node->number];
	}
	rv = 0;
done:
	free(modules);
	free(translated);
	free(module_numbers);
	free(first);
	free(stack);
	free(nodes);
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
	uint32_t *order = numbers(from->function_count);
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
	free(order);
	return rv;
}

static int by_pair(const void *a, const void *b)
{
	return by_module(a, b);
}

static int order_sites(const struct translation *x, bool object)
{
	int rv = -1;
	uint32_t n = object ? x->from->object_count : x->from->site_count;
	const struct trace_site *sites = object ? x->from->objects : x->from->sites;
	uint32_t(*order)[2] = malloc(((size_t)n + 1) * sizeof *order);
	if (!order)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		order[i][0] = x->nodes[sites[i].node];
		order[i][1] = x->functions[sites[i].function];
	}
	qsort(order, n, sizeof *order, by_pair);
	for (uint32_t i = 0; i < n; i++)
		if (trace_site(x->into, order[i][1], order[i][0], object) == UINT32_MAX)
			goto done;
	rv = 0;
done:
	free(order);
	return rv;
}

static void order_inside(struct trace_site *sites, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < sites[i].column_count; k++)
			trace_sort_groups(&sites[i].columns[k]);
		trace_sort_edges(&sites[i]);
	}
}

/* Which patterns, or which vectors, are referred to. */
static void mark_used(const struct trace *t, bool *patterns, bool *vectors)
{
	for (int object = 0; object < 2; object++)
		for (uint32_t i = 0; i < (object ? t->object_count : t->site_count); i++) {
			const struct trace_site *s = object ? &t->objects[i] : &t->sites[i];
			for (uint32_t k = 0; k < s->column_count; k++)
				for (uint32_t g = 0; g < s->columns[k].count; g++) {
					const struct trace_group *group = &s->columns[k].groups[g];
					if (group->pattern)
						patterns[group->pattern - 1] = true;
					if (schema_reference(trace_schema(t, s), k) != REFERENCE_VECTOR || group->lossy)
						continue;
					for (uint32_t d = 0; d < group->count; d++)
						for (uint32_t n = 0; !group->dict[d].vector && n < group->dict[d].start.node_count; n++) {
							const struct rank_node *node = &group->dict[d].start.nodes[n];
							if (node->low == RANK_LEAF && !value_is_constant(node->delta))
								vectors[node->delta] = true;
						}
				}
		}
}

/* Vectors hold strings' numbers: they are translated first, then sorted. */
static int order_vectors(struct translation *x, const bool *used)
{
	int rv = -1;
	uint32_t n = 0;
	const struct pool *from = &x->from->vector_pool;
	struct pool_item *items = calloc(from->count + UINT64_C(1), sizeof *items);
	if (!items)
		return -1;
	for (uint32_t i = 0; i < from->count; i++) {
		if (!used[i])
			continue;
		items[n] = (struct pool_item){.bytes = (uint8_t *)vector_translated(x, &from->items[i]), .size = from->items[i].size};
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
		free(items[i].bytes);
	free(items);
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

/* The same without a copy, for a trace that is not needed any more: programs that make new arrays all the time have most of their memory there. Returns the
 * numbers that the vectors have now; malloc'ed, NULL on no memory. */
static uint32_t *move_vectors(const struct translation *x, struct pool *from, const bool *used)
{
	uint32_t n = 0, done = 0, *moved = numbers(from->count);
	struct moved *items = calloc(from->count + UINT64_C(1), sizeof *items);
	for (uint32_t i = 0; moved && items && i < from->count; i++) {
		struct pool_item *p = &from->items[i];
		moved[i] = UINT32_MAX;
		if (!used[i])
			continue;
		for (size_t k = 0; k < p->size / sizeof(int64_t); k++) {
			int64_t value;
			memcpy(&value, p->bytes + k * sizeof value, sizeof value);
			value = value_translate(x, value, REFERENCE_NONE);
			memcpy(p->bytes + k * sizeof value, &value, sizeof value);
		}
		items[n++] = (struct moved){*p, i};
		*p = (struct pool_item){NULL, 0};
	}
	bool ok = moved && items;
	if (ok)
		qsort(items, n, sizeof *items, by_item);
	for (; ok && done < n; done += ok)
		ok = (moved[items[done].number] = pool_adopt(&x->into->vector_pool, items[done].item.bytes, items[done].item.size)) != UINT32_MAX;
	for (; items && done < n; done++)
		free(items[done].item.bytes);
	free(items);
	if (!ok) {
		free(moved);
		moved = NULL;
	}
	return moved;
}

/* vectors_of: NULL, or the vectors of x->from, to be moved; *moved: their numbers. */
static int order_used(struct translation *x, struct pool *vectors_of, uint32_t **moved)
{
	bool *patterns = calloc(x->from->patterns.count + UINT64_C(1), sizeof *patterns);
	bool *vectors = calloc(x->from->vector_pool.count + UINT64_C(1), sizeof *vectors);
	int rv = -1;
	if (patterns && vectors) {
		mark_used(x->from, patterns, vectors);
		rv = order_pool(&x->into->patterns, &x->from->patterns, patterns);
		if (rv == 0 && vectors_of)
			rv = (*moved = move_vectors(x, vectors_of, vectors)) ? 0 : -1;
		else if (rv == 0)
			rv = order_vectors(x, vectors);
	}
	free(patterns);
	free(vectors);
	return rv;
}

/* vectors: NULL, or those of t, which it then loses. */
static int order_trace(struct trace *out, const struct trace *t, struct pool *vectors, struct error *error)
{
	int rv = -1;
	uint32_t *moved = NULL;
	struct translation x = {.into = out, .from = t};
	x.strings = numbers(t->strings.count);
	x.modules = numbers(t->module_count);
	x.nodes = numbers(t->node_count);
	x.functions = numbers(t->function_count);
	if (trace_init(out) != 0 || !x.strings || !x.modules || !x.nodes || !x.functions)
		goto done;
	if (order_pool(&out->strings, &t->strings, NULL) != 0 || translate_strings(&x) != 0)
		goto done;
	if (order_used(&x, vectors, &moved) != 0 ||
	    order_paths(out, t, x.strings) != 0 || translate_paths(&x) != 0 || order_functions(out, t, x.strings) != 0 ||
	    translate_functions(&x) != 0 || order_sites(&x, false) != 0 || order_sites(&x, true) != 0)
		goto done;
	counts_order(out, t, x.strings);
	rv = merge_known(out, t, moved, error);
	moved = NULL;
	if (rv == 0) {
		order_inside(out->sites, out->site_count);
		order_inside(out->objects, out->object_count);
		timing_order(out);
	}
done:
	free(moved);
	free(x.strings);
	free(x.modules);
	free(x.nodes);
	free(x.functions);
	return rv == 0 ? 0 : error_set(error, "no memory to order the trace");
}

/* Refining looks at groups in canonical order, so that its result does not depend on the order of merging either. */
static int refine_ordered(struct trace *t, struct error *error)
{
	struct trace ordered;
	int changed = refine_trace(t), lost = changed < 0 ? -1 : loss_finish(t);
	if (lost < 0)
		return error_set(error, "no memory to refine the trace");
	if (changed == 0 && lost == 0)
		return 0;
	int rv = order_trace(&ordered, t, &t->vector_pool, error);
	trace_free(t);
	*t = ordered;
	return rv;
}

int merge_finish(struct trace *t, bool whole, struct error *error)
{
	struct trace ordered;
	int rv = order_trace(&ordered, t, &t->vector_pool, error);
	trace_free(t);
	*t = ordered;
	return rv == 0 && whole ? refine_ordered(t, error) : rv;
}

int merge_canonical(struct trace *out, const struct trace *t, struct error *error)
{
	return order_trace(out, t, NULL, error) == 0 ? refine_ordered(out, error) : -1;
}
