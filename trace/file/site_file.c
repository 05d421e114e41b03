/* SPDX-License-Identifier: BSD-3-Clause
 * site_file - the stored form of sites: the chunk SITE
 *
 * A column is a list of groups of ranks. By far the most common column has one value, the same in all ranks and visits,
 * and takes two bytes: 0, and the value. A successor that was site 1 two times and then site 2, in all ranks:
 *
 *     02             one group
 *     00             of all ranks of the site
 *     01 02          pattern 0 (new, value 0 again, new), two stretches:
 *     00 00 04       one value, the same in all ranks, site 1
 *     00 00 08       one value, the same in all ranks, site 2
 *
 * Invariant: groups have no rank in common, and are in the order of their first ranks; a group that follows from
 * another column follows from one that was written before.
 */
#include "trace/file/site_file.h"

#include <assert.h>

#include "trace/base/budget.h"
#include "trace/file/rankmap_file.h"
#include "trace/model/packed.h"
#include "trace/model/value.h"

/* Beside the bits of enum trace_why: the first values are in order, and stand behind the tallies. */
#define WHY_PREFIX (WHY_ALL + 1)

/* A group without order is told from one with a pattern by a number that no pattern has. */
static void put_lossy(struct writer *w, const struct trace_lossy *l, enum reference reference)
{
	writer_uint(w, l->why | (l->prefix.count ? WHY_PREFIX : 0));
	writer_uint(w, l->since);
	if (reference == REFERENCE_SITE) {
		writer_uint(w, l->next_count);
		for (uint32_t i = 0; i < l->next_count; i++) {
			writer_uint(w, l->next[i].to);
			tally_put(w, &l->next[i].runs);
		}
		return;
	}
	tally_put(w, &l->values);
	if (reference == REFERENCE_VECTOR)
		tally_put(w, &l->elements);
}

static int get_tallies(struct reader *r, struct trace_lossy *l, enum reference reference)
{
	l->why = (uint32_t)reader_uint(r);
	l->since = reader_uint(r);
	if (reference != REFERENCE_SITE)
		return tally_get(r, &l->values) != 0 ||
		                       (reference == REFERENCE_VECTOR && tally_get(r, &l->elements) != 0)
		               ? -1
		               : 0;
	for (size_t n = reader_count(r); n-- > 0;) {
		uint64_t to = reader_uint(r);
		uint32_t before = l->next_count;
		struct tally *runs = r->bad || to >= UINT32_MAX ? NULL : trace_next(l, (uint32_t)to);
		if (!runs || l->next_count == before || tally_get(r, runs) != 0)
			return -1;
	}
	return r->bad ? -1 : 0;
}

/* Where a map would be: arrays, as a map for each element. */
#define MAP_ARRAY RANKMAP_FILE_FORMS

/* Is b what a is, with plain values that are all `stride` more? */
static bool map_follows(const struct rankmap *a, const struct rankmap *b, int64_t stride)
{
	struct rankmap moved = *b;
	moved.base = (int64_t)((uint64_t)b->base - (uint64_t)stride);
	return rankmap_equal(a, &moved);
}

/* A vector's number in the file. */
static int64_t stored_number(void *context, int64_t v)
{
	const struct derivations *d = context;
	return value_is_constant(v) ? v : d->vectors[v];
}

