/* SPDX-License-Identifier: BSD-3-Clause
 * site_activity - how much the call sites of a trace pass on: by the patterns of their columns
 */
#include "trace/read/activity.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/model/pattern.h"
#include "trace/model/stream.h"
#include "trace/read/call_fields.h"
#include "trace/read/uniform.h"

struct maker {
	const struct trace *trace;
	struct handles *handles;
};

/* --- values of one column, by their patterns --- */

/* What is counted of a value: it is `bytes` = value * size, a message or not. */
struct count {
	struct maker *maker;
	struct activity *sum;
	uint64_t *sizes;
	uint64_t size; /* of an element */
	bool message, vector;
};

static void count_bytes(const struct count *c, uint64_t bytes, uint64_t times)
{
	c->sum->bytes += bytes * times;
	if (c->message) {
		c->sum->messages += times;
		c->sum->message_bytes += bytes * times;
		c->sizes[activity_class(bytes)] += times;
	}
}

static void count_value(const struct count *c, int64_t value, uint64_t times)
{
	const struct pool *pool = &c->maker->trace->vector_pool;
	if (value_is_constant(value))
		return; /* `-`: not significant */
	if (!c->vector) {
		count_bytes(c, value < 0 ? 0 : (uint64_t)value * c->size, times);
		return;
	}
	uint64_t sum = 0;
	for (size_t i = 0; i + sizeof value <= pool->items[value].size; i += sizeof value) {
		int64_t v;
		memcpy(&v, pool->items[value].bytes + i, sizeof v);
		sum += v > 0 && !value_is_constant(v) ? (uint64_t)v : 0;
	}
	count_bytes(c, sum * c->size, times);
}

/* One array for each rank, of which each element is a map. */
static uint64_t family_sum(const struct trace_stretch *d)
{
	uint64_t sum = 0;
	for (uint32_t k = 0; k < d->width; k++)
		sum += (uint64_t)rankmap_sum(&d->elements[k]);
	return sum;
}

/* The values of a stretch, value k coming counts[k] times in each rank. Returns 0, or 1: too much work. */
static int add_stretch(const struct count *c, const struct trace_stretch *d, const uint64_t *counts)
{
	int64_t start, stride = 0, step;
	uint64_t ranks = rankmap_size(&d->start);
	if (d->vector) {
		count_bytes(c, family_sum(d) * c->size, counts[0]);
	} else if (rankmap_constant(&d->start, &start) && (d->count == 1 || rankmap_constant(&d->stride, &stride))) {
		for (uint64_t k = 0; k < d->count; k++)
			count_value(c, (int64_t)((uint64_t)start + k * (uint64_t)stride), counts[k] * ranks);
	} else if (handles_afford(c->maker->handles, ranks, d->count)) {
		for (uint64_t r = 0; rankmap_next(&d->start, &r, &start); r++) {
			bool one = d->count == 1 || value_is_constant(start) ||
			           !rankmap_get(&d->stride, (uint32_t)r, &step);
			for (uint64_t k = 0; k < d->count; k++)
				count_value(c, one ? start : (int64_t)((uint64_t)start + k * (uint64_t)step),
				            counts[k]);
		}
	} else if (c->vector) {
		return 1;
	} else { /* by the mean over the ranks */
		uint64_t first = (uint64_t)rankmap_sum(&d->start),
			 slope = d->count > 1 ? (uint64_t)rankmap_sum(&d->stride) : 0;
		for (uint64_t k = 0; k < d->count; k++)
			count_bytes(c, (first + k * slope) / ranks * c->size, counts[k] * ranks);
	}
	return 0;
}

