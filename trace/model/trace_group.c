/* SPDX-License-Identifier: BSD-3-Clause
 * trace_group - the groups of a column: ranks that have the same pattern, and what stands in their dictionaries
 */
#include "trace/model/trace.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/edits.h"
#include "trace/model/value.h"

void trace_group_free(struct trace_group *g)
{
	for (uint32_t i = 0; g->dict && i < g->count; i++) {
		rankmap_free(&g->dict[i].start);
		rankmap_free(&g->dict[i].stride);
		for (uint32_t k = 0; g->dict[i].elements && k < g->dict[i].width; k++)
			rankmap_free(&g->dict[i].elements[k]);
		budget_free(g->dict[i].elements);
	}
	budget_free(g->dict);
	if (g->lossy) {
		tally_free(&g->lossy->values);
		tally_free(&g->lossy->elements);
		for (uint32_t i = 0; i < g->lossy->next_count; i++)
			tally_free(&g->lossy->next[i].runs);
		budget_free(g->lossy->next);
		trace_column_free(&g->lossy->prefix);
		budget_free(g->lossy);
	}
	*g = (struct trace_group){0};
}

void trace_column_free(struct trace_column *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		trace_group_free(&c->groups[i]);
	budget_free(c->groups);
	*c = (struct trace_column){0};
}

int trace_group_lossy(struct trace_group *g, const struct rankmap *ranks)
{
	g->lossy = budget_calloc(1, sizeof *g->lossy);
	g->dict = budget_calloc(1, sizeof *g->dict);
	if (!g->lossy || !g->dict)
		return -1;
	g->lossy->since = UINT64_MAX;
	g->count = 1;
	g->dict[0].count = 1;
	return rankmap_fill(&g->dict[0].start, ranks, VALUE_LOSSY, true);
}

bool trace_stretch_alike(const struct trace_stretch *a, const struct trace_stretch *b)
{
	return a->count == b->count && a->vector == b->vector && a->width == b->width;
}

bool trace_stretch_equal(const struct trace_stretch *a, const struct trace_stretch *b)
{
	if (!trace_stretch_alike(a, b) || !rankmap_equal(&a->start, &b->start) ||
	    !rankmap_equal(&a->stride, &b->stride))
		return false;
	for (uint32_t k = 0; k < a->width; k++)
		if (!rankmap_equal(&a->elements[k], &b->elements[k]))
			return false;
	return true;
}

bool trace_group_equal(const struct trace_group *a, const struct trace_group *b)
{
	if (a->lossy || b->lossy || a->pattern != b->pattern || a->count != b->count || a->edits != b->edits)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!trace_stretch_equal(&a->dict[i], &b->dict[i]))
			return false;
	return true;
}

int trace_edits_each(const struct trace *t, const struct trace_group *g, uint32_t rank,
                     int (*take)(void *context, const int64_t *values, size_t n), void *context)
{
	struct edits e = {0};
	int rv = 0;
	for (uint32_t i = 0; rv == 0 && i < g->count; i++) {
		int64_t number;
		if (!rankmap_get(&g->dict[i].start, rank, &number)) {
			rv = -1;
			break;
		}
		const struct pool_item *piece = &t->vector_pool.items[number];
		for (size_t at = 0; rv == 0 && at + sizeof number <= piece->size; at += sizeof number) {
			memcpy(&number, piece->bytes + at, sizeof number);
			int done = budget_step(1) ? edits_take(&e, number) : -1;
			if (done > 0)
				done = take(context, e.is_constant ? &e.constant : e.values,
				            e.is_constant ? SIZE_MAX : (size_t)e.count);
			rv = done < 0 ? -1 : 0;
		}
	}
	rv = e.is_begun ? -1 : rv;
	edits_free(&e);
	return rv;
}

static int by_first_rank(const void *a, const void *b)
{
	const struct trace_group *x = a, *y = b;
	uint32_t first_x = rankmap_first(trace_group_ranks(x)), first_y = rankmap_first(trace_group_ranks(y));
	return (first_x > first_y) - (first_x < first_y); /* groups of a column have no rank in common */
}

void trace_sort_groups(struct trace_column *c)
{
	if (c->count > 1)
		qsort(c->groups, c->count, sizeof *c->groups, by_first_rank);
}

int trace_stretch_room(struct trace_stretch *to, const struct trace_stretch *like)
{
	to->elements = like->vector ? budget_calloc(like->width + UINT64_C(1), sizeof *to->elements) : NULL;
	return like->vector && !to->elements ? -1 : 0;
}

int trace_stretch_join(struct trace_stretch *to, const struct trace_stretch *from)
{
	if (rankmap_union(&to->start, &to->start, &from->start) != 0 ||
	    (to->count > 1 && rankmap_union(&to->stride, &to->stride, &from->stride) != 0))
		return -1;
	for (uint32_t k = 0; k < to->width; k++)
		if (rankmap_union(&to->elements[k], &to->elements[k], &from->elements[k]) != 0)
			return -1;
	return 0;
}

int trace_add_group_take(struct trace_column *c, struct trace_group *g)
{
	struct trace_group *groups = budget_realloc(c->groups, (c->count + 1) * sizeof *groups);
	if (!groups) {
		trace_group_free(g);
		return -1;
	}
	c->groups = groups;
	c->groups[c->count++] = *g;
	*g = (struct trace_group){0};
	return 0;
}

static bool same_shape(const struct trace_group *a, const struct trace_group *b)
{
	if (a->lossy || b->lossy || a->pattern != b->pattern || a->count != b->count || a->edits != b->edits)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!trace_stretch_alike(&a->dict[i], &b->dict[i]))
			return false;
	return true;
}

int trace_join_group(struct trace_column *c, uint32_t first, struct trace_group *g)
{
	int rv = 0;
	for (uint32_t i = first; i < c->count; i++) {
		struct trace_group *known = &c->groups[i];
		if (!same_shape(known, g))
			continue;
		for (uint32_t k = 0; k < g->count && rv == 0; k++)
			rv = trace_stretch_join(&known->dict[k], &g->dict[k]);
		trace_group_free(g);
		return rv;
	}
	return trace_add_group_take(c, g);
}
