/* SPDX-License-Identifier: BSD-3-Clause
 * extract - the trace of one rank, from its arena
 *
 * The arena may be what a killed process left, or what a user made up: every number and reference in it is checked
 * before it is followed. Cost is linear in the arena's used size, not in the number of events.
 */
#include <string.h>

#include "trace/base/budget.h"
#include "trace/file/counts.h"
#include "trace/model/host.h"
#include "trace/record/image.h"
#include "trace/record/lossy.h"
#include "trace/record/record.h"
#include "trace/file/timing.h"
#include "trace/model/trace.h"

struct extraction {
	struct arena *arena;
	struct record *record;
	struct columns columns;
	struct trace *trace;
	uint32_t rank; /* the stream (stream.h) */
	double ns_per_tick;
	/* numbers in the arena -> numbers in the trace */
	uint32_t *strings, *vectors, *modules, *nodes, *functions;
	/* refs of sites are in record.sites, whose index is site.id */
};

static bool table_valid(const struct arena *a, const struct table *t, size_t size)
{
	return t->count == 0 || arena_valid(a, t->at, (uint64_t)t->count * size);
}

/* The element's reference, if `n` bytes behind it are valid; else 0. */
static ref table_ref(const struct extraction *x, const struct table *t, uint32_t i, uint64_t n)
{
	ref at = *(const ref *)table_at(x->arena, t, i, sizeof(ref));
	return arena_valid(x->arena, at, n) ? at : 0;
}

static const struct record_string *string_at(const struct extraction *x, uint32_t i)
{
	return arena_at(x->arena, struct record_string,
	                *(const ref *)table_at(x->arena, &x->record->strings, i, sizeof(ref)));
}

/* The number in the trace of a string, which comes to the pool when something refers to it. UINT32_MAX: no memory. */
static uint32_t string_translate(const struct extraction *x, uint32_t i)
{
	if (x->strings[i] == UINT32_MAX) {
		const struct record_string *s = string_at(x, i);
		x->strings[i] = pool_intern(&x->trace->strings, s->bytes, s->length);
	}
	return x->strings[i];
}

static int extract_strings(struct extraction *x)
{
	const struct table *t = &x->record->strings;
	for (uint32_t i = 0; i < t->count; i++) {
		ref at = table_ref(x, t, i, sizeof(struct record_string));
		const struct record_string *s = arena_at(x->arena, struct record_string, at);
		if (!at || !arena_valid(x->arena, at, sizeof *s + s->length))
			return -1;
		x->strings[i] = UINT32_MAX;
	}
	return 0;
}

static bool vector_translate(const struct extraction *x, int64_t *number);

/* Translates a value of a column. */
static bool value_translate(const struct extraction *x, int64_t *v, enum reference reference)
{
	if (value_is_constant(*v)) {
		uint64_t i = (uint64_t)*v - (uint64_t)VALUE_CONSTANT;
		if (i >= x->record->strings.count)
			return false;
		if (string_translate(x, (uint32_t)i) == UINT32_MAX)
			return false;
		*v = VALUE_CONSTANT + x->strings[i];
		return true;
	}
	switch (reference) {
	case REFERENCE_NONE:
		return true;
	case REFERENCE_STRING:
		if (*v < 0 || *v >= x->record->strings.count)
			return false;
		if (string_translate(x, (uint32_t)*v) == UINT32_MAX)
			return false;
		*v = x->strings[*v];
		return true;
	case REFERENCE_VECTOR:
		return *v >= 0 && *v < x->record->vectors.count && vector_translate(x, v);
	case REFERENCE_SITE:
		return *v >= 0 && *v < x->record->sites.count; /* sites keep their numbers */
	}
	return false;
}

/* NULL: it was freed, as nothing referred to it. */
static const struct record_vector *vector_at(const struct extraction *x, uint32_t i)
{
	ref at = *(const ref *)table_at(x->arena, &x->record->vectors, i, sizeof(ref));
	return at ? arena_at(x->arena, struct record_vector, at) : NULL;
}