/* Counts the tokens of a group; *counts is malloc'ed. Returns 0; 1: too much work; -1 on no memory. */
static int group_counts(struct maker *m, const struct trace_group *g, uint64_t **counts)
{
	const struct pool_item *item = &m->trace->patterns.items[g->pattern - 1];
	struct pattern p = {0};
	uint64_t values = 0;
	for (uint32_t i = 0; i < g->count; i++)
		values += g->dict[i].count;
	*counts = NULL;
	if (!handles_afford(m->handles, 1, values))
		return 1;
	*counts = budget_malloc((values + 1) * sizeof **counts);
	int rv = *counts && pattern_parse(&p, item->bytes, item->size) == 0 && pattern_count(&p, *counts) == 0 ? 0 : -1;
	pattern_free(&p);
	return rv;
}

static int add_pattern(const struct count *c, const struct trace_group *g)
{
	uint64_t *counts, at = 0;
	int rv = group_counts(c->maker, g, &counts);
	for (uint32_t i = 0; rv == 0 && i < g->count; at += g->dict[i++].count)
		rv = add_stretch(c, &g->dict[i], counts + at);
	budget_free(counts);
	return rv;
}

/* Which value came when is not known; which came how often is, as far as the tally tells them apart. Of arrays that is
 * the elements. */
static void add_lossy(const struct count *c, const struct trace_lossy *lossy)
{
	const struct tally *tally = c->vector ? &lossy->elements : &lossy->values;
	for (uint32_t i = tally_constants(tally); i < tally->count; i++) {
		const struct tally_bin *b = &tally->bins[i];
		int64_t mean = b->min == b->max ? b->min : (int64_t)(b->sum / b->count);
		c->sum->bytes += b->sum * c->size;
		if (c->message) {
			c->sum->messages += b->count;
			c->sum->message_bytes += b->sum * c->size;
			c->sizes[activity_class(mean < 0 ? 0 : (uint64_t)mean * c->size)] += b->count;
		}
	}
	uint64_t unknown = trace_unknown(c->maker->trace, tally), calls = tally_count(&lossy->values);
	if (unknown > calls) /* elements of fewer arrays */
		unknown = calls;
	c->sum->unsized += unknown;
	c->sum->messages += c->message ? unknown : 0;
}

/* One value for all visits of a rank. Returns 0, or 1: too much work. */
static int add_constant(const struct count *c, const struct trace_site *site, const struct trace_stretch *d)
{
	int64_t value, visits, element;
	bool evenly = rankmap_constant(&site->visits, &visits);
	if (!d->vector && rankmap_constant(&d->start, &value) && rankmap_same_ranks(&d->start, &site->visits)) {
		count_value(c, value, (uint64_t)rankmap_sum(&site->visits));
		return 0;
	}
	if (d->vector && evenly) {
		count_bytes(c, family_sum(d) * c->size, (uint64_t)visits);
		return 0;
	}
	uint64_t ranks = rankmap_size(&d->start);
	if (!handles_afford(c->maker->handles, ranks, d->vector ? d->width : 1)) {
		if (!evenly || c->vector)
			return 1;
		count_bytes(c, (uint64_t)rankmap_sum(&d->start) / ranks * c->size, ranks * (uint64_t)visits);
		return 0;
	}
	for (uint64_t r = 0; rankmap_next(&d->start, &r, &value); r++) {
		if (!rankmap_get(&site->visits, (uint32_t)r, &visits))
			continue;
		if (!d->vector)
			count_value(c, value, (uint64_t)visits);
		for (uint32_t k = 0; d->vector && k < d->width; k++)
			if (rankmap_get(&d->elements[k], (uint32_t)r, &element) && !value_is_constant(element))
				count_bytes(c, (uint64_t)element * c->size, (uint64_t)visits);
	}
	return 0;
}

static int add_array(void *context, const int64_t *values, size_t n)
{
	const struct count *c = context;
	uint64_t sum = 0;
	for (size_t i = 0; n != SIZE_MAX && i < n; i++)
		sum += values[i] > 0 ? (uint64_t)values[i] : 0;
	if (n != SIZE_MAX) /* `-`: not significant */
		count_bytes(c, sum * c->size, 1);
	return 0;
}