static void put_stretch(struct writer *w, struct diagram_file *diagrams, const struct trace_stretch *s,
                        struct derivations *d, enum reference reference)
{
	if (!s->vector && reference == REFERENCE_VECTOR && d->vectors) {
		struct rankmap numbered;
		w->failed |= rankmap_translate(&numbered, &s->start, stored_number, d) != 0;
		rankmap_file_put(w, diagrams, &numbered);
		rankmap_free(&numbered);
		return;
	}
	if (!s->vector) {
		rankmap_file_put(w, diagrams, &s->start);
		if (s->count > 1)
			rankmap_file_put(w, diagrams, &s->stride);
		return;
	}
	writer_uint(w, MAP_ARRAY);
	writer_uint(w, s->width);
	for (uint32_t k = 0; k < s->width;) {
		const struct rankmap *m = &s->elements[k];
		uint32_t count = 1;
		int64_t stride = k + 1 < s->width ? (int64_t)((uint64_t)m[1].base - (uint64_t)m->base) : 0;
		while (k + count < s->width && map_follows(&m[count - 1], &m[count], stride))
			count++;
		rankmap_file_put(w, diagrams, m);
		writer_uint(w, (uint64_t)(count - 1) << 1 | (count > 1 && stride));
		if (count > 1 && stride)
			writer_int(w, stride);
		k += count;
	}
}

/* Reads an array after its mark. */
static int get_array(struct reader *r, const struct diagram_file *diagrams, struct trace_stretch *s,
                     const struct rankmap *ranks)
{
	uint64_t width = reader_uint(r);
	if (r->bad || width > FAMILY_WIDTH || rankmap_fill(&s->start, ranks, 0, false) != 0)
		return -1;
	s->vector = true;
	s->elements = budget_calloc(width + 1, sizeof *s->elements);
	if (!s->elements)
		return -1;
	while (s->width < width) {
		const struct rankmap *m = &s->elements[s->width++];
		if (rankmap_file_get(r, diagrams, &s->elements[s->width - 1], ranks, false) != 0)
			return -1;
		uint64_t more = reader_uint(r), stride = more & 1 ? (uint64_t)reader_int(r) : 0;
		if (r->bad || more >> 1 > width - s->width)
			return -1;
		for (uint64_t i = 1; i <= more >> 1; i++) {
			struct rankmap *next = &s->elements[s->width++];
			if (rankmap_copy(next, m) != 0)
				return -1;
			if (rankmap_has_plain(m))
				next->base = (int64_t)((uint64_t)m->base + stride * i);
		}
	}
	return 0;
}

static int get_stretch(struct reader *r, const struct diagram_file *diagrams, struct trace_stretch *s,
                       const struct rankmap *ranks, enum reference reference)
{
	struct reader peek = *r;
	if (reference == REFERENCE_VECTOR && s->count == 1 && reader_uint(&peek) == MAP_ARRAY) {
		*r = peek;
		return get_array(r, diagrams, s, ranks);
	}
	if (rankmap_file_get(r, diagrams, &s->start, ranks, reference != REFERENCE_NONE) != 0)
		return -1;
	return s->count > 1 ? rankmap_file_get(r, diagrams, &s->stride, ranks, false) : 0;
}

/* Where a pattern's number would be: groups that have none. */
static uint64_t mark_lossy(const struct trace *t)
{
	return t->patterns.count + UINT64_C(1);
}

static uint64_t mark_derived(const struct trace *t)
{
	return t->patterns.count + UINT64_C(2);
}

static uint64_t mark_edits(const struct trace *t)
{
	return t->patterns.count + UINT64_C(3);
}

struct putting {
	bool edits; /* there were some */
	struct diagram_file *diagrams;
	const struct trace *trace;
	struct derivations *derivations;
	uint32_t next; /* of them */
	bool object;   /* what is being written */
	uint32_t site, column;
};

static bool is_derived(const struct putting *p, uint32_t group)
{
	const struct derivation *d = p->next < p->derivations->count ? &p->derivations->list[p->next] : NULL;
	return d && d->object == p->object && d->site == p->site && d->column == p->column && d->group == group;
}

static void put_dictionary(struct writer *w, struct putting *p, const struct trace_group *g, enum reference reference)
{
	for (uint32_t i = 0; i < g->count; i++) {
		if (g->pattern)
			writer_uint(w, g->dict[i].count - 1);
		put_stretch(w, p->diagrams, &g->dict[i], p->derivations, reference);
	}
}

