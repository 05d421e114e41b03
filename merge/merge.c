/* SPDX-License-Identifier: BSD-3-Clause
 * merge - the trace of two sets of ranks: the union of their sites
 */
#include "merge/merge.h"

#include <string.h>

#include "merge/class_finish.h"
#include "merge/loss.h"
#include "merge/merge_column.h"
#include "merge/merge_packed.h"
#include "merge/order.h"
#include "merge/refine.h"
#include "merge/tolerate.h"
#include "merge/translate.h"
#include "trace/base/budget.h"
#include "trace/model/packed.h"
#include "trace/model/value.h"
#include "trace/model/away.h"
#include "trace/model/classes.h"
#include "trace/model/counts.h"
#include "trace/model/means.h"
#include "trace/model/timing.h"
#include "trace/model/unended.h"

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

/* What is measured at a site. */
static int merge_times(struct translation *x, struct trace_site *into, const struct trace_site *from)
{
	merge_extremes(into, from);
	if (histogram_add(&into->communicate, &from->communicate) != 0 || means_add(&into->means, &from->means) != 0 ||
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

static int merge_site(struct translation *x, struct trace_site *into, const struct trace_site *from, bool object)
{
	if (rankmap_union(&into->visits, &into->visits, &from->visits) != 0)
		return -1;
	for (uint32_t i = 0; i < from->column_count; i++)
		if (merge_column(x, &into->columns[i], &from->columns[i],
		                 schema_reference(trace_schema(x->from, from), i)) != 0)
			return -1;
	int rv = object ? 0 : merge_times(x, into, from);
	order_inside(into, 1); /* what is sent on must have groups and edges in order, whatever came from where */
	return rv;
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
		if (packed_close(x->into, x->sites[i], into) != 0)
			rv = -1;
	}
	packed_leave(x->from, &room);
	return rv;
}

/* The same of two packed traces: columns are bytes and mostly stay so. */
static int merge_packed_at(struct translation *x, uint32_t i)
{
	int rv = -1;
	struct trace_site from, into;
	uint32_t to = x->sites[i];
	if (merge_packed_columns(x, i) != 0 || !packed_look_times(x->from, i, &from))
		return -1;
	if (packed_look_times(x->into, to, &into)) {
		rv = merge_times(x, &into, &from);
		order_inside(&into, 1);
		if (x->take) /* its memory is just right for what is made of it */
			packed_drop(x->take, i);
		if (packed_close_columns(x->into, to, &into, &x->columns, x->traits) != 0)
			rv = -1;
	}
	packed_leave(x->from, &from);
	return rv;
}

static int merge_all_sites(struct translation *x)
{
	bool packed = x->from->packing && x->into->packing;
	for (uint32_t i = 0; i < x->from->site_count; i++) {
		if (x->more && x->more(x->context, x->take, i) != 0)
			return -1;
		if ((packed && x->from->packed[i].bytes ? merge_packed_at : merge_site_at)(x, i) != 0)
			return -1;
		if (x->take)
			packed_drop(x->take, i);
	}
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
	    merge_map(x, &into->before, &from->before, REFERENCE_NONE) != 0 ||
	    merge_map(x, &into->queued, &from->queued, REFERENCE_NONE) != 0 ||
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

static void free_numbers(struct translation *x)
{
	budget_free(x->strings);
	budget_free(x->vectors);
	budget_free(x->patterns);
	budget_free(x->modules);
	budget_free(x->nodes);
	budget_free(x->functions);
	budget_free(x->sites);
	x->strings = x->vectors = x->patterns = x->modules = x->nodes = x->functions = x->sites = NULL;
}

/* What `start` says; vectors: NULL, or the numbers in `into` of those that are there already (UINT32_MAX: not); it is
 * freed. */
static int merge_known(struct translation start, uint32_t *vectors, struct error *error)
{
	struct translation x = start;
	struct trace *into = x.into;
	const struct trace *from = x.from;
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
	     translate_sites(&x) == 0;
	if (x.take) /* their numbers are all that is needed from here on, and sites grow */
		trace_forget_nodes(x.take);
	ok = ok && merge_all_sites(&x) == 0 && timing_merge(into, from, x.sites) == 0 &&
	     unended_merge(into, from, x.sites, x.strings) == 0 && away_merge(into, from, x.sites) == 0 &&
	     merge_ranks(&x) == 0;
	free_numbers(&x);
	writer_free(&x.columns);
	writer_free(&x.key);
	joined_free(x.joined);
	return ok ? 0 : error_set(error, "cannot merge: a rank is in both traces, or there is no memory");
}

int merge_into(struct trace *into, const struct trace *from, struct error *error)
{
	return merge_known((struct translation){.into = into, .from = from}, NULL, error);
}

int merge_take(struct trace *into, struct trace *from, struct error *error)
{
	return merge_take_more(into, from, NULL, NULL, error);
}

int merge_take_more(struct trace *into, struct trace *from, packed_more *more, void *context, struct error *error)
{
	struct translation x = {.into = into, .from = from, .take = from, .more = more, .context = context};
	return merge_known(x, NULL, error);
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
	if (take) {
		trace_unindex(take);
		index_free(&take->vector_pool.index);
	}
	if (order_tables(&x, take ? &take->vector_pool : NULL, &moved) != 0)
		goto done;
	free_numbers(&x);
	rv = merge_known((struct translation){.into = out, .from = t, .take = take}, moved, error);
	moved = NULL;
	if (rv == 0)
		unended_order(out);
	if (rv == 0)
		away_order(out);
	if (rv == 0)
		timing_order(out);
done:
	budget_free(moved);
	free_numbers(&x);
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