static int add_edits(const struct count *c, const struct trace_group *g)
{
	int rv = 0;
	int64_t value;
	for (uint64_t r = 0; rv == 0 && rankmap_next(trace_group_ranks(g), &r, &value); r++) {
		struct count of = *c;
		rv = trace_edits_each(c->maker->trace, g, (uint32_t)r, add_array, &of);
	}
	return rv;
}

/* Returns 0; 1: too much work; -1 on no memory. */
static int add_column(const struct count *c, const struct trace_site *site, int column)
{
	int rv = 0;
	for (uint32_t i = 0; rv == 0 && i < site->columns[column].count; i++) {
		const struct trace_group *g = &site->columns[column].groups[i];
		if (g->lossy)
			add_lossy(c, g->lossy);
		else if (g->edits)
			rv = add_edits(c, g);
		else if (g->pattern)
			rv = add_pattern(c, g);
		else
			rv = add_constant(c, site, &g->dict[0]);
	}
	return rv;
}

/* --- what is the same in all calls of a site --- */

/* The one value that a column has in all calls of all ranks. */
static bool single_value(const struct trace *trace, const struct trace_column *c, int64_t *value)
{
	int64_t v;
	for (uint32_t g = 0; g < c->count; g++) {
		const struct trace_group *group = &c->groups[g];
		if (group->lossy) {
			const struct tally *t = &group->lossy->values;
			if (t->count != 1 || t->bins[0].min != t->bins[0].max ||
			    trace_is_unknown(trace, t->bins[0].min))
				return false;
			v = t->bins[0].min;
		} else if (group->pattern || group->dict[0].vector || !rankmap_constant(&group->dict[0].start, &v)) {
			return false;
		}
		if (g > 0 && v != *value)
			return false;
		*value = v;
	}
	return c->count > 0;
}

static bool has_names(const struct rankmap *m)
{
	for (uint32_t i = 0; i < m->node_count; i++)
		if (m->nodes[i].low == DIAGRAM_LEAF)
			return true;
	return false;
}

/* How many calls are known to have a named constant there: MPI_PROC_NULL. Returns 0; 1: too much work; -1 no memory. */
static int count_names(struct maker *m, const struct trace_site *site, int column, uint64_t *names)
{
	int rv = 0;
	*names = 0;
	for (uint32_t g = 0; rv == 0 && g < site->columns[column].count; g++) {
		const struct trace_group *group = &site->columns[column].groups[g];
		uint64_t *counts = NULL, at = 0;
		int64_t value, visits;
		for (uint32_t i = 0; group->lossy && i < tally_constants(&group->lossy->values); i++)
			*names += group->lossy->values.bins[i].count;
		*names -= group->lossy ? trace_unknown(m->trace, &group->lossy->values) : 0;
		for (uint32_t i = 0; rv == 0 && !group->lossy && i < group->count; at += group->dict[i++].count) {
			const struct rankmap *start = &group->dict[i].start;
			if (!has_names(start))
				continue;
			if (group->pattern && !counts)
				rv = group_counts(m, group, &counts);
			if (rv == 0 && !handles_afford(m->handles, rankmap_size(start), 1))
				rv = 1;
			for (uint64_t r = 0; rv == 0 && rankmap_next(start, &r, &value); r++)
				if (value_is_constant(value))
					*names += counts                                             ? counts[at]
					          : rankmap_get(&site->visits, (uint32_t)r, &visits) ? (uint64_t)visits
					                                                             : 0;
		}
		budget_free(counts);
	}
	return rv;
}

/* --- sites --- */

/* The column of how many elements all calls pass on: of file calls what they moved, if all say that. -1: some do. */
static int count_column(const struct trace *t, const struct trace_site *site, const struct schema *s)
{
	int moved = s->at[PARAMETER_STATUS_COUNT];
	int64_t one;
	if (s->mpi->class != MPI_CLASS_FILE || moved < 0 || s->at[PARAMETER_COUNT] < 0)
		return s->at[PARAMETER_COUNT];
	if (!column_has_names(&site->columns[moved]))
		return moved;
	return single_value(t, &site->columns[moved], &one) ? s->at[PARAMETER_COUNT] : -1;
}