/* Not where it is: in a damaged arena something else might be there as well, that was found good already. */
static bool vector_translate(const struct extraction *x, int64_t *number)
{
	uint32_t *known = &x->vectors[*number];
	const struct record_vector *v = vector_at(x, (uint32_t)*number);
	if (*known == UINT32_MAX && v) {
		int64_t *values = budget_malloc((v->count + UINT64_C(1)) * sizeof *values);
		bool good = values != NULL;
		for (uint32_t i = 0; good && i < v->count; i++) {
			values[i] = v->values[i];
			good = value_translate(x, &values[i], REFERENCE_NONE);
		}
		if (good)
			*known = pool_intern(&x->trace->vector_pool, values, v->count * sizeof *values);
		budget_free(values);
	}
	*number = *known;
	return *known != UINT32_MAX;
}

/* Are the array values of a column kept as families (trace.h)? */
static bool is_family(const struct extraction *x, const struct column_image *image)
{
	uint64_t all = 0;
	if (image->dict_count > FAMILY_VALUES)
		return false;
	for (size_t i = 0; i < image->dict_count; i++) {
		int64_t number = image->dict[i].start;
		if (value_is_constant(number))
			continue;
		const struct record_vector *v =
			number >= 0 && number < x->record->vectors.count ? vector_at(x, (uint32_t)number) : NULL;
		if (!v)
			return false; /* it is damaged, and will be found to be */
		all += v->count;
		if (v->count > FAMILY_WIDTH)
			return false;
	}
	return all <= FAMILY_ALL;
}

static int extract_family(const struct extraction *x, uint32_t number, struct trace_stretch *out)
{
	const struct record_vector *v = vector_at(x, number);
	out->vector = true;
	out->elements = budget_calloc(v->count + UINT64_C(1), sizeof *out->elements);
	if (!out->elements || rankmap_single(&out->start, x->rank, 0, false) != 0)
		return -1;
	for (; out->width < v->count; out->width++) {
		int64_t value = v->values[out->width];
		if (!value_translate(x, &value, REFERENCE_NONE) ||
		    rankmap_single(&out->elements[out->width], x->rank, value, false) != 0)
			return -1;
	}
	return 0;
}

/* Checks all vectors. They come to the pool when a column needs them there. */
static int extract_vectors(struct extraction *x)
{
	const struct table *t = &x->record->vectors;
	for (uint32_t i = 0; i < t->count; i++) {
		x->vectors[i] = UINT32_MAX;
		if (*(const ref *)table_at(x->arena, t, i, sizeof(ref)) == 0)
			continue; /* nothing refers to it any more */
		ref at = table_ref(x, t, i, sizeof(struct record_vector));
		const struct record_vector *v = arena_at(x->arena, struct record_vector, at);
		if (!at || !arena_valid(x->arena, at, sizeof *v + (uint64_t)v->count * sizeof *v->values))
			return -1;
	}
	return 0;
}

static int extract_paths(struct extraction *x)
{
	const struct record *r = x->record;
	for (uint32_t i = 0; i < r->modules.count; i++) {
		const struct record_module *m = table_at(x->arena, &r->modules, i, sizeof *m);
		if (m->name >= r->strings.count || m->build_id >= r->strings.count)
			return -1;
		uint32_t name = string_translate(x, m->name), id = string_translate(x, m->build_id);
		if (name == UINT32_MAX || id == UINT32_MAX)
			return -1;
		x->modules[i] = trace_module(x->trace, (struct trace_module){name, id});
		if (x->modules[i] == UINT32_MAX)
			return -1;
	}
	for (uint32_t i = 1; i < r->nodes.count; i++) {
		const struct record_node *n = table_at(x->arena, &r->nodes, i, sizeof *n);
		if (n->parent >= i || (n->module >= r->modules.count && n->module != UINT32_MAX))
			return -1;
		uint32_t module = n->module == UINT32_MAX ? UINT32_MAX : x->modules[n->module];
		x->nodes[i] = trace_node(x->trace, (struct trace_node){x->nodes[n->parent], module, n->offset});
		if (x->nodes[i] == UINT32_MAX)
			return -1;
	}
	for (uint32_t i = 0; i < r->functions.count; i++) {
		uint32_t string = *(const uint32_t *)table_at(x->arena, &r->functions, i, sizeof string);
		x->functions[i] = string < r->strings.count && string_translate(x, string) != UINT32_MAX
		                          ? trace_function(x->trace, x->strings[string])
		                          : UINT32_MAX;
		if (x->functions[i] == UINT32_MAX)
			return -1;
	}
	return 0;
}

