/* SPDX-License-Identifier: BSD-3-Clause
 * extract - the trace of one rank, from its arena
 *
 * The arena may be what a killed process left, or what a user made up: every number and reference in it is checked
 * before it is followed. Cost is linear in the arena's used size, not in the number of events.
 */
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/counts.h"
#include "trace/record/brief.h"
#include "trace/record/extraction.h"
#include "trace/model/packed.h"
#include "trace/model/timing.h"
#include "trace/model/trace.h"

static bool table_valid(const struct arena *a, const struct table *t, size_t size)
{
	return t->count == 0 || arena_valid(a, t->at, (uint64_t)t->count * size);
}

static int extract_paths(struct extraction *x)
{
	const struct record *r = x->record;
	for (uint32_t i = 0; i < r->modules.count; i++) {
		const struct record_module *m = table_at(x->arena, &r->modules, i, sizeof *m);
		if (m->name >= r->strings.count || m->build_id >= r->strings.count)
			return -1;
		uint32_t name = extraction_string_number(x, m->name), id = extraction_string_number(x, m->build_id);
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
		x->functions[i] = string < r->strings.count && extraction_string_number(x, string) != UINT32_MAX
		                          ? trace_function(x->trace, x->strings[string])
		                          : UINT32_MAX;
		if (x->functions[i] == UINT32_MAX)
			return -1;
	}
	return 0;
}

int extraction_counts(const struct extraction *x, ref at, struct histogram **counts)
{
	uint32_t counters = x->trace->counter_count;
	if (!at || !arena_valid(x->arena, at, counters * sizeof(struct record_time)))
		return 0;
	const struct record_time *each = arena_at(x->arena, struct record_time, at);
	for (uint32_t i = 0; i < counters; i++) {
		struct histogram one = {0};
		record_time_extract(&one, x->arena, &each[i], 1, x->rank);
		if (one.count && !counts_make(counts)) {
			histogram_free(&one);
			return -1;
		}
		if (one.count)
			(*counts)[i] = one;
	}
	return 0;
}