static void put_ordered(struct writer *w, struct putting *p, const struct trace_group *g, enum reference reference)
{
	p->edits |= g->edits;
	writer_uint(w, g->edits ? mark_edits(p->trace) : g->pattern);
	if (g->pattern || g->edits)
		writer_uint(w, g->count);
	put_dictionary(w, p, g, reference);
}

static void put_prefix(struct writer *w, struct putting *p, const struct trace_group *g, enum reference reference)
{
	const struct trace_column *prefix = &g->lossy->prefix;
	if (prefix->count)
		writer_uint(w, prefix->count);
	for (uint32_t i = 0; i < prefix->count; i++) {
		rankmap_file_put_ranks(w, p->diagrams, trace_group_ranks(&prefix->groups[i]), trace_group_ranks(g));
		put_ordered(w, p, &prefix->groups[i], reference);
	}
}

static void put_group(struct writer *w, struct putting *p, const struct trace_column *c, uint32_t number,
                      const struct rankmap *domain, enum reference reference)
{
	const struct trace_group *g = &c->groups[number];
	rankmap_file_put_ranks(w, p->diagrams, trace_group_ranks(g), domain);
	if (g->lossy) {
		writer_uint(w, mark_lossy(p->trace));
		put_lossy(w, g->lossy, reference);
		put_prefix(w, p, g, reference);
	} else if (is_derived(p, number)) {
		writer_uint(w, mark_derived(p->trace));
		derive_put(w, &p->derivations->list[p->next++]);
	} else {
		put_ordered(w, p, g, reference);
	}
}

static void put_column(struct writer *w, struct putting *p, const struct trace_column *c, const struct rankmap *domain,
                       enum reference reference)
{
	int64_t value;
	/* by far the most common: one value, the same for all visits of all ranks */
	if (c->count == 1 && c->groups[0].pattern == 0 && !c->groups[0].lossy && !c->groups[0].edits &&
	    rankmap_same_ranks(trace_group_ranks(&c->groups[0]), domain) && !c->groups[0].dict[0].vector &&
	    rankmap_constant(&c->groups[0].dict[0].start, &value)) {
		writer_uint(w, 0);
		value_put(w, value);
		return;
	}
	writer_uint(w, c->count + UINT64_C(1));
	for (uint32_t g = 0; g < c->count; g++)
		put_group(w, p, c, g, domain, reference);
}

/* What is read, and for whom. */
struct getting {
	struct reader *reader;
	const struct diagram_file *diagrams;
	struct trace *trace;
	trace_needs *needs;
	bool *left_out;
};

static int get_constant(struct reader *r, struct trace_group *g, const struct rankmap *ranks, enum reference reference)
{
	int64_t value = value_get(r);
	g->dict = budget_calloc(1, sizeof *g->dict);
	if (!g->dict)
		return -1;
	g->count = 1;
	g->dict[0].count = 1;
	return rankmap_fill(&g->dict[0].start, ranks, value, reference != REFERENCE_NONE);
}

static int get_dictionary(const struct getting *x, struct trace_group *g, uint64_t count, const struct rankmap *ranks,
                          enum reference reference)
{
	g->dict = budget_calloc(count, sizeof *g->dict);
	if (!g->dict)
		return -1;
	while (g->count < count) {
		struct trace_stretch *s = &g->dict[g->count++];
		s->count = g->pattern ? reader_uint(x->reader) : 0;
		if (s->count >= INT64_MAX)
			return -1;
		s->count++;
		if (get_stretch(x->reader, x->diagrams, s, ranks, reference) != 0)
			return -1;
	}
	return 0;
}

/* What stands behind the pattern's number. */
static int get_ordered(const struct getting *x, uint64_t pattern, const struct rankmap *ranks, enum reference reference,
                       struct trace_group *g)
{
	uint64_t count = pattern ? reader_count(x->reader) : 1;
	g->edits = pattern == mark_edits(x->trace);
	if (x->reader->bad || pattern > UINT32_MAX || count == 0 || count > UINT32_MAX)
		return -1;
	g->pattern = g->edits ? 0 : (uint32_t)pattern;
	return get_dictionary(x, g, count, ranks, reference);
}

