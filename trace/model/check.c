/* SPDX-License-Identifier: BSD-3-Clause
 * check - is what was read from outside a trace?
 */
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/away.h"
#include "trace/model/classes.h"
#include "trace/model/packed.h"
#include "trace/model/value.h"
#include "trace/model/pattern.h"
#include "trace/model/stream.h"
#include "trace/model/trace.h"
#include "trace/model/unended.h"

static bool value_ok(const struct trace *t, int64_t v, enum reference reference)
{
	if (value_is_constant(v)) /* any parameter may be "-", but no site */
		return reference != REFERENCE_SITE && (uint64_t)v - (uint64_t)VALUE_CONSTANT < t->strings.count;
	switch (reference) {
	case REFERENCE_STRING:
		return v >= 0 && v < t->strings.count;
	case REFERENCE_VECTOR:
		return v >= 0 && v < t->vector_pool.count;
	case REFERENCE_SITE:
		return v >= 0 && v < t->site_count;
	case REFERENCE_CLASS:
		return v >= CLASS_MIXED && v < CLASS_KEYS;
	case REFERENCE_NONE:
		break;
	}
	return true;
}

/* May its values be what they are? */
static bool values_ok(const struct trace *t, const struct rankmap *m, enum reference reference)
{
	bool plain = m->root == DIAGRAM_PLAIN;
	for (uint32_t i = 0; i < m->node_count; i++) {
		const struct diagram_node *n = &m->nodes[i];
		if (n->low == DIAGRAM_LEAF) {
			if (!value_ok(t, n->delta, reference) || (!reference && !value_is_constant(n->delta)))
				return false;
		} else {
			plain |= n->low == DIAGRAM_PLAIN || n->high == DIAGRAM_PLAIN;
		}
	}
	return rankmap_empty(m) || !(plain && reference);
}

/* The same, and do all its ranks exist? */
static bool map_ok(const struct trace *t, const struct rankmap *m, enum reference reference)
{
	return values_ok(t, m, reference) && (rankmap_empty(m) || rankmap_last(m) < stream_limit(t));
}

/* Its ranks were looked at when they were read. */
static bool passed_ok(const struct trace *t, const struct trace_unended *u)
{
	for (uint32_t i = 0; i < u->passed.count; i++)
		if (!values_ok(t, &u->passed.each[i].value, REFERENCE_NONE))
			return false;
	return true;
}

static bool has_constants(const struct rankmap *m)
{
	for (uint32_t i = 0; i < m->node_count; i++)
		if (m->nodes[i].low == DIAGRAM_LEAF && value_is_constant(m->nodes[i].delta))
			return true;
	return false;
}

/* In order, without constants that do not exist. numbers: every value is a number of at least `least`. */
static bool tally_ok(const struct trace *t, const struct tally *tally, enum reference reference, bool numbers,
                     int64_t least)
{
	for (uint32_t i = 0; i < tally->count; i++) {
		const struct tally_bin *b = &tally->bins[i];
		bool constant = value_is_constant(b->min);
		if (b->count == 0 || b->max < b->min || (i > 0 && b->min <= tally->bins[i - 1].max) ||
		    (constant && b->min != b->max) || (!constant && b->min <= VALUE_LOSSY) ||
		    !value_ok(t, b->min, reference) || !value_ok(t, b->max, reference) ||
		    (numbers && (constant || b->min < least)))
			return false;
	}
	return true;
}

static bool group_ok(const struct trace *t, const struct trace_group *g, enum reference reference,
                     const uint64_t *news);

static bool lossy_ok(const struct trace *t, const struct trace_group *g, enum reference reference, const uint64_t *news)
{
	const struct trace_lossy *l = g->lossy;
	const struct rankmap *ranks = &g->dict[0].start;
	int64_t value;
	if (g->pattern || g->count != 1 || g->dict[0].count != 1 || rankmap_empty(ranks) ||
	    rankmap_last(ranks) >= stream_limit(t) || !rankmap_constant(ranks, &value) || value != VALUE_LOSSY ||
	    l->why & ~(uint32_t)WHY_ALL)
		return false;
	if (reference == REFERENCE_SITE ? l->values.count > 0 : l->next_count > 0)
		return false;
	if (reference != REFERENCE_VECTOR && l->elements.count > 0)
		return false;
	for (uint32_t i = 0; i < l->next_count; i++)
		if (l->next[i].to >= t->site_count || (i > 0 && l->next[i].to <= l->next[i - 1].to) ||
		    l->next[i].runs.count == 0 || !tally_ok(t, &l->next[i].runs, REFERENCE_NONE, true, 1))
			return false;
	for (uint32_t i = 0; i < l->prefix.count; i++)
		if (l->prefix.groups[i].lossy || !(l->prefix.groups[i].pattern || l->prefix.groups[i].edits) ||
		    !group_ok(t, &l->prefix.groups[i], reference, news))
			return false;
	/* the length of a vector is no reference */
	return tally_ok(t, &l->values, reference == REFERENCE_STRING ? REFERENCE_STRING : REFERENCE_NONE, false, 0) &&
	       tally_ok(t, &l->elements, REFERENCE_NONE, false, 0);
}

