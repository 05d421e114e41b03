/* SPDX-License-Identifier: BSD-3-Clause
 * libspoor - a stable face of what is below for other programs: traces, walks, times
 */
#include "lib/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/model/flow_code.h"
#include "trace/model/host.h"
#include "trace/model/means.h"
#include "trace/model/stream.h"
#include "trace/model/timing.h"
#include "trace/model/unended.h"

_Static_assert(SPOOR_ARGUMENTS >= SCHEMA_MAX, "an event has room for all columns");

void inside_say(char *error, const char *text)
{
	if (error)
		snprintf(error, SPOOR_ERROR_SIZE, "%s", text);
}

uint64_t inside_unended(const struct trace *t, uint32_t site)
{
	uint64_t ns = 0;
	for (uint32_t i = 0; i < t->unended_count; i++)
		if (t->unended[i].call && t->unended[i].site == site)
			ns += t->unended[i].sum;
	return ns;
}

const char *spoor_version(void)
{
	return PACKAGE_VERSION;
}

int spoor_api(void)
{
	return SPOOR_API;
}

/* --- a trace --- */

static int name_functions(struct spoor_trace *t)
{
	t->functions = calloc((size_t)t->trace.function_count + 1, sizeof *t->functions);
	for (uint32_t i = 0; t->functions && i < t->trace.function_count; i++) {
		const struct schema *s = &t->trace.functions[i].schema;
		if (!(t->functions[i].name = strndup(s->function, s->function_length)))
			return -1;
		for (size_t k = 0; k < s->count; k++) {
			if (!(t->functions[i].columns[k] = strndup(s->column[k].name, s->column[k].length)))
				return -1;
		}
	}
	return t->functions ? 0 : -1;
}

static int decode(struct spoor_trace *t, struct error *error)
{
	if (trace_decode(&t->trace, t->container, error))
		return -1;
	const struct chunk *meta = container_find(t->container, "META");
	t->metadata = meta ? strndup((const char *)meta->data, meta->size) : strdup("{}");
	return !t->metadata || name_functions(t) ? error_set(error, "out of memory") : 0;
}

static struct spoor_trace *open_trace(const char *path, const void *bytes, size_t size, char *text)
{
	struct budget budget = {.memory = BUDGET_MEMORY, .steps = BUDGET_STEPS, .grows = true};
	struct spoor_trace *t = calloc(1, sizeof *t);
	struct error error = {""};
	int rv = -1;

	budget_begin(&budget);
	budget_file(size);
	if (!t)
		error_set(&error, "out of memory");
	else if ((bytes ? container_parse(&t->container, path, bytes, size, &codec_zstd, &error)
	                : container_open(&t->container, path, &codec_zstd, &error)) == 0)
		rv = decode(t, &error);
	budget_end(&budget);
	if (rv == 0)
		return t;
	inside_say(text, error.text);
	spoor_close(t);
	return NULL;
}

struct spoor_trace *spoor_open(const char *path, char *error)
{
	return open_trace(path, NULL, 0, error);
}

struct spoor_trace *spoor_open_memory(const char *name, const void *bytes, size_t size, char *error)
{
	return open_trace(name, bytes ? bytes : "", size, error);
}

void spoor_close(struct spoor_trace *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; t->functions && i < t->trace.function_count; i++) {
		free(t->functions[i].name);
		for (size_t k = 0; k < SCHEMA_MAX; k++)
			free(t->functions[i].columns[k]);
	}
	free(t->functions);
	free(t->metadata);
	trace_free(&t->trace);
	container_destroy(t->container);
	free(t);
}

const char *spoor_metadata(const struct spoor_trace *t)
{
	return t->metadata;
}

uint32_t spoor_ranks(const struct spoor_trace *t)
{
	return t->trace.size;
}

uint64_t spoor_events(const struct spoor_trace *t, uint32_t rank)
{
	return spoor_thread_events(t, rank, 0);
}

uint32_t spoor_threads(const struct spoor_trace *t)
{
	return stream_threads(&t->trace);
}

uint32_t inside_stream(const struct spoor_trace *t, uint32_t rank, uint32_t thread)
{
	uint64_t stream = (uint64_t)thread * t->trace.size + rank;
	return rank < t->trace.size && stream < UINT32_MAX ? (uint32_t)stream : UINT32_MAX;
}