/* A group of the first values, which have a pattern. */
static int get_prefix_group(const struct getting *x, const struct rankmap *domain, enum reference reference,
                            struct trace_column *prefix)
{
	struct rankmap ranks = {0};
	struct trace_group g = {0};
	int rv = rankmap_file_get_ranks(x->reader, x->diagrams, &ranks, domain);
	uint64_t pattern = reader_uint(x->reader);
	if (rv == 0)
		rv = x->reader->bad || rankmap_empty(&ranks) || pattern == 0 || pattern == mark_lossy(x->trace) ||
		                     pattern == mark_derived(x->trace)
		             ? -1
		             : get_ordered(x, pattern, &ranks, reference, &g);
	if (rv == 0 && rankmap_empty(trace_group_ranks(&g)))
		rv = -1;
	rankmap_free(&ranks);
	if (rv != 0)
		trace_group_free(&g);
	return rv == 0 ? trace_add_group_take(prefix, &g) : -1;
}

static int get_lossy(const struct getting *x, const struct rankmap *ranks, enum reference reference,
                     struct trace_lossy *l)
{
	if (get_tallies(x->reader, l, reference) != 0)
		return -1;
	if (!(l->why & WHY_PREFIX))
		return 0;
	l->why &= ~(uint32_t)WHY_PREFIX;
	for (size_t n = reader_count(x->reader); n-- > 0;)
		if (get_prefix_group(x, ranks, reference, &l->prefix) != 0)
			return -1;
	trace_sort_groups(&l->prefix);
	return l->prefix.count ? 0 : -1;
}

/* A group that follows from another column of the site, or, if nobody needs it, one without order. */
static int get_derived(const struct getting *x, struct trace_site *s, uint32_t column, const struct rankmap *ranks,
                       struct trace_group *g)
{
	const struct schema *schema = trace_schema(x->trace, s);
	struct derivation d = {.column = column};
	if (derive_get(x->reader, &d, schema, s) != 0)
		return -1;
	const struct trace_group *from = &s->columns[d.from].groups[d.from_group];
	if (x->needs && (!x->needs(schema, column) || from->lossy)) {
		*x->left_out = true;
		return trace_group_lossy(g, ranks);
	}
	return derive_make(x->trace, from, schema_reference(schema, column), d.kind, ranks, g);
}

static int get_group(const struct getting *x, struct trace_site *s, uint32_t column, const struct rankmap *ranks,
                     struct trace_group *g)
{
	struct reader *r = x->reader;
	const struct trace *t = x->trace;
	enum reference reference = schema_reference(trace_schema(t, s), column);
	uint64_t pattern = reader_uint(r);
	if (r->bad)
		return -1;
	if (pattern == mark_lossy(t))
		return trace_group_lossy(g, ranks) == 0 ? get_lossy(x, ranks, reference, g->lossy) : -1;
	if (pattern == mark_derived(t))
		return get_derived(x, s, column, ranks, g);
	return get_ordered(x, pattern, ranks, reference, g);
}

static int get_column(const struct getting *x, struct trace_site *s, uint32_t column)
{
	struct reader *r = x->reader;
	struct trace_column *c = &s->columns[column];
	uint64_t groups = reader_uint(r);
	if (r->bad || groups > (uint64_t)(r->end - r->at) + 1) /* a group takes a byte; groups are one less */
		return -1;
	for (uint64_t i = 0; i < (groups ? groups - 1 : 1); i++) {
		struct trace_group g = {0};
		struct rankmap ranks = {0};
		int rv = groups == 0
		                 ? get_constant(r, &g, &s->visits, schema_reference(trace_schema(x->trace, s), column))
		                 : rankmap_file_get_ranks(r, x->diagrams, &ranks, &s->visits);
		if (rv == 0 && groups > 0)
			rv = rankmap_empty(&ranks) ? -1 : get_group(x, s, column, &ranks, &g);
		if (rv == 0 && rankmap_empty(trace_group_ranks(&g)))
			rv = -1; /* a group is somebody's, also by its first stretch */
		rankmap_free(&ranks);
		if (rv != 0)
			trace_group_free(&g);
		if (rv != 0 || trace_add_group_take(c, &g) != 0)
			return -1;
	}
	trace_sort_groups(c);
	return r->bad ? -1 : 0;
}