static int extract_tally(const struct extraction *x, struct tally *to, const struct tally *from,
                         enum reference reference)
{
	for (uint32_t i = 0; i < from->count; i++) {
		struct tally_bin b = from->bins[i];
		bool translated = value_is_constant(b.min) || reference == REFERENCE_STRING;
		if (translated && (!value_translate(x, &b.min, reference) || tally_add(to, b.min, b.count) != 0))
			return -1;
		struct tally one = {&b, 1, 1};
		if (!translated && tally_merge(to, &one) != 0)
			return -1;
	}
	return 0;
}

/* Values of which nothing is known but that there were so many: the constant `?`, of sites nothing. */
static int extract_others(const struct extraction *x, struct tally *to, uint64_t count, enum reference reference)
{
	if (count == 0 || reference == REFERENCE_SITE)
		return 0;
	uint32_t string = pool_intern(&x->trace->strings, "?", 1);
	return string == UINT32_MAX ? -1 : tally_add(to, VALUE_CONSTANT + string, count);
}

static int extract_lossy(struct extraction *x, struct column *c, uint64_t visits, enum reference reference,
                         struct trace_column *out)
{
	static const enum column_role roles[] = {[REFERENCE_NONE] = ROLE_VALUE,
	                                         [REFERENCE_STRING] = ROLE_STRING,
	                                         [REFERENCE_VECTOR] = ROLE_VECTOR,
	                                         [REFERENCE_SITE] = ROLE_NEXT};
	int rv = -1;
	struct lossy_image image = {0};
	struct trace_group group = {0};
	struct rankmap rank = {0};
	if ((c->role & ROLE_KINDS) != roles[reference] || lossy_extract(&x->columns, c, visits, &image) != 0 ||
	    rankmap_single(&rank, x->rank, 0, false) != 0 || trace_group_lossy(&group, &rank) != 0)
		goto done;
	struct trace_lossy *l = group.lossy;
	l->why = image.why & WHY_ALL;
	l->since = image.since;
	if (extract_tally(x, &l->values, &image.values, reference == REFERENCE_STRING ? reference : REFERENCE_NONE) !=
	            0 ||
	    extract_tally(x, &l->elements, &image.elements, REFERENCE_NONE) != 0 ||
	    extract_others(x, &l->values, image.others[0], reference) != 0 ||
	    extract_others(x, &l->elements, image.others[1], reference) != 0 ||
	    (reference == REFERENCE_STRING && trace_tally_fold(x->trace, &l->values) != 0))
		goto done;
	for (size_t i = 0; i < image.next_count; i++) {
		struct tally *runs = image.next[i].to < x->record->sites.count ? trace_next(l, image.next[i].to) : NULL;
		if (!runs || tally_merge(runs, &image.next[i].runs) != 0)
			goto done;
	}
	rv = visits == 0 ? 0 : trace_add_group_take(out, &group);
done:
	rankmap_free(&rank);
	trace_group_free(&group);
	lossy_image_free(&image);
	return rv;
}

static int extract_column(struct extraction *x, struct column *c, uint64_t visits, enum reference reference,
                          struct trace_column *out)
{
	int rv = -1;
	if (c->lossy)
		return extract_lossy(x, c, visits, reference, out);
	struct column_image image;
	struct trace_group group = {0};
	if (column_extract(&x->columns, c, visits, reference != REFERENCE_NONE, &image) != 0)
		goto done;
	if (visits == 0) {
		rv = 0;
		goto done;
	}
	group.dict = budget_calloc(image.dict_count, sizeof *group.dict);
	if (!group.dict)
		goto done;
	bool family = reference == REFERENCE_VECTOR && is_family(x, &image);
	for (size_t i = 0; i < image.dict_count; i++) {
		struct dict_run *d = &image.dict[i];
		struct trace_stretch *s = &group.dict[group.count++];
		s->count = d->count;
		if (family && !value_is_constant(d->start)) {
			if (extract_family(x, (uint32_t)d->start, s) != 0)
				goto done;
			continue;
		}
		if (!value_translate(x, &d->start, reference) ||
		    rankmap_single(&s->start, x->rank, d->start, reference != REFERENCE_NONE) != 0 ||
		    (d->count > 1 && rankmap_single(&s->stride, x->rank, d->stride, false) != 0))
			goto done;
	}
	if (image.pattern.size) {
		group.pattern = pool_intern(&x->trace->patterns, image.pattern.data, image.pattern.size) + 1;
		if (group.pattern == 0)
			goto done;
	}
	rv = trace_add_group_take(out, &group);
done:
	trace_group_free(&group);
	column_image_free(&image);
	return rv;
}