/* What is kept of a site or an edge besides: counters, and all times. Damage is left out, as in times. */
static int extract_detail(struct extraction *x, ref at, uint32_t from, uint32_t to, struct histogram **counts)
{
	struct record *r = x->record;
	struct trace *t = x->trace;
	if (!at || !arena_valid(x->arena, at, sizeof(struct record_detail)))
		return 0;
	const struct record_detail *d = arena_at(x->arena, struct record_detail, at);
	if (extraction_counts(x, at + (ref)offsetof(struct record_detail, counts), counts) != 0)
		return -1;
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
			    extraction_string_number(x, name) == UINT32_MAX ||
			    extraction_string_number(x, reason) == UINT32_MAX ||
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

/* What a site has, or a row of an object table. */
static int extract_columns(struct extraction *x, struct site *s, uint64_t visits, struct trace_site *out)
{
	if (!rankmap_empty(&out->visits) || trace_schema(x->trace, out)->count != s->columns ||
	    rankmap_single(&out->visits, x->rank, (int64_t)visits, false) != 0)
		return -1;
	for (uint32_t k = 0; k < s->columns; k++)
		if (extraction_column(x, &s->column[k], visits, schema_reference(trace_schema(x->trace, out), k),
		                      &out->columns[k]) != 0)
			return -1;
	return 0;
}

/* What was used between the calls of a site and in them, for the totals. */
static void add_times(struct extraction *x, const struct trace_site *s)
{
	if (!trace_initializes(trace_schema(x->trace, s)))
		x->communicate += s->communicate.sum;
	for (uint32_t k = 0; k < s->edge_count; k++)
		x->compute += s->edges[k].compute.sum;
}

/* Site i, of whose visits `successors` have a successor. */
static int extract_events(struct extraction *x, struct site *s, uint32_t i, uint64_t successors, struct trace_site *out)
{
	const struct time_none none = record_no_times(x->arena);
	if (extraction_column(x, &s->successor, successors, REFERENCE_SITE, &out->columns[s->columns]) != 0)
		return -1;
	/* times of a damaged arena are left out: the events are worth more */
	time_cell_extract(&out->communicate, x->arena, &s->communicate, none, x->ns_per_tick, x->rank);
	out->least = out->most = out->communicate.sum;
	out->least_rank = out->most_rank = x->rank;
	if (extraction_means(x, out) != 0 || extract_detail(x, s->detail, i, TIMING_CALLS, &out->counts) != 0)
		return -1;
	uint32_t limit = x->record->sites.count;
	for (ref at = s->edges; at && limit-- > 0;) {
		if (!arena_valid(x->arena, at, sizeof(struct record_edge)))
			return -1;
		const struct record_edge *e = arena_at(x->arena, struct record_edge, at);
		struct trace_edge *edge = e->to < x->record->sites.count ? trace_edge(out, e->to) : NULL;
		if (edge && !edge->counts && extract_detail(x, e->detail, i, e->to, &edge->counts) != 0)
			return -1;
		if (edge && edge->compute.count == 0 && extraction_edge(x, e, edge) != 0)
			return -1;
		at = e->next;
	}
	add_times(x, out);
	return 0;
}

/* A site whose header was checked. `visits` are the complete ones, `successors` how many of them have a successor. */
static int extract_site(struct extraction *x, struct site *s, uint64_t visits, uint64_t successors, bool object)
{
	uint32_t i = trace_site(x->trace, x->functions[s->function], x->nodes[s->path], object);
	struct trace_site room, *out;
	if (i == UINT32_MAX || (!object && i != s->id))
		return -1;
	if (object)
		return extract_columns(x, s, visits, &x->trace->objects[i]);
	out = packed_open(x->trace, i, &room);
	if (!out)
		return -1;
	int rv = extract_columns(x, s, visits, out);
	if (rv == 0)
		rv = extract_events(x, s, i, successors, out);
	return packed_close(x->trace, i, out) != 0 ? -1 : rv;
}

static bool brief_valid(const struct extraction *x, uint32_t i)
{
	ref at = *(const ref *)table_at(x->arena, &x->record->sites, i, sizeof(ref));
	return arena_valid(x->arena, at - BRIEF_MARK, sizeof(struct brief));
}

/* Its times, and those of its edges. What is wrong with them is left out, as above. */
static int extract_brief_times(struct extraction *x, const struct brief *b, uint32_t successors, struct trace_site *out)
{
	for (unsigned v = 0; v < b->visits; v++)
		record_time_one(&out->communicate, b->call[v], x->ns_per_tick, x->rank, v);
	out->least = out->most = out->communicate.sum;
	out->least_rank = out->most_rank = x->rank;
	for (unsigned v = 0; v < successors; v++) {
		struct trace_edge *edge = trace_edge(out, b->next[v]);
		if (edge)
			record_time_one(&edge->compute, b->compute[v] & BRIEF_TICKS_MOST, x->ns_per_tick, x->rank,
			                b->compute[v] >> BRIEF_TICKS_BITS);
	}
	int rv = extraction_means(x, out);
	for (uint32_t k = 0; rv == 0 && k < out->edge_count; k++)
		rv = extraction_brief(x, &out->edges[k]);
	add_times(x, out);
	return rv;
}

/* What a brief site has, whose head was checked. */
static int extract_brief_columns(struct extraction *x, const struct brief *b, uint32_t successors,
                                 struct trace_site *out)
{
	int64_t all[BRIEF_VISITS][SCHEMA_MAX], values[BRIEF_VISITS];
	const uint32_t columns = trace_schema(x->trace, out)->count;
	if (!rankmap_empty(&out->visits) || rankmap_single(&out->visits, x->rank, b->visits, false) != 0)
		return -1;
	for (unsigned v = 0; v < b->visits; v++)
		if (b->values[v] >= x->record->strings.count ||
		    brief_read(extraction_string(x, b->values[v]), all[v]) != columns)
			return -1;
	for (uint32_t k = 0; k < columns; k++) {
		for (unsigned v = 0; v < b->visits; v++)
			values[v] = all[v][k];
		if (extraction_values(x, values, b->visits, schema_reference(trace_schema(x->trace, out), k),
		                      &out->columns[k]) != 0)
			return -1;
	}
	for (unsigned v = 0; v < successors; v++)
		values[v] = b->next[v];
	return extraction_values(x, values, successors, REFERENCE_SITE, &out->columns[columns]);
}

static int extract_brief(struct extraction *x, uint32_t i, const struct brief *b)
{
	const struct record *r = x->record;
	const uint32_t successors = b->visits - (i + 1 == r->at.last && b->visits > 0);
	struct trace_site room, *out;
	if (b->visits > BRIEF_VISITS || b->function >= r->functions.count || b->path >= r->nodes.count ||
	    trace_site(x->trace, x->functions[b->function], x->nodes[b->path], false) != i)
		return -1;
	out = packed_open(x->trace, i, &room);
	if (!out)
		return -1;
	int rv = extract_brief_columns(x, b, successors, out);
	if (rv == 0)
		rv = extract_brief_times(x, b, successors, out);
	return packed_close(x->trace, i, out) != 0 ? -1 : rv;
}

/* An element of record.sites, or of record.objects. */
static int extract_site_at(struct extraction *x, uint32_t i, bool object)
{
	const struct record *r = x->record;
	const struct table *t = object ? &r->objects : &r->sites;
	if (!object && brief_at(x->arena, r, i))
		return brief_valid(x, i) ? extract_brief(x, i, brief_at(x->arena, r, i)) : -1;
	ref at = extraction_ref(x, t, i, sizeof(struct site));
	struct site *s = arena_at(x->arena, struct site, at);
	if (!at || s->columns > SCHEMA_MAX ||
	    !arena_valid(x->arena, at, sizeof *s + s->columns * sizeof(struct cell)) ||
	    s->function >= r->functions.count || s->path >= r->nodes.count || (!object && s->id != i))
		return -1;
	return extract_site(x, s, s->visits, s->visits - (!object && i + 1 == r->at.last && s->visits > 0), object);
}

/* The complete visits of a site that may be damaged. */
static uint64_t visits_at(const struct extraction *x, uint32_t i)
{
	if (brief_at(x->arena, x->record, i))
		return brief_valid(x, i) ? brief_at(x->arena, x->record, i)->visits : 0;
	ref at = extraction_ref(x, &x->record->sites, i, sizeof(struct site));
	return at ? arena_at(x->arena, struct site, at)->visits : 0;
}

static int extract_sites(struct extraction *x)
{
	struct record *r = x->record;
	uint64_t events = 0;
	for (uint32_t i = 0; i < r->sites.count && extraction_renew(x, i) == 0; i++)
		events += visits_at(x, i);
	if (events == r->events + 1) { /* killed in the middle of a commit (record.h): its event is complete */
		r->events++;
		if (r->at.in_flight)
			r->at = (struct record_at){.last = r->at.in_flight};
	}
	for (int object = 0; object < 2; object++) {
		const struct table *t = object ? &r->objects : &r->sites;
		for (uint32_t i = 0; i < t->count; i++)
			if (extraction_renew(x, i) != 0 || extract_site_at(x, i, object) != 0)
				return -1;
	}
	return 0;
}

static int extract_rank(struct extraction *x)
{
	const struct record *r = x->record;
	struct trace *t = x->trace;
	t->size = r->size;
	if (rankmap_single(&t->events, x->rank, (int64_t)r->events, false) != 0)
		return -1;
	if (r->events > 0) {
		uint32_t first = extraction_site(x, r->first);
		if (first == UINT32_MAX || rankmap_single(&t->first, x->rank, first, true) != 0)
			return -1;
	}
	if (extraction_place(x) != 0)
		return -1;
	uint32_t in_flight =
		r->state != RECORD_FINALIZED && r->at.in_flight ? extraction_site(x, r->at.in_flight) : UINT32_MAX;
	if (in_flight != UINT32_MAX && rankmap_single(&t->in_flight, x->rank, in_flight, true) != 0)
		return -1;
	if (r->lost && rankmap_single(&t->lost, x->rank, (int64_t)(r->lost & INT64_MAX), false) != 0)
		return -1;
	return extraction_away(x);
}

/* Times of calls that were only counted: how many, and their sum, least and most. */
static int extract_counted_times(const struct extraction *x, const struct record_counted *c, struct trace_site *s)
{
	double sum = (double)c->ticks * x->ns_per_tick, min = (double)c->min * x->ns_per_tick,
	       max = (double)c->max * x->ns_per_tick;
	if (!(sum < 0x1p58) || c->min > c->max || c->max > c->ticks)
		return 0;
	struct histogram_bin bin = {c->count, (uint64_t)min, (uint64_t)max, (uint64_t)sum, 0};
	bin.sum = bin.sum / c->count < bin.min   ? bin.min * c->count
	          : bin.sum / c->count > bin.max ? bin.max * c->count
	                                         : bin.sum;
	bin.squares = (uint128)bin.sum * bin.sum / c->count;
	struct histogram time = {.count = c->count,
	                         .sum = bin.sum,
	                         .min = bin.min,
	                         .max = bin.max,
	                         .min_rank = x->rank,
	                         .max_rank = x->rank,
	                         .squares = bin.squares,
	                         .bins = &bin,
	                         .bin_count = 1};
	s->least = s->most = bin.sum;
	s->least_rank = s->most_rank = x->rank;
	return histogram_add(&s->communicate, &time);
}

static int extract_counted_site(struct extraction *x, const struct record_counted *c, struct trace_site *s)
{
	if (!rankmap_empty(&s->visits)) /* damaged: twice */
		return 0;
	if (rankmap_single(&s->visits, x->rank, (int64_t)c->count, false) != 0)
		return -1;
	for (uint32_t k = 0; k < s->column_count; k++)
		if (extraction_unknown(x, c->count, schema_reference(trace_schema(x->trace, s), k), &s->columns[k]) !=
		    0)
			return -1;
	if (extract_counted_times(x, c, s) != 0 || extraction_means(x, s) != 0)
		return -1;
	add_times(x, s);
	return 0;
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
		uint32_t gap = trace_node(t, (struct trace_node){0, UINT32_MAX, GAP_CUT});
		uint32_t node = gap == UINT32_MAX ? gap : trace_node(t, (struct trace_node){gap, UINT32_MAX, GAP_CUT});
		uint32_t number = node == UINT32_MAX ? node : trace_site(t, x->functions[c->function], node, false);
		struct trace_site room, *s = number == UINT32_MAX ? NULL : packed_open(t, number, &room);
		if (!s)
			return -1;
		int rv = extract_counted_site(x, c, s);
		if (packed_close(t, number, s) != 0 || rv != 0)
			return -1;
	}
	return 0;
}