static void put_site(struct writer *w, struct putting *p, const struct trace_site *s)
{
	writer_uint(w, s->function);
	writer_uint(w, s->node);
	rankmap_file_put_ranks(w, p->diagrams, &s->visits, &p->trace->events);
	rankmap_file_put(w, p->diagrams, &s->visits);
	for (p->column = 0; p->column < s->column_count; p->column++)
		put_column(w, p, &s->columns[p->column], &s->visits,
		           schema_reference(trace_schema(p->trace, s), p->column));
}

bool sites_put(struct writer *w, struct diagram_file *diagrams, const struct trace *t, struct derivations *d)
{
	struct putting p = {.diagrams = diagrams, .trace = t, .derivations = d};
	writer_uint(w, t->function_count);
	for (uint32_t i = 0; i < t->function_count; i++)
		writer_uint(w, t->functions[i].string);
	writer_uint(w, t->site_count);
	for (p.site = 0; p.site < t->site_count; p.site++) {
		struct trace_site room;
		const struct trace_site *s = packed_look_columns(t, p.site, &room);
		w->failed |= !s;
		if (!s)
			return false;
		put_site(w, &p, s);
		packed_leave(t, &room);
	}
	p.object = true;
	writer_uint(w, t->object_count);
	for (p.site = 0; p.site < t->object_count; p.site++)
		put_site(w, &p, &t->objects[p.site]);
	assert(w->failed || p.next == d->count);
	return p.edits;
}

/* What a site has, which is new. */
static int get_columns(const struct getting *x, struct trace_site *s)
{
	struct rankmap ranks = {0};
	int rv = rankmap_file_get_ranks(x->reader, x->diagrams, &ranks, &x->trace->events);
	if (rv == 0)
		rv = rankmap_file_get(x->reader, x->diagrams, &s->visits, &ranks, false);
	rankmap_free(&ranks);
	for (uint32_t k = 0; rv == 0 && k < s->column_count; k++)
		rv = get_column(x, s, k);
	return rv;
}

static int get_site(const struct getting *x, bool object)
{
	struct reader *r = x->reader;
	struct trace *t = x->trace;
	uint64_t function = reader_uint(r), node = reader_uint(r);
	uint32_t number = object ? t->object_count : t->site_count;
	if (r->bad || function >= t->function_count || node >= t->node_count ||
	    trace_site(t, (uint32_t)function, (uint32_t)node, object) != number)
		return -1;
	if (object)
		return get_columns(x, &t->objects[number]);
	struct trace_site room, *s = packed_open(t, number, &room);
	if (!s)
		return -1;
	int rv = get_columns(x, s);
	return packed_close(t, number, s) != 0 ? -1 : rv;
}

int sites_get(struct reader *r, const struct diagram_file *diagrams, struct trace *t, trace_needs *needs,
              bool *left_out)
{
	struct getting x = {.reader = r, .diagrams = diagrams, .trace = t, .needs = needs, .left_out = left_out};
	for (size_t n = reader_count(r); n-- > 0;) {
		uint64_t string = reader_uint(r);
		uint32_t number = t->function_count;
		if (r->bad || string >= t->strings.count || trace_function(t, (uint32_t)string) != number)
			return -1;
	}
	for (int object = 0; object < 2; object++)
		for (size_t n = reader_count(r); n-- > 0;)
			if (get_site(&x, object) != 0)
				return -1;
	return r->bad || r->at != r->end ? -1 : 0;
}
