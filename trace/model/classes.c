/* SPDX-License-Identifier: BSD-3-Clause
 * classes - the computations of an edge, sorted by how long they take
 */
#include "trace/model/classes.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/counts.h"
#include "trace/model/pattern.h"

struct trace_classes *classes_make(struct trace_edge *e)
{
	if (!e->classes)
		e->classes = budget_calloc(1, sizeof *e->classes);
	return e->classes;
}

void classes_empty(struct trace_classes *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		histogram_free(&c->each[i].compute);
		counts_free(&c->each[i].counts);
	}
	c->count = 0;
}

void classes_free(struct trace_edge *e)
{
	struct trace_classes *c = e->classes;
	if (!c)
		return;
	classes_empty(c);
	budget_free(c->each);
	trace_column_free(&c->column);
	rankmap_free(&c->mean);
	budget_free(c);
	e->classes = NULL;
}

/* The first class whose key is not below this. */
static uint32_t class_place(const struct trace_classes *c, uint32_t key)
{
	uint32_t low = 0, high = c->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (c->each[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct trace_class *classes_add(struct trace_classes *c, uint32_t key)
{
	uint32_t at = class_place(c, key);
	if (at < c->count && c->each[at].key == key)
		return &c->each[at];
	if ((c->count & (c->count - 1)) == 0) { /* a power of two: full */
		struct trace_class *more =
			budget_realloc(c->each, (c->count ? 2 * (size_t)c->count : 1) * sizeof *more);
		if (!more)
			return NULL;
		c->each = more;
	}
	memmove(&c->each[at + 1], &c->each[at], (c->count - at) * sizeof *c->each);
	c->each[at] = (struct trace_class){.key = key};
	c->count++;
	return &c->each[at];
}

const struct trace_class *classes_find(const struct trace_classes *c, uint32_t key)
{
	uint32_t at = class_place(c, key);
	return at < c->count && c->each[at].key == key ? &c->each[at] : NULL;
}

int classes_add_times(struct trace_classes *c, uint32_t key, const struct histogram *compute,
                      const struct histogram *counts, const uint32_t counters[TRACE_COUNTERS])
{
	if (compute->count == 0)
		return 0;
	struct trace_class *to = classes_add(c, key);
	return !to || histogram_add(&to->compute, compute) != 0 ? -1 : counts_add(&to->counts, counts, counters);
}

int classes_merge(struct trace_edge *into, const struct trace_edge *from, const uint32_t counters[TRACE_COUNTERS])
{
	bool begins = !into->classes;
	if (begins && !from->classes)
		return 0;
	struct trace_classes *c = classes_make(into);
	if (!c || (begins && classes_add_times(c, CLASS_REST, &into->compute, into->counts, counts_same) != 0))
		return -1;
	if (!from->classes)
		return classes_add_times(c, CLASS_REST, &from->compute, from->counts, counters);
	c->finished |= from->classes->finished;
	for (uint32_t i = 0; i < from->classes->count; i++) {
		const struct trace_class *k = &from->classes->each[i];
		if (classes_add_times(c, k->key, &k->compute, k->counts, counters) != 0)
			return -1;
	}
	return rankmap_union(&c->mean, &c->mean, &from->classes->mean);
}

int classes_set_constant(struct trace_classes *c, uint32_t rank, uint32_t key)
{
	struct trace_group g = {.dict = budget_calloc(1, sizeof *g.dict)};
	if (!g.dict)
		return -1;
	g.count = 1;
	g.dict[0].count = 1;
	if (rankmap_single(&g.dict[0].start, rank, key, true) != 0) {
		trace_group_free(&g);
		return -1;
	}
	return trace_add_group_take(&c->column, &g);
}

uint64_t *classes_visits(const struct trace *t, const struct trace_group *g, uint64_t visits, uint64_t *symbols)
{
	uint64_t *counts = budget_calloc(g->count, sizeof *counts);
	struct pattern p = {0};
	if (!counts || !g->pattern) {
		if (counts)
			counts[0] = visits;
		return counts;
	}
	const struct pool_item *item = &t->patterns.items[g->pattern - 1];
	if (pattern_parse(&p, item->bytes, item->size) != 0 || pattern_news(&p) != g->count ||
	    pattern_count(&p, counts) != 0) {
		budget_free(counts);
		counts = NULL;
	} else {
		*symbols += pattern_symbols(&p);
	}
	pattern_free(&p);
	return counts;
}