/* What is kept of a site or an edge besides: counters, and all times. Damage is left out, as in times. */
static int extract_detail(struct extraction *x, ref at, uint32_t from, uint32_t to, struct trace_time **counts)
{
	struct record *r = x->record;
	struct trace *t = x->trace;
	uint32_t counters = t->counter_count;
	if (!at || !arena_valid(x->arena, at, sizeof(struct record_detail) + counters * sizeof(struct record_time)))
		return 0;
	const struct record_detail *d = arena_at(x->arena, struct record_detail, at);
	for (uint32_t i = 0; i < counters; i++) {
		struct trace_time one = {0};
		trace_time_extract(&one, x->arena, &d->counts[i], 1, x->rank);
		if (one.count && !counts_make(counts)) {
			trace_time_free(&one);
			return -1;
		}
		if (one.count)
			(*counts)[i] = one;
	}
	if (!r->timing || t->timing_count == 0)
		return 0;
	struct writer bytes = {0};
	int64_t count = flow_extract(x->arena, &d->flow, &bytes);
	struct trace_flow flow = {from, to, (uint64_t)count, bytes.data, bytes.size};
	if (count <= 0) {
		writer_free(&bytes);
		return 0;
	}
	return timing_add_flow_take(&t->timing[0], &flow);
}

/* What was counted, and whether there are all times. */
static int extract_detail_table(struct extraction *x)
{
	const struct record *r = x->record;
	struct trace *t = x->trace;
	uint64_t ticks = r->clock_ticks[1] - r->clock_ticks[0], ns = r->clock_ns[1] - r->clock_ns[0];
	if (r->counters && arena_valid(x->arena, r->counters, sizeof(struct record_counters))) {
		const struct record_counters *c = arena_at(x->arena, struct record_counters, r->counters);
		for (uint32_t i = 0; i < c->count && i < TRACE_COUNTERS; i++) {
			uint32_t name = c->each[i].name, reason = c->each[i].reason;
			if (name >= r->strings.count || reason >= r->strings.count ||
			    string_translate(x, name) == UINT32_MAX || string_translate(x, reason) == UINT32_MAX ||
			    counts_number(t, x->strings[name]) != i)
				return -1;
			counts_tell(t, i, reason == 0, reason != 0, reason ? x->strings[reason] : 0);
		}
	}
	if (!r->timing || r->timing - 1 > FLOW_EXACT ||
	    (r->timing - 1 > FLOW_DIGITS_MAX && r->timing - 1 != FLOW_EXACT))
		return 0;
	if (ticks == 0 || ns == 0 || ticks >> 62 || ns >> 62)
		ticks = ns = 1; /* as x->ns_per_tick */
	double before = (double)(int64_t)(r->first_ticks - r->clock_ticks[0]) * x->ns_per_tick;
	struct trace_timing head = {.rank = x->rank,
	                            .digits = (uint32_t)r->timing - 1,
	                            .cut = r->untimed != 0,
	                            .events = r->untimed && r->untimed - 1 < r->events ? r->untimed - 1 : r->events,
	                            .ticks = ticks,
	                            .ns = ns,
	                            .start = r->realtime_ns +
	                                     (before > -0x1p60 && before < 0x1p60 ? (int64_t)before : 0)};
	return timing_add(t, &head) ? 0 : -1;
}

