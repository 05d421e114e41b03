/* SPDX-License-Identifier: BSD-3-Clause
 * source - what the ranks of the smaller runs did, in numbers that all traces have in common
 */
#include "cmd/extrapolate/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

/* From the numbers of a trace to those of the model: number + 1; 0: not known yet. */
struct translation {
	struct event_source *source;
	const struct trace *trace;
	uint32_t *strings, *modules, *nodes, *sites;
};

static int no_memory(struct error *error)
{
	return error_set(error, "no memory");
}

int source_init(struct event_source *s)
{
	*s = (struct event_source){.count = 0};
	return trace_init(&s->model);
}

static uint32_t model_string(struct translation *x, uint32_t number)
{
	const struct pool_item *from = &x->trace->strings.items[number];
	if (!x->strings[number])
		x->strings[number] = pool_intern(&x->source->model.strings, from->bytes, from->size) + 1;
	return x->strings[number] - 1;
}

static uint32_t model_module(struct translation *x, uint32_t number)
{
	const struct trace_module *from = &x->trace->modules[number];
	if (!x->modules[number])
		x->modules[number] =
			trace_module(&x->source->model, (struct trace_module){model_string(x, from->name),
		                                                              model_string(x, from->build_id)}) +
			1;
	return x->modules[number] - 1;
}

/* Frames further out have lower numbers. */
static uint32_t model_node(struct translation *x, uint32_t number)
{
	for (uint32_t i = 1; i <= number; i++) {
		struct trace_node n = x->trace->nodes[i];
		if (x->nodes[i])
			continue;
		n.parent = n.parent ? x->nodes[n.parent] - 1 : 0;
		n.module = n.module == UINT32_MAX ? UINT32_MAX : model_module(x, n.module);
		x->nodes[i] = trace_node(&x->source->model, n) + 1;
	}
	return number ? x->nodes[number] - 1 : 0;
}

static uint32_t model_site(struct translation *x, const struct trace_site *s, bool object)
{
	uint32_t function = trace_function(&x->source->model, model_string(x, x->trace->functions[s->function].string)),
		 node = model_node(x, s->node);
	return function == UINT32_MAX || node == UINT32_MAX ? UINT32_MAX
	                                                    : trace_site(&x->source->model, function, node, object);
}

static int64_t model_value(struct translation *x, int64_t value, bool string)
{
	if (value_is_constant(value)) {
		uint32_t number = (uint32_t)(value - VALUE_CONSTANT);
		return number < x->trace->strings.count ? VALUE_CONSTANT + model_string(x, number) : value;
	}
	return string && (uint64_t)value < x->trace->strings.count ? model_string(x, (uint32_t)value) : value;
}

static int add_word(struct event_source *s, int64_t word)
{
	if (s->word_count == s->word_room) {
		uint64_t room = s->word_room ? 2 * s->word_room : 1 << 16;
		int64_t *more = budget_realloc(s->words, room * sizeof *more);
		if (!more)
			return -1;
		s->words = more;
		s->word_room = room;
	}
	s->words[s->word_count++] = word;
	return 0;
}

static int log_event(struct event_source *s, struct rank_log *l, uint32_t site)
{
	if (!budget_grow(&l->site, l->count, &l->capacity, sizeof *l->site) ||
	    !budget_grow(&l->at, l->count, &l->at_capacity, sizeof *l->at))
		return -1;
	l->site[l->count] = site;
	l->at[l->count++] = s->word_count;
	return 0;
}

static int add_array(struct translation *x, const struct event *e, int64_t value)
{
	const struct pool_item *v = event_vector(x->trace, e, value);
	size_t n = v->size / sizeof(int64_t);
	int rv = add_word(x->source, (int64_t)n);
	for (size_t i = 0; i < n && rv == 0; i++) {
		int64_t element;
		memcpy(&element, v->bytes + i * sizeof element, sizeof element);
		rv = add_word(x->source, model_value(x, element, false));
	}
	return rv;
}

