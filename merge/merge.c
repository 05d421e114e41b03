/* SPDX-License-Identifier: BSD-3-Clause
 * merge - the trace of two sets of ranks: the union of their sites
 */
#include "merge/merge.h"

#include <string.h>

#include "merge/class_finish.h"
#include "merge/loss.h"
#include "merge/order.h"
#include "merge/refine.h"
#include "merge/tolerate.h"
#include "merge/translate.h"
#include "trace/base/budget.h"
#include "trace/model/packed.h"
#include "trace/model/value.h"
#include "trace/model/classes.h"
#include "trace/model/counts.h"
#include "trace/model/timing.h"
#include "trace/model/unended.h"

/* Columns. */

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

static int merge_ordered(struct translation *x, struct trace_column *into, const struct trace_group *from,
                         enum reference reference)
{
	int rv = -1;
	struct trace_group g = {.pattern = from->pattern ? translate_pattern(x, from->pattern - 1) + 1 : 0};
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

static int merge_classes(struct translation *x, struct trace_edge *into, const struct trace_edge *from)
{
	if (classes_merge(into, from, x->counters) != 0)
		return -1;
	for (uint32_t g = 0; from->classes && g < from->classes->column.count; g++)
		if (merge_ordered(x, &into->classes->column, &from->classes->column.groups[g], REFERENCE_CLASS) != 0)
			return -1;
	return 0;
}

static int merge_site(struct translation *x, struct trace_site *into, const struct trace_site *from, bool object)
{
	if (rankmap_union(&into->visits, &into->visits, &from->visits) != 0)
		return -1;
	for (uint32_t i = 0; i < from->column_count; i++) {
		enum reference reference = schema_reference(trace_schema(x->from, from), i);
		for (uint32_t g = 0; g < from->columns[i].count; g++) {
			const struct trace_group *group = &from->columns[i].groups[g];
			if ((group->lossy ? merge_lossy : merge_ordered)(x, &into->columns[i], group, reference) != 0)
				return -1;
		}
	}
	if (object)
		return 0;
	merge_extremes(into, from);
	if (histogram_add(&into->communicate, &from->communicate) != 0 ||
	    counts_add(&into->counts, from->counts, x->counters) != 0)
		return -1;
	for (uint32_t i = 0; i < from->edge_count; i++) {
		struct trace_edge *e = trace_edge(into, x->sites[from->edges[i].to]);
		if (!e || merge_classes(x, e, &from->edges[i]) != 0 ||
		    histogram_add(&e->compute, &from->edges[i].compute) != 0 ||
		    counts_add(&e->counts, from->edges[i].counts, x->counters) != 0)
			return -1;
	}
	return 0;
}

/* Site i of `from`, of which only the two that are being merged need be there as they are (trace/model/packed.h). */
static int merge_site_at(struct translation *x, uint32_t i)
{
	int rv = -1;
	struct trace_site room, into_room, *into;
	const struct trace_site *from = packed_look(x->from, i, &room);
	if (!from)
		return -1;
	into = packed_open(x->into, x->sites[i], &into_room);
	if (into) {
		rv = merge_site(x, into, from, false);
		order_inside(into,
		             1); /* what is sent on must have groups and edges in order, whatever came from where */
		if (packed_close(x->into, x->sites[i], into) != 0)
			rv = -1;
	}
	packed_leave(x->from, &room);
	if (x->take)
		packed_drop(x->take, i);
	return rv;
}

static int merge_all_sites(struct translation *x)
{
	for (uint32_t i = 0; i < x->from->site_count; i++)
		if (merge_site_at(x, i) != 0)
			return -1;
	for (uint32_t i = 0; i < x->from->object_count; i++) {
		const struct trace_site *s = &x->from->objects[i];
		uint32_t to = trace_site(x->into, x->functions[s->function], x->nodes[s->node], true);
		if (to == UINT32_MAX || merge_site(x, &x->into->objects[to], s, true) != 0)
			return -1;
		order_inside(&x->into->objects[to], 1);
	}
	return 0;
}

static int merge_map(struct translation *x, struct rankmap *into, const struct rankmap *from, enum reference reference)
{
	struct rankmap translated;
	if (translate_map(x, from, reference, &translated) != 0)
		return -1;
	int rv = rankmap_union(into, into, &translated);
	rankmap_free(&translated);
	return rv;
}

static int merge_ranks(struct translation *x)
{
	const struct trace *from = x->from;
	struct trace *into = x->into;
	if (merge_map(x, &into->events, &from->events, REFERENCE_NONE) != 0 ||
	    merge_map(x, &into->first, &from->first, REFERENCE_SITE) != 0 ||
	    merge_map(x, &into->host, &from->host, REFERENCE_STRING) != 0 ||
	    merge_map(x, &into->host_number, &from->host_number, REFERENCE_NONE) != 0 ||
	    merge_map(x, &into->cpus, &from->cpus, REFERENCE_STRING) != 0 ||
	    merge_map(x, &into->first_cpu, &from->first_cpu, REFERENCE_NONE) != 0 ||
	    merge_map(x, &into->topology, &from->topology, REFERENCE_STRING) != 0 ||
	    merge_map(x, &into->lost, &from->lost, REFERENCE_NONE) != 0 ||
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

/* vectors: NULL, or the numbers in `into` of those that are there already (UINT32_MAX: not); it is freed. take: NULL,
 * or `from`. */
static int merge_known(struct trace *into, const struct trace *from, uint32_t *vectors, struct trace *take,
                       struct error *error)
{
	struct translation x = {.into = into, .from = from, .take = take};
	x.strings = translate_numbers(from->strings.count);
	x.vectors = vectors ? vectors : translate_numbers(from->vector_pool.count);
	x.patterns = translate_numbers(from->patterns.count);
	x.modules = translate_numbers(from->module_count);
	x.nodes = translate_numbers(from->node_count);
	x.functions = translate_numbers(from->function_count);
	x.sites = translate_numbers(from->site_count);
	for (uint32_t i = 0; x.patterns && i < from->patterns.count; i++)
		x.patterns[i] = UINT32_MAX;
	for (uint32_t i = 0; !vectors && x.vectors && i < from->vector_pool.count; i++)
		x.vectors[i] = UINT32_MAX;
	bool ok = x.strings && x.vectors && x.patterns && x.modules && x.nodes && x.functions && x.sites;
	ok = ok && translate_strings(&x) == 0 && translate_paths(&x) == 0 &&
	     counts_merge(into, from, x.strings, x.counters) == 0 && translate_functions(&x) == 0 &&
	     translate_sites(&x) == 0 && merge_all_sites(&x) == 0 && timing_merge(into, from, x.sites) == 0 &&
	     unended_merge(into, from, x.sites, x.strings) == 0 && merge_ranks(&x) == 0;
	budget_free(x.strings);
	budget_free(x.vectors);
	budget_free(x.patterns);
	budget_free(x.modules);
	budget_free(x.nodes);
	budget_free(x.functions);
	budget_free(x.sites);
	return ok ? 0 : error_set(error, "cannot merge: a rank is in both traces, or there is no memory");
}

int merge_into(struct trace *into, const struct trace *from, struct error *error)
{
	return merge_known(into, from, NULL, NULL, error);
}

int merge_take(struct trace *into, struct trace *from, struct error *error)
{
	return merge_known(into, from, NULL, from, error);
}

/* Canonical order: a new trace is given the things of the old one in sorted order, and then the old one is merged into
 * it. */
/* take: NULL, or t, which is then good for trace_free only. */
static int order_trace(struct trace *out, const struct trace *t, struct trace *take, struct error *error)
{
	int rv = -1;
	uint32_t *moved = NULL;
	struct translation x = {.into = out, .from = t};
	x.strings = translate_numbers(t->strings.count);
	x.modules = translate_numbers(t->module_count);
	x.nodes = translate_numbers(t->node_count);
	x.functions = translate_numbers(t->function_count);
	if (trace_init(out) != 0 || !x.strings || !x.modules || !x.nodes || !x.functions)
		goto done;
	out->packing = t->packing;
	if (order_tables(&x, take ? &take->vector_pool : NULL, &moved) != 0)
		goto done;
	rv = merge_known(out, t, moved, take, error);
	moved = NULL;
	if (rv == 0)
		unended_order(out);
	if (rv == 0)
		timing_order(out);
done:
	budget_free(moved);
	budget_free(x.strings);
	budget_free(x.modules);
	budget_free(x.nodes);
	budget_free(x.functions);
	return rv == 0 ? 0 : error_set(error, "no memory to order the trace");
}

/* Refining looks at groups in canonical order, so that its result does not depend on the order of merging either. */
static int refine_ordered(struct trace *t, struct error *error)
{
	struct trace ordered;
	int changed = packed_change(t, PACKED_SPLIT, refine_site), lost = changed < 0 ? -1 : loss_finish(t),
	    finished = lost < 0 ? -1 : class_finish(t);
	if (finished < 0)
		return error_set(error, "no memory to refine the trace");
	if (changed == 0 && lost == 0 && finished == 0)
		return 0;
	int rv = order_trace(&ordered, t, t, error);
	trace_free(t);
	*t = ordered;
	return rv;
}

static int order_in_place(struct trace *t, struct error *error)
{
	struct trace ordered;
	int rv = order_trace(&ordered, t, t, error);
	trace_free(t);
	*t = ordered;
	return rv;
}

int merge_finish_near(struct trace *t, unsigned frames, struct error *error)
{
	int rv = order_in_place(t, error);
	if (rv != 0 || !trace_is_final(t))
		return rv;
	int64_t joined = tolerate_paths(t, frames);
	if (joined < 0)
		return error_set(error, "no memory to compare call paths");
	rv = joined > 0 ? order_in_place(t, error) : 0;
	return rv == 0 ? refine_ordered(t, error) : rv;
}

int merge_finish(struct trace *t, struct error *error)
{
	return merge_finish_near(t, 0, error);
}

int merge_canonical(struct trace *out, const struct trace *t, struct error *error)
{
	return order_trace(out, t, NULL, error) == 0 ? refine_ordered(out, error) : -1;
}