uint64_t spoor_thread_events(const struct spoor_trace *t, uint32_t rank, uint32_t thread)
{
	int64_t n = 0;
	return rankmap_get(&t->trace.events, inside_stream(t, rank, thread), &n) ? (uint64_t)n : 0;
}

const char *inside_string(const struct trace *t, int64_t number)
{
	return number >= 0 && (uint64_t)number < t->strings.count ? (const char *)t->strings.items[number].bytes : "";
}

const char *spoor_host(const struct spoor_trace *t, uint32_t rank)
{
	static _Thread_local char name[HOST_MAX];
	host_get(&t->trace, rank, name);
	return name;
}

uint32_t spoor_sites(const struct spoor_trace *t)
{
	return t->trace.site_count;
}

const char *spoor_site_function(const struct spoor_trace *t, uint32_t site)
{
	return site < t->trace.site_count ? t->functions[t->trace.sites[site].function].name : NULL;
}

int spoor_site_frame(const struct spoor_trace *t, uint32_t site, uint32_t depth, const char **module, uint64_t *offset)
{
	if (site >= t->trace.site_count)
		return 1;
	uint32_t node = t->trace.sites[site].node;
	for (; node != 0 && depth > 0; depth--)
		node = t->trace.nodes[node].parent;
	if (node == 0)
		return 1;
	const struct trace_node *n = &t->trace.nodes[node];
	if (n->module == UINT32_MAX)
		return 2;
	*module = inside_string(&t->trace, t->trace.modules[n->module].name);
	*offset = n->offset;
	return 0;
}

/* --- events --- */

struct spoor_walk *spoor_walk_begin(const struct spoor_trace *t, uint32_t rank, char *text)
{
	return spoor_walk_begin_thread(t, rank, 0, text);
}

struct spoor_walk *spoor_walk_begin_thread(const struct spoor_trace *t, uint32_t rank, uint32_t thread, char *text)
{
	struct spoor_walk *w = calloc(1, sizeof *w);
	struct error error = {""};

	if (!w)
		error_set(&error, "out of memory");
	else if (rank >= t->trace.size)
		error_set(&error, "rank %u does not exist: the trace has %u ranks", rank, t->trace.size);
	else if (walk_begin(&w->walk, &t->trace, inside_stream(t, rank, thread), &error) == 0) {
		w->trace = t;
		w->stream = inside_stream(t, rank, thread);
		return w;
	}
	inside_say(text, error.text);
	free(w);
	return NULL;
}

struct spoor_walk *spoor_walk_begin_time(const struct spoor_trace *t, uint32_t rank, char *text)
{
	struct spoor_walk *w = calloc(1, sizeof *w);
	struct error error = {""};

	if (!w)
		error_set(&error, "out of memory");
	else if (rank >= t->trace.size)
		error_set(&error, "rank %u does not exist: the trace has %u ranks", rank, t->trace.size);
	else if (interleave_begin(&w->interleave, &t->trace, rank, &error) == 0) {
		w->trace = t;
		return w;
	}
	inside_say(text, error.text);
	free(w);
	return NULL;
}

int spoor_walk_exact(const struct spoor_walk *w)
{
	return !w->interleave || interleave_exact(w->interleave);
}

uint32_t spoor_walk_thread(const struct spoor_walk *w)
{
	return stream_thread(&w->trace->trace, w->stream);
}

void spoor_walk_end(struct spoor_walk *w)
{
	if (!w)
		return;
	walk_end(w->walk);
	timeline_close(w->times);
	interleave_end(w->interleave);
	free(w);
}

static struct spoor_value scalar(const struct trace *t, int64_t value, char kind, int64_t base)
{
	struct spoor_value v = {.kind = SPOOR_SYMBOL, .integer = value, .letter = kind};
	uint32_t thread, number;

