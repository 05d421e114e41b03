/* SPDX-License-Identifier: BSD-3-Clause
 * merge_column - the groups of two columns
 */
#include "merge/merge_column.h"

#include "trace/base/budget.h"

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

static int tally_translate(const struct translation *x, struct tally *into, const struct tally *from,
                           enum reference reference)
{
	struct tally t = {0};
	int rv = -1;
	if (reference == REFERENCE_STRING) {
		for (uint32_t i = 0; i < from->count; i++)
			if (tally_add(&t, translate_value(x, from->bins[i].min, reference), from->bins[i].count) != 0)
				goto done;
		rv = tally_merge(into, &t) != 0 ? -1 : trace_tally_fold(x->into, into);
		goto done;
	}
	uint32_t constants = tally_constants(from);
	for (uint32_t i = 0; i < constants; i++)
		if (tally_add(&t, translate_value(x, from->bins[i].min, REFERENCE_NONE), from->bins[i].count) != 0)
			goto done;
	const struct tally numbers = {from->bins ? from->bins + constants : NULL, from->count - constants, 0};
	rv = tally_merge(into, &t) != 0 || (numbers.count && tally_merge(into, &numbers) != 0) ? -1 : 0;
done:
	tally_free(&t);
	return rv;
}

static int stretch_translate(struct translation *x, const struct trace_stretch *s, enum reference reference,
                             struct trace_stretch *to)
{
	*to = (struct trace_stretch){.count = s->count, .vector = s->vector};
	if (translate_map(x, &s->start, s->vector ? REFERENCE_NONE : reference, &to->start) != 0 ||
	    (s->count > 1 && translate_map(x, &s->stride, REFERENCE_NONE, &to->stride) != 0))
		return -1;
	if (trace_stretch_room(to, s) != 0)
		return -1;
	for (; s->vector && to->width < s->width; to->width++)
		if (translate_map(x, &s->elements[to->width], REFERENCE_NONE, &to->elements[to->width]) != 0)
			return -1;
	return 0;
}

int merge_ordered(struct translation *x, struct trace_column *into, const struct trace_group *from,
                  enum reference reference)
{
	int rv = -1;
	struct trace_group g = {.pattern = from->pattern ? translate_pattern(x, from->pattern - 1) + 1 : 0,
	                        .edits = from->edits};
	g.dict = budget_calloc(from->count, sizeof *g.dict);
	if (!g.dict || (from->pattern && g.pattern == 0)) {
		budget_free(g.dict);
		return -1;
	}
	while (g.count < from->count) {
		g.count++;
		if (stretch_translate(x, &from->dict[g.count - 1], reference, &g.dict[g.count - 1]) != 0)
			goto done;
	}
	return trace_join_group(into, 0, &g);
done:
	trace_group_free(&g);
	return rv;
}

static int merge_lossy(struct translation *x, struct trace_column *into, const struct trace_group *from,
                       enum reference reference)
{
	struct trace_group *g = lossy_group(into, trace_group_ranks(from));
	if (!g)
		return -1;
	struct trace_lossy *to = g->lossy;
	const struct trace_lossy *l = from->lossy;
	to->why |= l->why;
	to->since = l->since < to->since ? l->since : to->since;
	/* the values of a vector column are lengths */
	if (tally_translate(x, &to->values, &l->values, reference == REFERENCE_STRING ? reference : REFERENCE_NONE) !=
	            0 ||
	    tally_translate(x, &to->elements, &l->elements, REFERENCE_NONE) != 0)
		return -1;
	for (uint32_t i = 0; i < l->next_count; i++) {
		struct tally *runs = trace_next(to, x->sites[l->next[i].to]);
		if (!runs || tally_merge(runs, &l->next[i].runs) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < l->prefix.count; i++)
		if (merge_ordered(x, &to->prefix, &l->prefix.groups[i], reference) != 0)
			return -1;
	return 0;
}

int merge_column(struct translation *x, struct trace_column *into, const struct trace_column *from,
                 enum reference reference)
{
	for (uint32_t g = 0; g < from->count; g++)
		if ((from->groups[g].lossy ? merge_lossy : merge_ordered)(x, into, &from->groups[g], reference) != 0)
			return -1;
	return 0;
}