/* All calls at once: one size of an element in all of them, so that what varies is the count alone. Returns 0; 1: that
 * is not so; -1 on no memory. */
static int add_together(struct maker *m, const struct trace_site *site, struct activity *sum, uint64_t *sizes)
{
	const struct schema *s = trace_schema(m->trace, site);
	enum activity_kind kind = activity_kind(s);
	struct uniform type, comm = {.size = 1};
	int count = count_column(m->trace, site, s), dest = s->at[PARAMETER_DEST], comm_column = s->at[PARAMETER_COMM];
	uint64_t nobody = 0;
	int64_t one = 0;
	if (kind == ACTIVITY_START || kind == ACTIVITY_UNKNOWN || s->at[PARAMETER_PARTITIONS] >= 0 || count < 0 ||
	    !uniform_size(m->handles, &type, handles_type_size, site, s->at[PARAMETER_TYPE]))
		return 1;
	if (type.none && s->mpi->in_place >= IN_PLACE_SAME) {
		count = s->at[PARAMETER_RECV_COUNT];
		if (type.some || s->mpi->in_place == IN_PLACE_OWN || count < 0 || s->at[PARAMETER_RECV_TYPE] < 0 ||
		    !uniform_size(m->handles, &type, handles_type_size, site, s->at[PARAMETER_RECV_TYPE]) || type.none)
			return 1;
	}
	if (s->mpi->each == EACH_PROCESS &&
	    (comm_column < 0 || !uniform_size(m->handles, &comm, handles_comm_size, site, comm_column)))
		return 1;
	struct count c = {m, sum, sizes, type.size * comm.size, kind == ACTIVITY_MESSAGE, s->column[count].vector};
	int rv = dest >= 0 ? count_names(m, site, dest, &nobody) : 0;
	if (rv != 0)
		return rv;
	if (nobody == 0)
		return add_column(&c, site, count);
	if (c.vector || !single_value(m->trace, &site->columns[count], &one))
		return 1;
	count_value(&c, one, (uint64_t)rankmap_sum(&site->visits) - nobody);
	return 0;
}

/* Requests that were started in no order: of which numbers, in all the ranks of a group, is known. */
static void add_unordered_starts(struct maker *m, bool vector, const struct trace_group *group, struct activity *sum,
                                 uint64_t *sizes)
{
	const struct tally *tally = vector ? &group->lossy->elements : &group->lossy->values;
	const struct rankmap *ranks = trace_group_ranks(group);
	int64_t unused;
	sum->messages += trace_unknown(m->trace, tally);
	sum->unsized += trace_unknown(m->trace, tally);
	for (uint32_t i = tally_constants(tally); i < tally->count; i++) {
		const struct tally_bin *b = &tally->bins[i];
		enum activity_kind kind = ACTIVITY_MESSAGE, other;
		uint64_t bytes = 0, more;
		bool found = false, same = b->max - b->min < 256 && handles_afford(m->handles, rankmap_size(ranks),
		                                                                   (uint64_t)(b->max - b->min) + 1);
		for (uint64_t r = 0; same && rankmap_next(ranks, &r, &unused); r++)
			for (int64_t n = b->min; same && n <= b->max; n++)
				if (activity_request(m->handles, (uint32_t)r, n, &other, &more)) {
					same = !found || (other == kind && more == bytes);
					found = true;
					kind = other;
					bytes = more;
				}
		if (!same || !found) {
			sum->messages += b->count;
			sum->unsized += b->count;
		} else {
			struct count c = {m, sum, sizes, 1, kind == ACTIVITY_MESSAGE, false};
			count_value(&c, (int64_t)bytes, kind == ACTIVITY_NONE ? 0 : b->count);
		}
	}
}