	if (value == VALUE_LOSSY) {
		v.kind = SPOOR_UNKNOWN;
	} else if (value_is_constant(value)) {
		v.text = inside_string(t, (int64_t)((uint64_t)value - (uint64_t)VALUE_CONSTANT));
		v.kind = !strcmp(v.text, "-") ? SPOOR_ABSENT : kind == 's' ? SPOOR_TEXT : SPOOR_CONSTANT;
	} else if (kind == 's') {
		v.kind = SPOOR_TEXT;
		v.text = inside_string(t, value);
	} else if (kind == 'r' && stream_foreign(value, &thread, &number)) {
		v.integer = number;
		v.count = thread + 1;
	} else if (kind == 'p' || kind == 'i') {
		v.kind = SPOOR_INTEGER;
		v.integer = kind == 'p' ? (int64_t)((uint64_t)value + (uint64_t)base) : value;
	}
	return v;
}

static struct spoor_value value_of(const struct trace *t, const struct event *e, const struct schema_column *c,
                                   int64_t value)
{
	if (!c->vector || value == VALUE_LOSSY || value_is_constant(value))
		return scalar(t, value, c->kind, e->base);
	const struct pool_item *vector = event_vector(t, e, value);
	return (struct spoor_value){.kind = SPOOR_ARRAY,
	                            .letter = c->kind,
	                            .count = (uint32_t)(vector->size / sizeof(int64_t)),
	                            .reserved = {(uint64_t)(uintptr_t)vector->bytes, (uint64_t)e->base}};
}

int inside_step(struct spoor_walk *w, char *text)
{
	struct error error = {""};
	int rv = w->interleave ? interleave_next(w->interleave, &w->interleaved, &error)
	                       : walk_next(w->walk, &w->event, &error);
	if (rv == 0 && w->interleave)
		w->stream = w->interleaved.stream;
	if (rv < 0)
		inside_say(text, error.text);
	return rv;
}

int spoor_walk_next(struct spoor_walk *w, struct spoor_event *out, char *text)
{
	const struct trace *t = &w->trace->trace;
	int rv = inside_step(w, text);
	if (rv)
		return rv;
	const struct event *e = w->interleave ? w->interleaved.event : &w->event;
	const struct function *f = &w->trace->functions[t->sites[e->site].function];
	out->number = e->number;
	out->site = e->site;
	out->function = f->name;
	out->count = 0;
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		if (c->name[0] == '.' || (c->kind == 'b' && !c->vector && !value_is_constant(e->values[i])))
			continue; /* how spoor found it out, and buffers whose identity was not recorded */
		out->names[out->count] = f->columns[i];
		out->values[out->count++] = value_of(t, e, c, e->values[i]);
	}
	return 0;
}

int spoor_element(const struct spoor_trace *t, const struct spoor_value *array, uint32_t i, struct spoor_value *element)
{
	int64_t value;

	if (array->kind != SPOOR_ARRAY || i >= array->count)
		return -1;
	memcpy(&value, (const uint8_t *)(uintptr_t)array->reserved[0] + i * sizeof value, sizeof value);
	*element = scalar(&t->trace, value, array->letter, (int64_t)array->reserved[1]);
	return 0;
}

/* --- times and counters --- */

_Static_assert((int)SPOOR_COMPUTE == (int)TOTAL_COMPUTE && (int)SPOOR_ELAPSED == (int)TOTAL_ELAPSED &&
                       (int)SPOOR_OVERHEAD == (int)TOTAL_OVERHEAD,
               "totals have the same numbers");

uint32_t spoor_site_edges(const struct spoor_trace *t, uint32_t site)
{
	return site < t->trace.site_count ? t->trace.sites[site].edge_count : 0;
}

uint32_t spoor_edge_to(const struct spoor_trace *t, uint32_t site, uint32_t edge)
{
	return edge < spoor_site_edges(t, site) ? t->trace.sites[site].edges[edge].to : UINT32_MAX;
}

static void describe(const struct trace *t, const struct histogram *from, struct spoor_histogram *h)
{
	*h = (struct spoor_histogram){.count = from->count};
	if (from->count == 0)
		return;
	h->sum = from->sum;
	h->min = from->min;
	h->max = from->max;
	h->mean = histogram_mean(from);
	h->deviation = histogram_deviation(from);
	h->min_rank = stream_rank(t, from->min_rank);
	h->min_thread = stream_thread(t, from->min_rank);
	h->max_rank = stream_rank(t, from->max_rank);
	h->max_thread = stream_thread(t, from->max_rank);
	h->min_visit = from->min_visit;
	h->max_visit = from->max_visit;
	h->bins = from->bin_count;
	h->reserved = from->bins;
}