/* Sums over the sites, which have been extracted. */
static int extract_totals(struct extraction *x)
{
	struct trace *t = x->trace;
	double loose = (double)x->record->loose_ticks * x->ns_per_tick;
	uint64_t compute = x->compute + (loose < 0x1p58 ? (uint64_t)loose : 0);
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
	t->bins = x->record->bins <= HISTOGRAM_BINS_MAX ? x->record->bins : 0;
	uint64_t totals[TRACE_TOTALS] = {compute, compute + x->communicate, overhead < 0x1p62 ? (uint64_t)overhead : 0};
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		struct trace_rank_ns one = {x->rank, totals[i]};
		struct trace_total total = {.count = 1, .sum = one.ns, .min = one.ns, .max = one.ns, .ranks = &one};
		total.min_rank = total.max_rank = x->rank;
		if (trace_total_add(&t->total[i], &total) != 0)
			return -1;
	}
	return 0;
}

static uint32_t *numbers(uint32_t n)
{
	return budget_calloc((size_t)n + 1, sizeof(uint32_t));
}

static int extract(struct trace *t, struct arena *a, bool packing, struct error *error)
{
	int rv = -1;
	struct extraction x = {.arena = a, .trace = t};
	if (trace_init(t) != 0)
		return error_set(error, "no memory");
	t->packing = packing;
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
	if (extraction_strings(&x) != 0 || extraction_vectors(&x) != 0 || extract_paths(&x) != 0 ||
	    extract_detail_table(&x) != 0 || extract_sites(&x) != 0 || extract_rank(&x) != 0 ||
	    extraction_unended(&x) != 0 || extract_counted(&x) != 0 || extract_totals(&x) != 0) {
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

int trace_extract(struct trace *t, struct arena *a, struct error *error)
{
	return extract(t, a, false, error);
}

int trace_extract_packed(struct trace *t, struct arena *a, struct error *error)
{
	return extract(t, a, true, error);
}