static bool vector_ok(const struct trace *t, const struct trace_stretch *s)
{
	int64_t value;
	if (s->count != 1 || s->width > FAMILY_WIDTH || (s->width && !s->elements) || !rankmap_empty(&s->stride) ||
	    !map_ok(t, &s->start, REFERENCE_NONE) || !rankmap_constant(&s->start, &value) || value != 0)
		return false;
	for (uint32_t k = 0; k < s->width; k++)
		if (!values_ok(t, &s->elements[k], REFERENCE_NONE) || !rankmap_same_ranks(&s->elements[k], &s->start))
			return false;
	return true;
}

/* Is it an array of edits, for every rank? Whether they fit together is found when they are read. */
static bool edits_ok(const struct trace *t, const struct trace_group *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct rankmap *m = &g->dict[i].start;
		for (uint32_t n = 0; n < m->node_count; n++)
			if (m->nodes[n].low == DIAGRAM_LEAF &&
			    (value_is_constant(m->nodes[n].delta) || t->vector_pool.items[m->nodes[n].delta].size == 0))
				return false;
	}
	return true;
}

static bool group_ok(const struct trace *t, const struct trace_group *g, enum reference reference, const uint64_t *news)
{
	uint64_t values = 0;
	if (g->lossy)
		return lossy_ok(t, g, reference, news);
	if (g->count == 0 || g->pattern > t->patterns.count ||
	    (g->edits && (g->pattern || reference != REFERENCE_VECTOR)))
		return false;
	for (uint32_t i = 0; i < g->count; i++) {
		const struct trace_stretch *s = &g->dict[i];
		if (s->vector) {
			values++;
			if (reference != REFERENCE_VECTOR || g->edits || !vector_ok(t, s) ||
			    !rankmap_same_ranks(&s->start, trace_group_ranks(g)))
				return false;
			continue;
		}
		if (s->width || s->elements)
			return false;
		if (s->count == 0 || (s->count > 1 && reference) || __builtin_add_overflow(values, s->count, &values) ||
		    !map_ok(t, &s->start, reference) || !map_ok(t, &s->stride, REFERENCE_NONE) ||
		    rankmap_empty(&s->start) || !rankmap_same_ranks(&s->start, trace_group_ranks(g)) ||
		    (s->count > 1 ? !rankmap_same_ranks(&s->stride, &s->start) : !rankmap_empty(&s->stride)))
			return false;
	}
	return g->edits ? edits_ok(t, g) : values == (g->pattern ? news[g->pattern - 1] : 1);
}

static bool classes_ok(const struct trace *t, const struct trace_classes *c, const uint64_t *news)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->each[i].key >= CLASS_KEYS || (i > 0 && c->each[i].key <= c->each[i - 1].key))
			return false;
	for (uint32_t i = 0; i < c->column.count; i++)
		if (c->column.groups[i].lossy || !group_ok(t, &c->column.groups[i], REFERENCE_CLASS, news))
			return false;
	return map_ok(t, &c->mean, REFERENCE_NONE) && !has_constants(&c->mean);
}

static bool means_ok(const struct trace *t, const struct trace_means *m)
{
	return map_ok(t, &m->map, REFERENCE_NONE) && !has_constants(&m->map);
}

static bool totals_ok(const struct trace *t)
{
	for (unsigned i = 0; i < TRACE_TOTALS; i++)
		if (!means_ok(t, &t->total[i].means))
			return false;
	return true;
}

static int site_check(const struct trace *t, const struct trace_site *s, uint32_t number, const uint64_t *news,
                      struct error *error)
{
	if (s->function >= t->function_count || s->node >= t->node_count)
		return error_set(error, "site %u: its function or its call path does not exist", number);
	if (!map_ok(t, &s->visits, REFERENCE_NONE) || has_constants(&s->visits) || rankmap_empty(&s->visits))
		return error_set(error, "site %u: damaged list of ranks", number);
	if (!means_ok(t, &s->means))
		return error_set(error, "site %u: damaged times of ranks", number);
	for (uint32_t i = 0; i < s->column_count; i++)
		for (uint32_t k = 0; k < s->columns[i].count; k++)
			if (!group_ok(t, &s->columns[i].groups[k], schema_reference(trace_schema(t, s), i), news))
				return error_set(error, "site %u, column %u, group %u: damaged", number, i, k);
	for (uint32_t i = 0; i < s->edge_count; i++)
		if (s->edges[i].to >= t->site_count)
			return error_set(error, "site %u: edge to site %u, which does not exist", number,
			                 s->edges[i].to);
	for (uint32_t i = 0; i < s->edge_count; i++)
		if (s->edges[i].classes && !classes_ok(t, s->edges[i].classes, news))
			return error_set(error, "site %u: damaged classes of computations before site %u", number,
			                 s->edges[i].to);
	return 0;
}