int spoor_time(const struct spoor_trace *t, uint32_t site, uint32_t edge, struct spoor_histogram *h)
{
	if (site >= t->trace.site_count || (edge != SPOOR_CALLS && edge >= t->trace.sites[site].edge_count))
		return -1;
	const struct trace_site *s = &t->trace.sites[site];
	describe(&t->trace, edge == SPOOR_CALLS ? &s->communicate : &s->edges[edge].compute, h);
	return 0;
}

int spoor_bin(const struct spoor_histogram *h, uint32_t i, struct spoor_bin *bin)
{
	if (i >= h->bins)
		return -1;
	const struct histogram_bin *b = (const struct histogram_bin *)h->reserved + i;
	*bin = (struct spoor_bin){b->count, b->min, b->max, histogram_bin_mean(b), histogram_bin_deviation(b)};
	return 0;
}

uint32_t spoor_counters(const struct spoor_trace *t)
{
	return t->trace.counter_count;
}

int spoor_counter(const struct spoor_trace *t, uint32_t counter, struct spoor_counter *c)
{
	if (counter >= t->trace.counter_count)
		return -1;
	const struct trace_counter *from = &t->trace.counters[counter];
	*c = (struct spoor_counter){inside_string(&t->trace, from->name), inside_string(&t->trace, from->reason),
	                            from->ranks, from->missing};
	return 0;
}

int spoor_count(const struct spoor_trace *t, uint32_t site, uint32_t edge, uint32_t counter, struct spoor_histogram *h)
{
	if (counter >= t->trace.counter_count || spoor_time(t, site, edge, h))
		return -1;
	const struct trace_site *s = &t->trace.sites[site];
	const struct histogram *counts = edge == SPOOR_CALLS ? s->counts : s->edges[edge].counts;
	describe(&t->trace, counts ? &counts[counter] : &(struct histogram){.count = 0}, h);
	return 0;
}

int spoor_total(const struct spoor_trace *t, enum spoor_total_kind kind, struct spoor_total *total)
{
	if ((unsigned)kind >= TRACE_TOTALS)
		return -1;
	const struct trace_total *from = &t->trace.total[kind];
	*total = (struct spoor_total){.ranks = from->count};
	if (from->count > 0)
		*total = (struct spoor_total){from->count,
		                              from->sum,
		                              from->min,
		                              from->max,
		                              stream_rank(&t->trace, from->min_rank),
		                              stream_thread(&t->trace, from->min_rank),
		                              stream_rank(&t->trace, from->max_rank),
		                              stream_thread(&t->trace, from->max_rank)};
	return 0;
}

int spoor_rank_total(const struct spoor_trace *t, enum spoor_total_kind kind, uint32_t rank, uint32_t thread,
                     uint64_t *ns)
{
	const struct trace_total *from = (unsigned)kind < TRACE_TOTALS ? &t->trace.total[kind] : NULL;
	uint32_t stream = inside_stream(t, rank, thread);

	return from && trace_total_get(from, stream, ns) ? 0 : 1;
}

int spoor_timing(const struct spoor_trace *t, uint32_t rank, uint32_t thread, struct spoor_timing *timing)
{
	const struct trace_timing *from = timing_find(&t->trace, inside_stream(t, rank, thread));
	if (!from)
		return 1;
	*timing = (struct spoor_timing){from->events, flow_error(from->digits), from->start};
	return 0;
}

int spoor_walk_times(struct spoor_walk *w, uint64_t *begin, uint64_t *end, char *text)
{
	bool none = false;

	if (w->interleave && w->interleaved.event) {
		*begin = w->interleaved.begin;
		*end = w->interleaved.end;
		return w->interleaved.timed ? 0 : 1;
	}
	if (w->asked != w->event.number || !w->event.schema)
		return 1;
	if (!w->times && !(w->times = timeline_open(&w->trace->trace, w->stream, &none)) && !none) {
		inside_say(text, "out of memory");
		return -1;
	}
	w->asked++;
	return w->times ? timeline_next(w->times, w->event.site, begin, end) : 1;
}
