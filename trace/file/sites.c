/* SPDX-License-Identifier: BSD-3-Clause
 * sites - the chunk with the sites of a trace
 */
#include "trace/file/sites.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/file/derived.h"
#include "trace/file/nodes.h"
#include "trace/model/pieces.h"
#include "trace/file/roster.h"

/* A group without order is told from one with a pattern by a number that no pattern has. */
static void put_lossy(struct writer *w, const struct trace_lossy *l, enum reference reference)
{
	writer_uint(w, l->why);
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

static int get_lossy(struct reader *r, struct trace_lossy *l, enum reference reference)
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
#define MAP_ARRAY 5

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

static void put_stretch(struct writer *w, struct map_table *maps, const struct trace_stretch *s, struct derivations *d,
                        enum reference reference)
{
	if (!s->vector && reference == REFERENCE_VECTOR && d->vectors) {
		struct rankmap numbered;
		w->failed |= rankmap_translate(&numbered, &s->start, stored_number, d) != 0;
		map_put(w, maps, &numbered);
		rankmap_free(&numbered);
		return;
	}
	if (!s->vector) {
		map_put(w, maps, &s->start);
		if (s->count > 1)
			map_put(w, maps, &s->stride);
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
		map_put(w, maps, m);
		writer_uint(w, (uint64_t)(count - 1) << 1 | (count > 1 && stride));
		if (count > 1 && stride)
			writer_int(w, stride);
		k += count;
	}
}

/* Reads an array after its mark. */
static int get_array(struct reader *r, const struct map_table *maps, struct trace_stretch *s,
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
		if (map_get(r, maps, &s->elements[s->width - 1], ranks, false) != 0)
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

static int get_stretch(struct reader *r, const struct map_table *maps, struct trace_stretch *s,
                       const struct rankmap *ranks, enum reference reference)
{
	struct reader peek = *r;
	if (reference == REFERENCE_VECTOR && s->count == 1 && reader_uint(&peek) == MAP_ARRAY) {
		*r = peek;
		return get_array(r, maps, s, ranks);
	}
	if (map_get(r, maps, &s->start, ranks, reference != REFERENCE_NONE) != 0)
		return -1;
	return s->count > 1 ? map_get(r, maps, &s->stride, ranks, false) : 0;
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

struct putting {
	struct map_table *maps;
	const struct trace *trace;
	struct derivations *derivations;
	uint32_t next; /* of them */
	struct roster_maps roster_maps;
	bool whole;    /* nothing can be added to the trace: in the form of version 1.4 */
	bool *rosters; /* is there one? */
};

/* A group of a column that is written. */
struct placed_group {
	uint32_t number;
	uint64_t size;                    /* ranks */
	const struct derivation *derived; /* NULL: it is not */
};

static uint64_t mark_roster(const struct trace *t)
{
	return t->patterns.count + UINT64_C(3);
}

static void put_roster(struct writer *w, struct putting *p, const struct roster *r, const struct rankmap *domain)
{
	map_put_ranks(w, p->maps, &r->ranks, domain);
	writer_uint(w, mark_roster(p->trace));
	writer_uint(w, r->vector ? r->width : 0);
	for (uint32_t k = 0; k < r->width; k++) {
		writer_uint(w, r->from[k].base);
		if (r->from[k].base == ROSTER_MAP)
			map_put_diagram(w, p->maps, &r->from[k].map);
	}
	writer_uint(w, r->count);
	for (uint32_t i = 0; i < r->count; i++)
		map_put_ranks(w, p->maps, &r->items[i].ranks, &r->ranks);
	for (uint32_t k = 0; k < r->width; k++)
		for (uint32_t i = 0; i < r->count; i++)
			writer_int(w, r->items[i].offset[k]);
}

static bool is_derived(const struct putting *p, uint32_t next, const struct trace_column *c, uint32_t group)
{
	const struct derivation *d = next < p->derivations->count ? &p->derivations->list[next] : NULL;
	return d && c == &(d->object ? p->trace->objects : p->trace->sites)[d->site].columns[d->column] &&
	       d->group == group;
}

/* What was written for the group before: where the stretches of its dictionary are in the writer. */
struct dictionary {
	const struct trace_group *group; /* NULL: none, or a long one */
	struct {
		size_t at, size;
	} stretch[FAMILY_VALUES];
};

/* Do the bytes of a stretch of the group before say what this one is, too? A list that goes on, or begins earlier, for
 * some ranks is then the same bytes, which is what the compression of the chunk is good at. */
static bool put_again(struct writer *w, const struct putting *p, const struct dictionary *d, uint64_t i,
                      const struct trace_stretch *s, enum reference reference)
{
	if (!d->group || i >= d->group->count || d->group->dict[i].count != s->count ||
	    d->group->dict[i].vector != s->vector || w->failed)
		return false;
	size_t size = d->stretch[i].size;
	uint8_t *bytes = budget_malloc(size);
	struct trace_group read = {.dict = budget_calloc(1, sizeof *read.dict), .count = 1};
	bool same = bytes && read.dict;
	if (same) {
		memcpy(bytes, w->data + d->stretch[i].at, size);
		struct reader r = reader_of(bytes, size);
		read.dict->count = s->count;
		same = get_stretch(&r, p->maps, read.dict, &s->start, reference) == 0 && r.at == r.end &&
		       trace_stretch_equal(read.dict, s);
	}
	if (same)
		writer_bytes(w, bytes, size);
	if (read.dict)
		trace_group_free(&read);
	budget_free(bytes);
	return same;
}

static void put_dictionary(struct writer *w, struct putting *p, const struct trace_group *g, struct dictionary *before,
                           enum reference reference)
{
	struct dictionary d = {.group = p->whole && g->count <= FAMILY_VALUES &&
	                                                (reference != REFERENCE_VECTOR || g->dict[0].vector)
	                                        ? g
	                                        : NULL};
	/* the same list from its beginning on, or to its end */
	uint64_t shift = before->group ? (uint64_t)before->group->count - g->count : 0;
	for (uint32_t i = 0; i < g->count; i++) {
		if (g->pattern)
			writer_uint(w, g->dict[i].count - 1);
		size_t at = w->size;
		if (!d.group || !(put_again(w, p, before, i, &g->dict[i], reference) ||
		                  (shift && put_again(w, p, before, i + shift, &g->dict[i], reference))))
			put_stretch(w, p->maps, &g->dict[i], p->derivations, reference);
		if (d.group) {
			d.stretch[i].at = at;
			d.stretch[i].size = w->size - at;
		}
	}
	*before = d;
}

/* Larger groups first, then in the order that they have. A reader sorts them. */
static int by_size(const void *a, const void *b)
{
	const struct placed_group *x = a, *y = b;
	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void put_derived(struct writer *w, struct putting *p, const struct derivation *d, bool all)
{
	writer_uint(w, mark_derived(p->trace));
	derived_put(w, d, all, &(d->object ? p->trace->objects : p->trace->sites)[d->site].columns[d->from]);
}

/* The groups of a column; those of which take[group] is set as the roster. */
static void put_groups(struct writer *w, struct putting *p, const struct trace_column *c, const struct rankmap *domain,
                       enum reference reference, const struct roster *roster, const bool *take)
{
	uint64_t count = c->count;
	bool done = false;
	struct dictionary before = {.group = NULL};
	struct placed_group *order = budget_calloc(c->count + UINT64_C(1), sizeof *order);
	for (uint32_t g = 0; order && g < c->count; g++) {
		bool out = roster && take[g] && done;
		count -= out;
		done |= roster && take[g];
		order[g] = (struct placed_group){.number = g,
		                                 .size = p->whole ? rankmap_size(trace_group_ranks(&c->groups[g])) : 0};
		if (is_derived(p, p->next, c, g))
			order[g].derived = &p->derivations->list[p->next++];
	}
	if (!order) {
		w->failed = true;
		return;
	}
	qsort(order, c->count, sizeof *order, by_size);
	writer_uint(w, count + 1);
	done = false;
	for (uint32_t i = 0; i < c->count; i++) {
		const struct trace_group *group = &c->groups[order[i].number];
		if (roster && take[order[i].number]) {
			if (!done)
				put_roster(w, p, roster, domain);
			done = true;
			continue;
		}
		map_put_ranks(w, p->maps, trace_group_ranks(group), domain);
		if (group->lossy) {
			writer_uint(w, mark_lossy(p->trace));
			put_lossy(w, group->lossy, reference);
			continue;
		}
		if (order[i].derived) {
			put_derived(w, p, order[i].derived, false);
			continue;
		}
		writer_uint(w, group->pattern);
		if (group->pattern)
			writer_uint(w, group->count);
		put_dictionary(w, p, group, &before, reference);
	}
	budget_free(order);
}

/* How many bytes the groups take; everything is as before. */
static size_t size_of_groups(struct putting *p, const struct trace_column *c, const struct rankmap *domain,
                             enum reference reference, const struct roster *roster, const bool *take)
{
	struct writer w = {0};
	uint32_t nodes = p->maps->loom.count, next = p->next;
	put_groups(&w, p, c, domain, reference, roster, take);
	size_t size = w.size + nodes_bytes(&p->maps->loom, nodes);
	rank_loom_rollback(&p->maps->loom, nodes);
	p->next = next;
	writer_free(&w);
	return size;
}

static void put_column(struct writer *w, struct putting *p, const struct trace_column *c, const struct rankmap *domain,
                       enum reference reference)
{
	int64_t value;
	/* by far the most common: one value, the same for all visits of all ranks */
	if (c->count == 1 && c->groups[0].pattern == 0 && !c->groups[0].lossy &&
	    rankmap_same_ranks(trace_group_ranks(&c->groups[0]), domain) && !c->groups[0].dict[0].vector &&
	    rankmap_constant(&c->groups[0].dict[0].start, &value)) {
		writer_uint(w, 0);
		value_put(w, value);
		return;
	}
	if (p->whole && is_derived(p, p->next, c, 0) && derived_all(p->derivations, p->next, p->trace, c)) {
		writer_uint(w, 2);
		map_put_ranks(w, p->maps, domain, domain);
		put_derived(w, p, &p->derivations->list[p->next], true);
		p->next += c->count;
		return;
	}
	struct roster roster = {.count = 0};
	bool *take = NULL;
	if (p->whole && c->count > 1 && (reference == REFERENCE_NONE || reference == REFERENCE_VECTOR)) {
		take = budget_calloc(c->count, sizeof *take);
		uint32_t next = p->next;
		for (uint32_t g = 0; take && g < c->count; g++) {
			bool derived = is_derived(p, next, c, g);
			take[g] = !derived;
			next += derived;
		}
		int found = take ? roster_find(&roster, p->trace, c, &p->roster_maps, take) : -1;
		w->failed |= found < 0;
		if (found <= 0 || size_of_groups(p, c, domain, reference, &roster, take) >=
		                          size_of_groups(p, c, domain, reference, NULL, NULL))
			roster_free(&roster);
	}
	if (roster.count > 0)
		*p->rosters = true;
	put_groups(w, p, c, domain, reference, roster.count > 0 ? &roster : NULL, take);
	roster_free(&roster);
	budget_free(take);
}

/* Adds the groups that a roster of these ranks stands for. */
static int get_roster(struct reader *r, const struct map_table *maps, const struct trace *t, struct trace_column *c,
                      const struct rankmap *ranks, bool vectors)
{
	int rv = -1;
	struct roster roster = {.count = 0};
	uint64_t width = reader_uint(r);
	roster.vector = width > 0;
	if (r->bad || width > ROSTER_WIDTH || roster.vector != vectors || rankmap_copy(&roster.ranks, ranks) != 0)
		return -1;
	roster.width = width ? (uint32_t)width : 1;
	for (uint32_t k = 0; k < roster.width; k++) {
		uint64_t base = reader_uint(r);
		if (r->bad || base >= ROSTER_BASES ||
		    (base == ROSTER_MAP && map_get_diagram(r, maps, &roster.from[k].map) != 0))
			goto done;
		roster.from[k].base = (enum roster_base)base;
	}
	uint64_t count = reader_uint(r);
	if (r->bad || count == 0 || count > ROSTER_ITEMS ||
	    !(roster.items = budget_calloc(count, sizeof *roster.items)))
		goto done;
	while (roster.count < count) {
		struct rankmap *set = &roster.items[roster.count++].ranks;
		if (map_get_ranks(r, maps, set, ranks) != 0 || set->node_count > ROSTER_NODES)
			goto done;
	}
	for (uint32_t k = 0; k < roster.width; k++)
		for (uint32_t i = 0; i < count; i++)
			roster.items[i].offset[k] = reader_int(r);
	rv = r->bad || roster_expand(&roster, t, c) != 0 ? -1 : 0;
done:
	roster_free(&roster);
	return rv;
}

/* What is read, and for whom. */
struct getting {
	struct reader *reader;
	const struct map_table *maps;
	struct trace *trace;
	trace_needs *needs;
	bool *left_out;
	struct derived *late; /* what follows from columns that may stand behind it, in the site at hand */
	uint32_t late_count;
};

static int get_derived(struct getting *x, struct trace_site *s, uint32_t column, const struct rankmap *ranks)
{
	struct derived d, *late;
	int rv = derived_get(x->reader, &d, x->trace, s, column, ranks);
	if (rv == 0 && d.kind == DERIVE_GRID) {
		late = budget_realloc(x->late, (x->late_count + UINT64_C(1)) * sizeof *late);
		if (late) {
			x->late = late;
			x->late[x->late_count++] = d;
			return 0;
		}
		rv = -1;
	}
	for (uint32_t i = 0; i < x->late_count; i++)
		if (x->late[i].column == d.from)
			rv = -1;
	if (rv == 0)
		rv = derived_make(&d, x->trace, s, x->needs, x->left_out);
	derived_free(&d);
	return rv;
}

/* Makes what is late. */
static int get_late(struct getting *x, struct trace_site *s)
{
	int rv = 0;
	for (uint32_t i = 0; i < x->late_count; i++) {
		if (rv == 0)
			rv = derived_make(&x->late[i], x->trace, s, x->needs, x->left_out);
		trace_sort_groups(&s->columns[x->late[i].column]);
		derived_free(&x->late[i]);
	}
	x->late_count = 0;
	return rv;
}

static int get_group(const struct getting *x, struct trace_group *group, const struct rankmap *ranks,
                     enum reference reference)
{
	struct reader *r = x->reader;
	struct trace *t = x->trace;
	uint64_t pattern = reader_uint(r);
	if (pattern == mark_lossy(t))
		return trace_group_lossy(group, ranks) == 0 ? get_lossy(r, group->lossy, reference) : -1;
	uint64_t count = pattern ? reader_count(r) : 1;
	if (r->bad || pattern > UINT32_MAX || count == 0 || count > UINT32_MAX)
		return -1;
	group->pattern = (uint32_t)pattern;
	group->dict = budget_calloc(count, sizeof *group->dict);
	if (!group->dict)
		return -1;
	while (group->count < count) {
		struct trace_stretch *s = &group->dict[group->count++];
		s->count = pattern ? reader_uint(r) : 0;
		if (s->count >= INT64_MAX)
			return -1;
		s->count++;
		if (get_stretch(r, x->maps, s, ranks, reference) != 0)
			return -1;
	}
	return 0;
}

static int get_column(struct getting *x, struct trace_site *s, uint32_t column)
{
	struct reader *r = x->reader;
	const struct map_table *maps = x->maps;
	struct trace *t = x->trace;
	struct trace_column *c = &s->columns[column];
	const struct rankmap *domain = &s->visits;
	enum reference reference = schema_reference(trace_schema(t, s), column);
	size_t groups = reader_count(r);
	if (r->bad)
		return -1;
	for (size_t g = 0; g < (groups ? groups - 1 : 1); g++) {
		int rv = -1;
		struct trace_group group = {0};
		struct rankmap ranks = {0};
		if (groups == 0) {
			int64_t value = value_get(r);
			group.dict = budget_calloc(1, sizeof *group.dict);
			group.count = group.dict ? 1 : 0;
			if (group.dict) {
				group.dict[0].count = 1;
				rv = rankmap_fill(&group.dict[0].start, domain, value, reference != REFERENCE_NONE);
			}
		} else {
			rv = map_get_ranks(r, maps, &ranks, domain);
			struct reader peek = *r;
			uint64_t mark = rv == 0 ? reader_uint(&peek) : 0;
			bool roster = mark == mark_roster(t) &&
			              (reference == REFERENCE_NONE || reference == REFERENCE_VECTOR);
			if (rv == 0 && (roster || mark == mark_derived(t))) { /* groups of their own */
				*r = peek;
				rv = roster ? get_roster(r, maps, t, c, &ranks, reference == REFERENCE_VECTOR)
				            : get_derived(x, s, column, &ranks);
				rankmap_free(&ranks);
				if (rv != 0)
					return -1;
				continue;
			}
			if (rv == 0)
				rv = get_group(x, &group, &ranks, reference);
		}
		rankmap_free(&ranks);
		if (rv != 0) {
			trace_group_free(&group);
			return -1;
		}
		if (trace_add_group_take(c, &group) != 0)
			return -1;
	}
	trace_sort_groups(c);
	return r->bad ? -1 : 0;
}

void sites_put(struct writer *w, struct map_table *maps, const struct trace *t, struct derivations *d, bool whole,
               bool *rosters)
{
	struct putting p = {.maps = maps, .trace = t, .derivations = d, .rosters = rosters, .whole = whole};
	map_table_level(maps, t->events.level, p.whole);
	if (p.whole)
		roster_maps_find(&p.roster_maps, t);
	writer_uint(w, t->function_count);
	for (uint32_t i = 0; i < t->function_count; i++)
		writer_uint(w, t->functions[i].string);
	for (int object = 0; object < 2; object++) {
		uint32_t n = object ? t->object_count : t->site_count;
		writer_uint(w, n);
		for (uint32_t i = 0; i < n; i++) {
			const struct trace_site *s = object ? &t->objects[i] : &t->sites[i];
			writer_uint(w, s->function);
			writer_uint(w, s->node);
			map_put_ranks(w, maps, &s->visits, &t->events);
			map_put(w, maps, &s->visits);
			for (uint32_t k = 0; k < s->column_count; k++)
				put_column(w, &p, &s->columns[k], &s->visits, schema_reference(trace_schema(t, s), k));
		}
	}
}

int sites_get(struct reader *r, struct map_table *maps, struct trace *t, trace_needs *needs, bool *left_out)
{
	int rv = 0;
	struct getting x = {.reader = r, .maps = maps, .trace = t, .needs = needs, .left_out = left_out};
	map_table_level(maps, t->events.level, false);
	for (size_t n = reader_count(r); n-- > 0;) {
		uint64_t string = reader_uint(r);
		uint32_t number = t->function_count;
		if (r->bad || string >= t->strings.count || trace_function(t, (uint32_t)string) != number)
			return -1;
	}
	for (int object = 0; rv == 0 && object < 2; object++) {
		for (size_t n = reader_count(r); rv == 0 && n-- > 0;) {
			uint64_t function = reader_uint(r), node = reader_uint(r);
			uint32_t number = object ? t->object_count : t->site_count;
			if (r->bad || function >= t->function_count || node >= t->node_count ||
			    trace_site(t, (uint32_t)function, (uint32_t)node, object) != number) {
				rv = -1;
				break;
			}
			struct trace_site *s = object ? &t->objects[number] : &t->sites[number];
			struct rankmap ranks = {0};
			rv = map_get_ranks(r, maps, &ranks, &t->events);
			if (rv == 0)
				rv = map_get(r, maps, &s->visits, &ranks, false);
			rankmap_free(&ranks);
			for (uint32_t k = 0; rv == 0 && k < s->column_count; k++)
				rv = get_column(&x, s, k);
			if (rv == 0)
				rv = get_late(&x, s);
		}
	}
	for (uint32_t i = 0; i < x.late_count; i++)
		derived_free(&x.late[i]);
	budget_free(x.late);
	return rv != 0 || r->bad || r->at != r->end ? -1 : 0;
}