static int sites_check(const struct trace *t, const uint64_t *news, struct error *error)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site room;
		const struct trace_site *s = packed_look(t, i, &room);
		int rv = s ? site_check(t, s, i, news, error) : error_set(error, "no memory");
		if (s)
			packed_leave(t, &room);
		if (rv != 0)
			return rv;
	}
	for (uint32_t i = 0; i < t->object_count; i++)
		if (site_check(t, &t->objects[i], i, news, error) != 0)
			return -1;
	return 0;
}

/* What is known of each rank. */
static bool ranks_ok(const struct trace *t)
{
	return !(!map_ok(t, &t->events, REFERENCE_NONE) || !map_ok(t, &t->first, REFERENCE_SITE) ||
	         !map_ok(t, &t->host, REFERENCE_STRING) || !map_ok(t, &t->in_flight, REFERENCE_SITE) ||
	         !map_ok(t, &t->host_number, REFERENCE_NONE) || has_constants(&t->host_number) ||
	         !map_ok(t, &t->cpus, REFERENCE_STRING) || has_constants(&t->cpus) ||
	         !map_ok(t, &t->first_cpu, REFERENCE_NONE) || has_constants(&t->first_cpu) ||
	         !map_ok(t, &t->before, REFERENCE_NONE) || has_constants(&t->before) ||
	         !map_ok(t, &t->queued, REFERENCE_NONE) || has_constants(&t->queued) ||
	         !map_ok(t, &t->topology, REFERENCE_STRING) || has_constants(&t->topology) ||
	         !map_ok(t, &t->lost, REFERENCE_NONE) || has_constants(&t->events) || has_constants(&t->host) ||
	         has_constants(&t->lost) || !totals_ok(t));
}

int trace_check(const struct trace *t, struct error *error)
{
	int rv = -1;
	uint64_t *news = budget_calloc(t->patterns.count + 1, sizeof *news);
	if (!news)
		return error_set(error, "no memory");
	for (uint32_t i = 0; i < t->patterns.count; i++) {
		struct pattern p;
		bool bad = pattern_parse(&p, t->patterns.items[i].bytes, t->patterns.items[i].size) != 0 ||
		           !pattern_whole(&p);
		if (!bad)
			news[i] = pattern_news(&p);
		pattern_free(&p);
		if (bad) {
			error_set(error, "pattern %u: damaged", i);
			goto done;
		}
	}
	for (uint32_t i = 0; i < t->vector_pool.count; i++) {
		size_t n = t->vector_pool.items[i].size / sizeof(int64_t);
		for (size_t k = 0; k < n; k++) {
			int64_t v;
			memcpy(&v, t->vector_pool.items[i].bytes + k * sizeof v, sizeof v);
			if (!value_ok(t, v, REFERENCE_NONE)) {
				error_set(error, "vector %u: damaged", i);
				goto done;
			}
		}
	}
	for (uint32_t i = 0; i < t->module_count; i++)
		if (t->modules[i].name >= t->strings.count || t->modules[i].build_id >= t->strings.count) {
			error_set(error, "module %u: damaged", i);
			goto done;
		}
	for (uint32_t i = 1; i < t->node_count; i++)
		if (t->nodes[i].parent >= i ||
		    (t->nodes[i].module >= t->module_count && t->nodes[i].module != UINT32_MAX)) {
			error_set(error, "call path node %u: damaged", i);
			goto done;
		}
	if (sites_check(t, news, error) != 0)
		goto done;
	if (!ranks_ok(t)) {
		error_set(error, "list of ranks: damaged");
		goto done;
	}
	for (uint32_t i = 0; i < t->away_count; i++)
		if (t->away[i].from >= t->site_count || t->away[i].to >= t->site_count) {
			error_set(error, "time off the processor: damaged");
			goto done;
		}
	for (uint32_t i = 0; i < t->unended_count; i++)
		if (!passed_ok(t, &t->unended[i])) {
			error_set(error, "arguments of a call that did not end: damaged");
			goto done;
		}
	rv = 0;
done:
	budget_free(news);
	return rv;
}