/* A site whose header was checked. `visits` are the complete ones, `successors` how many of them have a successor. */
static int extract_site(struct extraction *x, struct site *s, uint64_t visits, uint64_t successors, bool object)
{
	uint32_t i = trace_site(x->trace, x->functions[s->function], x->nodes[s->path], object);
	if (i == UINT32_MAX)
		return -1;
	struct trace_site *out = object ? &x->trace->objects[i] : &x->trace->sites[i];
	if (!rankmap_empty(&out->visits) || (!object && i != s->id) ||
	    trace_schema(x->trace, out)->count != s->columns ||
	    rankmap_single(&out->visits, x->rank, (int64_t)visits, false) != 0)
		return -1;
	for (uint32_t k = 0; k < s->columns; k++)
		if (extract_column(x, &s->column[k], visits, schema_reference(trace_schema(x->trace, out), k),
		                   &out->columns[k]) != 0)
			return -1;
	if (object)
		return 0;
	if (extract_column(x, &s->successor, successors, REFERENCE_SITE, &out->columns[s->columns]) != 0)
		return -1;
	/* times of a damaged arena are left out: the events are worth more */
	trace_time_extract(&out->communicate, x->arena, &s->communicate, x->ns_per_tick, x->rank);
	out->least = out->most = out->communicate.sum;
	out->least_rank = out->most_rank = x->rank;
	if (extract_detail(x, s->detail, i, TIMING_CALLS, &out->counts) != 0)
		return -1;
	uint32_t limit = x->record->sites.count;
	for (ref at = s->edges; at && limit-- > 0;) {
		if (!arena_valid(x->arena, at, sizeof(struct record_edge)))
			return -1;
		const struct record_edge *e = arena_at(x->arena, struct record_edge, at);
		struct trace_edge *edge = e->to < x->record->sites.count ? trace_edge(out, e->to) : NULL;
		if (edge && edge->compute.count == 0)
			trace_time_extract(&edge->compute, x->arena, &e->compute, x->ns_per_tick, x->rank);
		if (edge && !edge->counts && extract_detail(x, e->detail, i, e->to, &edge->counts) != 0)
			return -1;
		at = e->next;
	}
	return 0;
}

static int extract_sites(struct extraction *x)
{
	struct record *r = x->record;
	struct arena *a = x->arena;
	uint64_t events = 0;
	for (uint32_t i = 0; i < r->sites.count; i++) {
		ref at = table_ref(x, &r->sites, i, sizeof(struct site));
		events += at ? arena_at(a, struct site, at)->visits : 0;
	}
	if (events == r->events + 1) { /* killed in the middle of a commit (record.h): its event is complete */
		r->events++;
		if (r->at.in_flight)
			r->at = (struct record_at){.last = r->at.in_flight};
	}
	for (int object = 0; object < 2; object++) {
		const struct table *t = object ? &r->objects : &r->sites;
		for (uint32_t i = 0; i < t->count; i++) {
			ref at = table_ref(x, t, i, sizeof(struct site));
			struct site *s = arena_at(a, struct site, at);
			if (!at || s->columns > SCHEMA_MAX ||
			    !arena_valid(a, at, sizeof *s + s->columns * sizeof(struct column)) ||
			    s->function >= r->functions.count || s->path >= r->nodes.count || (!object && s->id != i))
				return -1;
			if (extract_site(x, s, s->visits, s->visits - (at == r->at.last && s->visits > 0), object) != 0)
				return -1;
		}
	}
	return 0;
}

/* The site with this reference, as its number; UINT32_MAX if there is none. */
static uint32_t site_number(const struct extraction *x, ref wanted)
{
	for (uint32_t i = 0; i < x->record->sites.count; i++)
		if (*(const ref *)table_at(x->arena, &x->record->sites, i, sizeof(ref)) == wanted)
			return i;
	return UINT32_MAX;
}

static int extract_rank(struct extraction *x)
{
	const struct record *r = x->record;
	struct trace *t = x->trace;
	t->size = r->size;
	if (rankmap_single(&t->events, x->rank, (int64_t)r->events, false) != 0)
		return -1;
	if (r->events > 0) {
		uint32_t first = site_number(x, r->first);
		if (first == UINT32_MAX || rankmap_single(&t->first, x->rank, first, true) != 0)
			return -1;
	}
	if (r->thread == 0 && r->host < r->strings.count) {
		const struct record_string *host = string_at(x, r->host);
		if (host_set(t, x->rank, host->bytes, host->length) != 0)
			return -1;
	}
	uint32_t in_flight =
		r->state != RECORD_FINALIZED && r->at.in_flight ? site_number(x, r->at.in_flight) : UINT32_MAX;
	if (in_flight != UINT32_MAX && rankmap_single(&t->in_flight, x->rank, in_flight, true) != 0)
		return -1;
	if (r->lost && rankmap_single(&t->lost, x->rank, (int64_t)(r->lost & INT64_MAX), false) != 0)
		return -1;
	return 0;
}

