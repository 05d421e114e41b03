/* SPDX-License-Identifier: BSD-3-Clause
 * extract_edge - the computations of an edge of an arena, and their classes, as a trace has them
 *
 * What is wrong with times is left out: the events are worth more. Classes that cannot be read are mixed ones.
 */
#include "trace/model/classes.h"
#include "trace/model/counts.h"
#include "trace/model/means.h"
#include "trace/record/extraction.h"
#include "trace/record/record_class.h"

/* A site, an edge, and what its classes change, matters from this part of the rank's time on. */
#define MATTERS_PART 512

static bool matters(const struct extraction *x, double ns)
{
	double ticks = (double)(x->record->clock_ticks[1] - x->record->clock_ticks[0]);
	return ns >= MEANS_MATTER_NS && ns * MATTERS_PART >= ticks * x->ns_per_tick;
}

int extraction_means(const struct extraction *x, struct trace_site *s)
{
	const struct histogram *all = &s->communicate;
	if (!all->count || !matters(x, (double)all->sum) || trace_initializes(trace_schema(x->trace, s)))
		return 0;
	return rankmap_single(&s->means.map, x->rank, means_code(all->sum / all->count), false);
}

/* All computations are of one class. */
static int extract_one(const struct extraction *x, struct trace_edge *edge, uint32_t key)
{
	struct trace_classes *c = classes_make(edge);
	if (!c || classes_add_times(c, key, &edge->compute, edge->counts, counts_same) != 0 ||
	    classes_set_constant(c, x->rank, key) != 0)
		return -1;
	return rankmap_single(&c->mean, x->rank, (int64_t)(edge->compute.sum / edge->compute.count), false);
}

/* The histograms of the classes, in ns. Returns how many there are; 0: damaged. */
static uint32_t extract_times(const struct extraction *x, const struct record_edge *e,
                              struct histogram times[RECORD_CLASSES])
{
	const struct record_classes *k = arena_at(x->arena, struct record_classes, e->compute.list);
	uint32_t n = 0;
	if (!arena_valid(x->arena, e->compute.list, sizeof *k) || k->count > RECORD_CLASSES)
		return 0;
	for (; n < k->count; n++)
		if (arena_valid(x->arena, k->each[n].time, sizeof(struct record_time)))
			record_time_extract(&times[n], x->arena,
			                    arena_at(x->arena, struct record_time, k->each[n].time), x->ns_per_tick,
			                    x->rank);
	return n;
}

/* How much longer or shorter computations are than the mean of all, in all. */
static double spread_of(const struct histogram *times, uint32_t n, const struct histogram *all)
{
	double spread = 0;
	for (uint32_t i = 0; i < n; i++) {
		double off = histogram_mean(&times[i]) - histogram_mean(all);
		spread += (off < 0 ? -off : off) * (double)times[i].count;
	}
	return spread;
}

/* The classes in order. Returns 0; 1 if they have none; -1 on no memory. */
static int extract_classes(struct extraction *x, const struct record_edge *e, const struct histogram *times, uint32_t n,
                           struct trace_edge *edge)
{
	const struct record_classes *k = arena_at(x->arena, struct record_classes, e->compute.list);
	int64_t keys[RECORD_CLASSES];
	struct column room, *column = k->mixed ? NULL : cell_open(&x->columns, &k->column, e->compute.few[0], &room);
	if (!column || column->lossy)
		return 1;
	for (uint32_t i = 0; i < n; i++)
		keys[i] = class_key(times[i].count ? times[i].sum / times[i].count : 0);
	struct trace_classes *c = classes_make(edge);
	x->keys = keys;
	x->key_count = n;
	if (!c || extraction_column(x, &k->column, e->compute.few[0], REFERENCE_CLASS, &c->column) != 0 ||
	    c->column.count == 0) {
		classes_free(edge);
		return c ? 1 : -1;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct histogram *counts = NULL;
		int rv = extraction_counts(x, k->each[i].counts, &counts);
		if (rv == 0)
			rv = classes_add_times(c, (uint32_t)keys[i], &times[i], counts, counts_same);
		counts_free(&counts);
		if (rv != 0)
			return -1;
	}
	return rankmap_single(&c->mean, x->rank, (int64_t)(edge->compute.sum / edge->compute.count), false);
}

int extraction_brief(const struct extraction *x, struct trace_edge *edge)
{
	const struct histogram *all = &edge->compute;
	return all->count && matters(x, (double)all->sum) ? extract_one(x, edge, class_key(all->sum / all->count)) : 0;
}

int extraction_edge(struct extraction *x, const struct record_edge *e, struct trace_edge *edge)
{
	struct histogram times[RECORD_CLASSES] = {{0}}, *all = &edge->compute;
	uint32_t n = record_edge_classes(e, record_no_times(x->arena)) ? extract_times(x, e, times) : 0;
	int rv = 0;
	if (n == 0)
		time_cell_extract(all, x->arena, &e->compute, record_no_times(x->arena), x->ns_per_tick, x->rank);
	for (uint32_t i = 0; rv == 0 && i < n; i++)
		rv = histogram_add(all, &times[i]);
	if (rv == 0 && all->count && matters(x, (double)all->sum)) {
		uint32_t one = class_key(all->sum / all->count);
		rv = n > 1 && matters(x, spread_of(times, n, all)) ? extract_classes(x, e, times, n, edge)
		                                                   : extract_one(x, edge, one);
		if (rv > 0)
			rv = extract_one(x, edge, CLASS_MIXED);
	}
	for (uint32_t i = 0; i < n; i++)
		histogram_free(&times[i]);
	return rv;
}