static int log_call(struct translation *x, struct rank_log *l, const struct event *e, struct error *error)
{
	struct event_source *s = x->source;
	if (!x->sites[e->site])
		x->sites[e->site] = model_site(x, &x->trace->sites[e->site], false) + 1;
	if (x->sites[e->site] == 0 || log_event(s, l, x->sites[e->site] - 1) != 0 || add_word(s, e->base) != 0)
		return no_memory(error);
	for (size_t k = 0; k < e->schema->count; k++) {
		const struct schema_column *c = &e->schema->column[k];
		if (e->values[k] == VALUE_LOSSY)
			return error_set(error, "the order of %.*s of %.*s is not known: the trace is lossy",
			                 (int)c->length, c->name, (int)e->schema->function_length, e->schema->function);
		if (c->vector && !value_is_constant(e->values[k])
		            ? add_array(x, e, e->values[k])
		            : add_word(s, model_value(x, e->values[k], c->kind == 's')))
			return no_memory(error);
	}
	return 0;
}

static int add_events(struct translation *x, uint32_t rank, struct rank_log *l, struct error *error)
{
	struct walk *w = NULL;
	struct event e;
	int step = walk_begin(&w, x->trace, rank, error);
	if (step != 0)
		return -1;
	while ((step = walk_next(w, &e, error)) == 0)
		if (log_call(x, l, &e, error) != 0) {
			step = -1;
			break;
		}
	if (step > 0 && walk_unordered(w))
		step = error_set(error, "the order of calls is not known to the end");
	walk_end(w);
	return step < 0 ? -1 : 0;
}

/* The rows of one object table of a rank. */
static int log_table(struct translation *x, uint32_t rank, const struct trace_site *table, struct rank_log *l,
                     struct error *error)
{
	const struct schema *schema = trace_schema(x->trace, table);
	int64_t *values[SCHEMA_MAX] = {NULL};
	char name[64], column[64];
	size_t n = 0, rows = SIZE_MAX;
	uint32_t site = model_site(x, table, true);
	int rv = site == UINT32_MAX ? no_memory(error) : 0;
	snprintf(name, sizeof name, "%.*s", (int)schema->function_length, schema->function);
	for (size_t k = 0; k < schema->count && rv == 0; k++) {
		snprintf(column, sizeof column, "%.*s", (int)schema->column[k].length, schema->column[k].name);
		rv = walk_object(x->trace, rank, name, column, &values[k], &n, error);
		rows = n < rows ? n : rows;
	}
	for (size_t i = 0; i < rows && rows != SIZE_MAX && rv == 0; i++) {
		rv = log_event(x->source, l, site) != 0 || add_word(x->source, 0) != 0 ? no_memory(error) : 0;
		for (size_t k = 0; k < schema->count && rv == 0; k++)
			if (add_word(x->source, model_value(x, values[k][i], schema->column[k].kind == 's')) != 0)
				rv = no_memory(error);
	}
	for (size_t k = 0; k < schema->count; k++)
		budget_free(values[k]);
	return rv;
}

static int add_rank(struct translation *x, uint32_t rank, struct error *error)
{
	struct event_source *s = x->source;
	if (!budget_grow(&s->events, s->logs, &s->events_room, sizeof *s->events) ||
	    !budget_grow(&s->rows, s->logs, &s->rows_room, sizeof *s->rows))
		return no_memory(error);
	struct rank_log *events = &s->events[s->logs], *rows = &s->rows[s->logs++];
	*events = *rows = (struct rank_log){.count = 0};
	for (uint32_t i = 0; i < x->trace->object_count; i++)
		if (log_table(x, rank, &x->trace->objects[i], rows, error) != 0)
			return -1;
	return add_events(x, rank, events, error);
}

static int log_time(struct event_source *s, uint32_t from, uint32_t to, uint32_t ranks, const struct histogram *h)
{
	if (h->count == 0)
		return 0;
	if (!budget_grow(&s->times, s->time_count, &s->time_room, sizeof *s->times))
		return -1;
	s->times[s->time_count++] = (struct duration_seen){from, to, ranks, (double)h->sum / (double)h->count};
	return 0;
}