/* A column of which it is known how many values it had. */
static int extract_unknown(struct extraction *x, uint64_t count, enum reference reference, struct trace_column *out)
{
	int rv = -1;
	struct trace_group group = {0};
	struct rankmap rank = {0};
	if (rankmap_single(&rank, x->rank, 0, false) == 0 && trace_group_lossy(&group, &rank) == 0) {
		group.lossy->why = WHY_MEMORY;
		group.lossy->since = x->record->stage[STAGE_COUNTING] ? x->record->stage[STAGE_COUNTING] - 1 : 0;
		if (extract_others(x, &group.lossy->values, count, reference) == 0)
			rv = trace_add_group_take(out, &group);
	}
	rankmap_free(&rank);
	trace_group_free(&group);
	return rv;
}

/* Calls that were only counted are sites that no event is of: one for each function, behind all others, with a path of
 * two gaps that no other site has. */
static int extract_counted(struct extraction *x)
{
	const struct record *r = x->record;
	struct trace *t = x->trace;
	for (uint32_t i = 0; i < r->counted.count; i++) {
		const struct record_counted *c = table_at(x->arena, &r->counted, i, sizeof *c);
		if (c->function >= r->functions.count || c->count == 0 || c->count > INT64_MAX / 4)
			continue;
		uint32_t gap = trace_node(t, (struct trace_node){0, UINT32_MAX, GAP_TOO_DEEP});
		uint32_t node =
			gap == UINT32_MAX ? gap : trace_node(t, (struct trace_node){gap, UINT32_MAX, GAP_TOO_DEEP});
		uint32_t number = node == UINT32_MAX ? node : trace_site(t, x->functions[c->function], node, false);
		if (number == UINT32_MAX)
			return -1;
		struct trace_site *s = &t->sites[number];
		if (!rankmap_empty(&s->visits)) /* damaged: twice */
			continue;
		if (rankmap_single(&s->visits, x->rank, (int64_t)c->count, false) != 0)
			return -1;
		for (uint32_t k = 0; k < s->column_count; k++)
			if (extract_unknown(x, c->count, schema_reference(trace_schema(t, s), k), &s->columns[k]) != 0)
				return -1;
		double sum = (double)c->ticks * x->ns_per_tick, min = (double)c->min * x->ns_per_tick,
		       max = (double)c->max * x->ns_per_tick;
		if (!(sum < 0x1p58) || c->min > c->max || c->max > c->ticks)
			continue;
		struct time_bin bin = {c->count, (uint64_t)min, (uint64_t)max, (uint64_t)sum, 0};
		bin.sum = bin.sum / c->count < bin.min   ? bin.min * c->count
		          : bin.sum / c->count > bin.max ? bin.max * c->count
		                                         : bin.sum;
		bin.squares = (uint128)bin.sum * bin.sum / c->count;
		struct trace_time time = {.count = c->count,
		                          .sum = bin.sum,
		                          .min = bin.min,
		                          .max = bin.max,
		                          .min_rank = x->rank,
		                          .max_rank = x->rank,
		                          .squares = bin.squares,
		                          .bins = &bin,
		                          .bin_count = 1};
		if (trace_time_add(&s->communicate, &time) != 0)
			return -1;
		s->least = s->most = bin.sum;
		s->least_rank = s->most_rank = x->rank;
	}
	return 0;
}