/* Rank by rank. */
static int add_ranks(struct maker *m, const struct trace_site *site, struct activity *sum, uint64_t *sizes)
{
	const struct schema *s = trace_schema(m->trace, site);
	int request = s->at[PARAMETER_REQUEST], rv = 0;
	int64_t unused;
	if (activity_kind(s) == ACTIVITY_START && site->columns[request].count &&
	    site->columns[request].groups[0].lossy) {
		for (uint32_t g = 0; g < site->columns[request].count; g++) {
			const struct trace_group *group = &site->columns[request].groups[g];
			if (!group->lossy)
				return 1;
			add_unordered_starts(m, s->column[request].vector, group, sum, sizes);
		}
		return 0;
	}
	for (uint64_t r = 0; rv == 0 && rankmap_next(&site->visits, &r, &unused); r++)
		rv = activity_add_visits(sum, sizes, m->handles, site, (uint32_t)r);
	return rv;
}

static int add_site(struct maker *m, struct site_activity *a, uint32_t number)
{
	static int (*const ways[])(struct maker *, const struct trace_site *, struct activity *,
	                           uint64_t *) = {add_together, add_ranks};
	const struct trace_site *site = &m->trace->sites[number];
	const struct schema *s = trace_schema(m->trace, site);
	enum activity_kind kind = activity_kind(s);
	uint64_t calls = (uint64_t)rankmap_sum(&site->visits), nobody = 0;
	if (kind == ACTIVITY_NONE || activity_is_persistent(s))
		return 0;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		uint64_t sizes[ACTIVITY_SIZES] = {0};
		struct activity sum = {0};
		int rv = ways[i](m, site, &sum, sizes);
		if (rv < 0)
			return -1;
		if (rv > 0)
			continue;
		a->sites[number] = sum;
		for (int k = 0; k < ACTIVITY_SIZES; k++)
			a->sizes[k] += sizes[k];
		return 0;
	}
	if (s->at[PARAMETER_DEST] >= 0 && count_names(m, site, s->at[PARAMETER_DEST], &nobody) != 0)
		nobody = 0;
	a->sites[number].unsized = calls - nobody;
	a->sites[number].messages = kind == ACTIVITY_MESSAGE || kind == ACTIVITY_START ? calls - nobody : 0;
	return 0;
}

/* --- events --- */

static int add_events(struct maker *m, struct site_activity *a)
{
	struct error unused;
	int64_t events;
	struct site_activity walked = {.sites = budget_calloc((size_t)m->trace->site_count + 1, sizeof *walked.sites)};
	int rv = walked.sites ? 0 : -1;
	handles_in_order(m->handles);
	for (uint64_t r = 0; rv == 0 && rankmap_next(&m->trace->events, &r, &events); r++) {
		struct walk *w;
		struct event e;
		rv = walk_begin(&w, m->trace, (uint32_t)r, &unused);
		while (rv == 0 && (rv = walk_next(w, &e, &unused)) == 0)
			activity_add_event(&walked.sites[e.site], walked.sizes, m->handles, (uint32_t)r, &e);
		rv = rv > 0 && !walk_unordered(w) ? 0 : -1;
		walk_end(w);
	}
	if (rv == 0) {
		site_activity_free(a);
		*a = walked;
	} else {
		site_activity_free(&walked); /* what was found before stays */
	}
	return 0;
}

int site_activity_make(struct site_activity *a, const struct trace *t)
{
	struct maker m = {t, handles_create(t)};
	uint64_t unsized = 0;
	*a = (struct site_activity){.sites = budget_calloc((size_t)t->site_count + 1, sizeof *a->sites)};
	int rv = m.handles && a->sites ? 0 : -1;
	for (uint32_t i = 0; rv == 0 && i < t->site_count; i++) {
		rv = add_site(&m, a, i);
		unsized += a->sites[i].unsized;
	}
	if (rv == 0 && unsized && handles_ambiguous(m.handles) &&
	    (uint64_t)rankmap_sum(&t->events) <= ACTIVITY_EVENTS && !trace_has_lossy(t))
		rv = add_events(&m, a);
	handles_destroy(m.handles);
	return rv;
}

void site_activity_free(struct site_activity *a)
{
	budget_free(a->sites);
	a->sites = NULL;
}