/* Of the sites that some rank came to. */
static int log_times(struct translation *x)
{
	const struct trace *t = x->trace;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		if (!x->sites[i])
			continue;
		if (log_time(x->source, x->sites[i] - 1, UINT32_MAX, t->size, &s->communicate) != 0)
			return -1;
		for (uint32_t k = 0; k < s->edge_count; k++)
			if (x->sites[s->edges[k].to] &&
			    log_time(x->source, x->sites[i] - 1, x->sites[s->edges[k].to] - 1, t->size,
			             &s->edges[k].compute) != 0)
				return -1;
	}
	return 0;
}

static int source_check(const struct event_source *s, const struct trace *t, struct error *error)
{
	if (!trace_is_final(t))
		return error_set(error, "it lacks ranks, or must be merged first");
	if (stream_threads(t) > 1)
		return error_set(error, "several threads of a rank call MPI: such traces cannot be extrapolated");
	if (s->count && t->size <= s->worlds[s->count - 1].size)
		return error_set(error, "there is another trace of %" PRIu32 " ranks: name one of each size", t->size);
	return 0;
}

int source_add(struct event_source *s, const char *name, const struct trace *t, struct error *error)
{
	struct translation x = {.source = s, .trace = t};
	struct error why = {""};
	int rv = source_check(s, t, &why);
	x.strings = budget_calloc(t->strings.count + UINT64_C(1), sizeof *x.strings);
	x.modules = budget_calloc(t->module_count + UINT64_C(1), sizeof *x.modules);
	x.nodes = budget_calloc(t->node_count + UINT64_C(1), sizeof *x.nodes);
	x.sites = budget_calloc(t->site_count + UINT64_C(1), sizeof *x.sites);
	if (rv == 0 && (!x.strings || !x.modules || !x.nodes || !x.sites ||
	                !budget_grow(&s->worlds, s->count, &s->world_room, sizeof *s->worlds) ||
	                !budget_grow(&s->first, s->count + 1, &s->first_room, sizeof *s->first)))
		rv = no_memory(&why);
	if (rv == 0) {
		s->first[s->count] = s->logs;
		s->worlds[s->count++] = grid_world(t->size);
	}
	for (uint32_t r = 0; r < t->size && rv == 0; r++)
		rv = add_rank(&x, r, &why);
	if (rv == 0 && log_times(&x) != 0)
		rv = no_memory(&why);
	if (rv != 0)
		error_set(error, "%s: %s", name, why.text);
	budget_free(x.strings);
	budget_free(x.modules);
	budget_free(x.nodes);
	budget_free(x.sites);
	return rv;
}

/* Marks the sites that the ranks of a world come to, if those of all worlds before did. */
static void mark_sites(const struct event_source *s, uint32_t world, uint32_t *worlds)
{
	for (uint32_t r = 0; r < s->worlds[world].size; r++) {
		const struct rank_log *l = &s->events[s->first[world] + r];
		for (uint32_t i = 0; i < l->count; i++)
			if (worlds[l->site[i]] == world)
				worlds[l->site[i]]++;
	}
}

double source_common(const struct event_source *s)
{
	uint32_t *worlds = budget_calloc(s->model.site_count + UINT64_C(1), sizeof *worlds);
	double all = 0, common = 0;
	if (!worlds)
		return -1;
	for (uint32_t w = 0; w < s->count; w++)
		mark_sites(s, w, worlds);
	for (uint32_t i = 0; i < s->logs; i++)
		for (uint32_t k = 0; k < s->events[i].count; k++) {
			all++;
			common += worlds[s->events[i].site[k]] == s->count;
		}
	budget_free(worlds);
	return all > 0 ? common / all : 1;
}

void source_free(struct event_source *s)
{
	for (uint32_t i = 0; i < s->logs; i++) {
		budget_free(s->events[i].site);
		budget_free(s->events[i].at);
		budget_free(s->rows[i].site);
		budget_free(s->rows[i].at);
	}
	budget_free(s->events);
	budget_free(s->rows);
	budget_free(s->worlds);
	budget_free(s->first);
	budget_free(s->words);
	budget_free(s->times);
	trace_free(&s->model);
}

uint64_t source_column(const struct event_source *s, const struct schema *schema, uint64_t at, uint32_t column)
{
	at++;
	for (uint32_t k = 0; k < column; k++)
		at += 1 + (schema->column[k].vector ? array_length(s->words[at]) : 0);
	return at;
}