/* Sums over the sites, which have been extracted. */
static int extract_totals(struct extraction *x)
{
	struct trace *t = x->trace;
	double loose = (double)x->record->loose_ticks * x->ns_per_tick;
	uint64_t compute = loose < 0x1p58 ? (uint64_t)loose : 0, communicate = 0;
	for (uint32_t i = 0; i < t->site_count; i++) {
		if (!trace_initializes(trace_schema(t, &t->sites[i])))
			communicate += t->sites[i].communicate.sum;
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			compute += t->sites[i].edges[k].compute.sum;
	}
	if (x->record->threshold != UINT64_MAX) {
		t->loss.lossy = true;
		t->loss.threshold = x->record->threshold;
		t->loss.structure = x->record->structure;
	}
	for (int i = 0; i < TRACE_STAGES; i++)
		if (x->record->stage[i]) {
			t->loss.stage[i].ranks = 1;
			t->loss.stage[i].since = x->record->stage[i] - 1;
		}
	double overhead = (double)x->record->own_ticks * x->ns_per_tick;
	t->bins = x->record->bins <= TIME_BINS_MAX ? x->record->bins : 0;
	uint64_t totals[TRACE_TOTALS] = {compute, compute + communicate, overhead < 0x1p62 ? (uint64_t)overhead : 0};
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		struct trace_rank_ns one = {x->rank, totals[i]};
		struct trace_total total = {1, one.ns, one.ns, one.ns, x->rank, x->rank, &one};
		if (trace_total_add(&t->total[i], &total) != 0)
			return -1;
	}
	return 0;
}

static uint32_t *numbers(uint32_t n)
{
	return budget_calloc((size_t)n + 1, sizeof(uint32_t));
}

int trace_extract(struct trace *t, struct arena *a, struct error *error)
{
	int rv = -1;
	struct extraction x = {.arena = a, .trace = t};
	if (trace_init(t) != 0)
		return error_set(error, "no memory");
	if (!arena_valid(a, a->header->root, sizeof(struct record)))
		return error_set(error, "the arena has no record: it was never initialised");
	struct record *r = x.record = arena_at(a, struct record, a->header->root);
	if (columns_init(&x.columns, a) != 0)
		return error_set(error, "no memory");
	if (!table_valid(a, &r->strings, sizeof(ref)) || !table_valid(a, &r->vectors, sizeof(ref)) ||
	    !table_valid(a, &r->sites, sizeof(ref)) || !table_valid(a, &r->objects, sizeof(ref)) ||
	    !table_valid(a, &r->counted, sizeof(struct record_counted)) ||
	    !table_valid(a, &r->functions, sizeof(uint32_t)) ||
	    !table_valid(a, &r->modules, sizeof(struct record_module)) ||
	    !table_valid(a, &r->nodes, sizeof(struct record_node)) || r->nodes.count == 0) {
		error_set(error, "the arena's tables are damaged");
		goto done;
	}
	if (r->state == RECORD_CREATED)
		r->size = 1;
	if (r->size == 0 || r->rank >= r->size || r->size > INT32_MAX || r->thread >= INT32_MAX / r->size) {
		error_set(error, "the arena's rank %u of %u, thread %u, is impossible", r->rank, r->size, r->thread);
		goto done;
	}
	x.rank = r->thread * r->size + r->rank;
	uint64_t ticks = r->clock_ticks[1] - r->clock_ticks[0], ns = r->clock_ns[1] - r->clock_ns[0];
	x.ns_per_tick = ticks > 0 && r->clock_ticks[1] > r->clock_ticks[0] && r->clock_ns[1] > r->clock_ns[0]
	                        ? (double)ns / (double)ticks
	                        : 1;
	x.strings = numbers(r->strings.count);
	x.vectors = numbers(r->vectors.count);
	x.modules = numbers(r->modules.count);
	x.nodes = numbers(r->nodes.count);
	x.functions = numbers(r->functions.count);
	if (!x.strings || !x.vectors || !x.modules || !x.nodes || !x.functions) {
		error_set(error, "no memory");
		goto done;
	}
	if (extract_strings(&x) != 0 || extract_vectors(&x) != 0 || extract_paths(&x) != 0 ||
	    extract_detail_table(&x) != 0 || extract_sites(&x) != 0 || extract_rank(&x) != 0 ||
	    extract_counted(&x) != 0 || extract_totals(&x) != 0) {
		error_set(error, "the arena of rank %u is damaged, or there is no memory", r->rank);
		goto done;
	}
	rv = 0;
done:
	columns_free(&x.columns);
	budget_free(x.strings);
	budget_free(x.vectors);
	budget_free(x.modules);
	budget_free(x.nodes);
	budget_free(x.functions);
	return rv;
}
