/* SPDX-License-Identifier: BSD-3-Clause
 * produce - the events of ranks that never ran, recorded as those of others are
 *
 * Each rank has an arena in memory, as in a process. What comes out of it is merged as a binary counter counts, so that
 * each event is merged log2(ranks) times at most.
 */
#include "cmd/extrapolate/produce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/extrapolate/durations.h"
#include "merge/merge.h"
#include "proxy/steps.h"
#include "trace/base/arena.h"
#include "trace/base/budget.h"
#include "trace/record/record.h"

#define ARENA_SIZE  (UINT64_C(256) << 20)
#define EVENTS_MOST (UINT64_C(1) << 28) /* of a rank */

/* A rank that is recorded. */
struct recording {
	struct producing *all;
	struct arena arena;
	struct columns columns;
	struct record *record;
	uint32_t rank;
	ref *sites, *objects; /* of the model */
	uint32_t *model_of;   /* of each site of the record, its number in the model */
	struct site *last;
	struct steps next;
	struct pool vectors;
	int64_t *bases; /* its rank in each communicator */
	uint32_t base_count, base_room;
	int64_t *array;
	uint32_t array_room;
	int failed; /* 1: something has no rule; -1: no memory */
};

/* ---- values ---- */

/* What the rank of the largest run had that is most like this one. */
static int64_t nearest_value(const struct recording *r, const struct slot *slot, const struct point *p,
                             const struct schema *schema, uint32_t column, int64_t element)
{
	const struct event_source *source = r->all->predictions->turns->source;
	const struct slot *s = slot;
	double best = 0;
	uint32_t found = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		double size = source->worlds[s->points[i].world].size, far = 0;
		double ratio = (double)s->points[i].rank / size - (double)p->rank / r->all->world.size;
		far = (ratio < 0 ? -ratio : ratio) + 1 / size;
		for (int v = 0; v < s->points[i].vars; v++) {
			int32_t d = s->points[i].var[v] - p->var[v];
			far += d < 0 ? -d : d;
		}
		if (i == 0 || far < best) {
			best = far;
			found = i;
		}
	}
	if (!schema)
		return s->values[found];
	uint64_t at = source_column(source, schema, (uint64_t)s->values[found], column);
	if (element < 0)
		return source->words[at];
	uint64_t n = array_length(source->words[at]);
	return n == 0 ? 0 : source->words[at + 1 + ((uint64_t)element < n ? (uint64_t)element : n - 1)];
}

static int64_t value_at(struct recording *r, const struct slot *slot, const struct prediction *what,
                        const struct point *p, int64_t base, uint32_t column, int64_t element)
{
	const struct schema *schema = slot_schema(r->all->predictions->turns, slot);
	int64_t value = what->constant;
	if (!what->failed && (!what->rule || rule_value(what->rule, &r->all->world, p, base, &value)))
		return value;
	if (!r->all->nearest) {
		char text[64];
		snprintf(text, sizeof text, "rank %u of %u", p->rank, r->all->world.size);
		if (!what->failed && predictions_miss(r->all->predictions, slot, column, true, text) != 0)
			r->failed = -1;
		r->failed = r->failed ? r->failed : 1;
		return 0;
	}
	r->all->guessed++;
	return nearest_value(r, slot, p, schema, column, element);
}

static int64_t array_at(struct recording *r, const struct slot *slot, const struct column_prediction *c,
                        const struct point *p, int64_t base, uint32_t column)
{
	int64_t n = value_at(r, slot, &c->value, p, base, column, -1);
	if (value_is_constant(n))
		return n;
	n = n < 0 || (n > 0 && !c->count) ? 0 : n;
	if (n > (INT64_C(1) << 24)) {
		r->failed = -1;
		return 0;
	}
	if ((uint64_t)n > r->array_room) {
		int64_t *more = budget_realloc(r->array, (size_t)n * sizeof *more);
		if (!more) {
			r->failed = -1;
			return 0;
		}
		r->array = more;
		r->array_room = (uint32_t)n;
	}
	for (int64_t e = 0; e < n; e++) {
		struct point in = *p;
		if (c->listed && in.vars < POINT_VARS)
			in.var[in.vars++] = (int32_t)e;
		const struct prediction *what = &c->elements[c->listed                ? 0
		                                             : (uint64_t)e < c->count ? (uint64_t)e
		                                                                      : c->count - 1];
		r->array[e] = value_at(r, slot, what, &in, base, column, e);
	}
	uint32_t before = r->vectors.count, number = pool_intern(&r->vectors, r->array, (size_t)n * sizeof *r->array);
	if (number == UINT32_MAX ||
	    (number == before && record_add_vector(&r->arena, r->record, r->array, (size_t)n) == UINT32_MAX))
		r->failed = -1;
	return number;
}

/* ---- what a process would record ---- */

static ref site_new(struct recording *r, uint32_t number, bool object)
{
	const struct trace *model = &r->all->predictions->turns->source->model;
	const struct trace_site *from = object ? &model->objects[number] : &model->sites[number];
	const struct pool_item *schema = &model->strings.items[model->functions[from->function].string];
	ref at = record_new_site(&r->arena, from->function, from->node, (uint32_t)trace_schema(model, from)->count);
	if (!at)
		return 0;
	struct site *s = arena_at(&r->arena, struct site, at);
	struct table *table = object ? &r->record->objects : &r->record->sites;
	record_set_roles(s, (const char *)schema->bytes, schema->size);
	if (!object) {
		s->id = table->count;
		r->model_of[s->id] = number;
	}
	return table_add(&r->arena, table, &at, sizeof at) == UINT32_MAX ? 0 : at;
}

static struct site *site_at(struct recording *r, uint32_t number, bool object)
{
	ref *at = object ? &r->objects[number] : &r->sites[number];
	if (!*at)
		*at = site_new(r, number, object);
	if (!*at)
		r->failed = -1;
	return *at ? arena_at(&r->arena, struct site, *at) : NULL;
}

/* As trace/read/walk.c has it. */
static int64_t event_base(const struct recording *r, const struct schema *schema, const int64_t *values)
{
	const struct trace *model = &r->all->predictions->turns->source->model;
	for (size_t k = 0; k < schema->count; k++) {
		if (schema->column[k].kind != 'c' || schema->column[k].vector)
			continue;
		if (value_is_constant(values[k]))
			return trace_is_constant(model, values[k], CONST_MPI_COMM_WORLD) ? r->rank : 0;
		return (uint64_t)values[k] < r->base_count ? r->bases[values[k]] : 0;
	}
	return r->rank;
}

/* The values of a visit or a row. */
static void put_values(struct recording *r, struct site *s, const struct slot *slot, const struct point *p)
{
	const struct predictions *all = r->all->predictions;
	const struct slot_prediction *columns = &all->slots[slot - all->turns->slots];
	const struct schema *schema = slot_schema(all->turns, slot);
	int64_t values[SCHEMA_MAX], base = 0;
	for (int peers = 0; peers < 2; peers++) {
		for (uint32_t k = 0; k < columns->count && !r->failed; k++) {
			const struct schema_column *c = &schema->column[k];
			if ((c->kind == 'p') != peers)
				continue;
			values[k] = c->vector ? array_at(r, slot, &columns->columns[k], p, base, k)
			                      : value_at(r, slot, &columns->columns[k].value, p, base, k, -1);
		}
		if (!r->failed)
			base = event_base(r, schema, values);
	}
	for (uint32_t k = 0; k < columns->count && !r->failed; k++)
		cell_put(&r->columns, &s->column[k], s->visits, values[k]);
}

static void put_event(struct recording *r, uint32_t number, const struct slot *slot, const struct point *p)
{
	struct site *s = site_at(r, number, false);
	if (!s)
		return;
	put_values(r, s, slot, p);
	if (r->last && steps_add(&r->next, r->last->id, s->id, 1) != 0)
		r->failed = -1;
	if (r->last)
		cell_put(&r->columns, &r->last->successor, r->last->visits - 1, s->id);
	else
		r->record->first = s->id + 1;
	r->last = s;
	r->record->at.last = s->id + 1;
	s->visits++;
	if (++r->record->events > EVENTS_MOST || r->columns.failed || !budget_step(1))
		r->failed = -1;
}

/* ---- the turns of a rank ---- */

static void make_turn(struct recording *r, uint32_t node, const struct turns_at *at);

static struct point point_at(const struct recording *r, const struct turns_at *at)
{
	struct point p = {.rank = r->rank, .vars = at->vars};
	memcpy(p.var, at->var, sizeof p.var);
	return p;
}

static int64_t number_of_turn(struct recording *r, const struct slot *slot, const struct turns_at *at)
{
	const struct predictions *all = r->all->predictions;
	struct point p = point_at(r, at);
	return value_at(r, slot, &all->slots[slot - all->turns->slots].columns[0].value, &p, 0, 0, -1);
}

static void make_child(struct recording *r, uint32_t node, const struct turns_at *at)
{
	const struct turns *t = r->all->predictions->turns;
	const struct slot *times = turns_slot(t, SLOT_TIMES, node, at);
	int64_t n = times ? number_of_turn(r, times, at) : 0;
	for (int64_t i = 0; i < n && !r->failed; i++) {
		struct turns_at in = *at;
		turns_enter(t, &in, node, (uint32_t)i);
		if (node >= t->nest.sites) {
			make_turn(r, node, &in);
			continue;
		}
		const struct slot *slot = turns_slot(t, SLOT_VISIT, node, &in);
		struct point p = point_at(r, &in);
		if (slot)
			put_event(r, t->site_of[node], slot, &p);
	}
}

static void make_turn(struct recording *r, uint32_t node, const struct turns_at *at)
{
	const struct turns *t = r->all->predictions->turns;
	const struct nest_node *nodes = t->nest.nodes;
	const struct slot *choice = nodes[node].any_order ? turns_slot(t, SLOT_CHOICE, node, at) : NULL;
	int64_t place = choice ? number_of_turn(r, choice, at) : 0;
	for (uint32_t c = nodes[node].first; c != NEST_NONE && !r->failed; c = nodes[c].next)
		if (!nodes[node].any_order || (choice && nodes[c].place == place))
			make_child(r, c, at);
}

static void make_tables(struct recording *r)
{
	const struct predictions *all = r->all->predictions;
	const struct trace *model = &all->turns->source->model;
	for (uint32_t o = 0; o < model->object_count && !r->failed; o++) {
		const struct schema *schema = trace_schema(model, &model->objects[o]);
		bool comms = schema->function_length == 5 && !memcmp(schema->function, "@comm", 5);
		int rank = schema_column(schema, "rank");
		struct turns_at at = {.fixed = 0};
		for (const struct slot *slot; !r->failed && (slot = turns_slot(all->turns, SLOT_ROW, o, &at));
		     at.fixed++) {
			struct site *s = site_at(r, o, true);
			struct point p = point_at(r, &at);
			if (!s)
				return;
			if (comms && rank >= 0) {
				int64_t relative =
					value_at(r, slot, &all->slots[slot - all->turns->slots].columns[rank].value, &p,
				                 0, (uint32_t)rank, -1);
				if (!budget_grow(&r->bases, r->base_count, &r->base_room, sizeof *r->bases))
					r->failed = -1;
				else
					r->bases[r->base_count++] =
						value_is_constant(relative) ? 0 : relative + r->rank;
			}
			put_values(r, s, slot, &p);
			s->visits++;
		}
	}
}

/* ---- the arena ---- */

static int copy_model(struct recording *r, const struct trace *model)
{
	struct arena *a = &r->arena;
	struct record *to = r->record;
	for (uint32_t i = 1; i < model->strings.count; i++)
		if (record_add_string(a, to, model->strings.items[i].bytes, model->strings.items[i].size) != i)
			return -1;
	to->host = record_add_string(a, to, PRODUCE_HOST, strlen(PRODUCE_HOST));
	for (uint32_t i = 0; i < model->module_count; i++) {
		struct record_module m = {model->modules[i].name, model->modules[i].build_id};
		if (table_add(a, &to->modules, &m, sizeof m) != i)
			return -1;
	}
	for (uint32_t i = 1; i < model->node_count; i++) {
		struct record_node n = {model->nodes[i].parent, model->nodes[i].module, model->nodes[i].offset};
		if (table_add(a, &to->nodes, &n, sizeof n) != i)
			return -1;
	}
	for (uint32_t i = 0; i < model->function_count; i++)
		if (table_add(a, &to->functions, &model->functions[i].string, sizeof(uint32_t)) != i)
			return -1;
	return to->host == UINT32_MAX ? -1 : 0;
}

static int recording_begin(struct recording *r, struct error *error)
{
	const struct trace *model = &r->all->predictions->turns->source->model;
	if (arena_create(&r->arena, NULL, ARENA_SIZE, error) != 0)
		return -1;
	r->sites = budget_calloc(model->site_count + UINT64_C(1), sizeof *r->sites);
	r->model_of = budget_calloc(model->site_count + UINT64_C(1), sizeof *r->model_of);
	r->objects = budget_calloc(model->object_count + UINT64_C(1), sizeof *r->objects);
	r->record = record_create(&r->arena);
	if (columns_init(&r->columns, &r->arena) != 0 || !r->sites || !r->model_of || !r->objects || !r->record ||
	    copy_model(r, model) != 0)
		return error_set(error, "no memory");
	r->columns.record = r->record;
	r->record->rank = r->rank;
	r->record->size = r->all->world.size;
	r->record->state = RECORD_FINALIZED;
	r->record->bins = model->bins;
	return 0;
}

static void recording_end(struct recording *r)
{
	columns_free(&r->columns);
	pool_free(&r->vectors);
	steps_free(&r->next);
	budget_free(r->sites);
	budget_free(r->model_of);
	budget_free(r->objects);
	budget_free(r->bases);
	budget_free(r->array);
	if (r->arena.base)
		arena_close(&r->arena);
}

/* Returns 0; 1: something has no rule; -1. */
static int produce_rank(struct producing *x, uint32_t rank, struct trace *out, struct error *error)
{
	struct recording r = {.all = x, .rank = rank};
	const struct turns_at begin = {.fixed = 0};
	int rv = recording_begin(&r, error);
	if (rv == 0) {
		make_tables(&r);
		if (!r.failed)
			make_turn(&r, x->predictions->turns->nest.sites, &begin);
		rv = r.failed < 0 ? error_set(error, "rank %u: no memory", rank) : r.failed;
	}
	if (rv == 0)
		rv = trace_extract(out, &r.arena, error);
	if (rv == 0 && x->durations)
		rv = durations_put(x->durations, out, rank, r.model_of, &r.next, error);
	recording_end(&r);
	return rv;
}

/* parts[k]: of 2^k ranks that follow each other. */
static int take_part(struct trace *parts[32], struct trace *t, struct error *error)
{
	for (int i = 0; i < 32; i++) {
		if (!parts[i]) {
			parts[i] = t;
			return 0;
		}
		int rv = merge_take(parts[i], t, error);
		trace_free(t);
		free(t);
		if (rv != 0)
			return -1;
		t = parts[i];
		parts[i] = NULL;
	}
	return error_set(error, "too many ranks");
}

static int unite_parts(struct trace *parts[32], struct trace *out, struct error *error)
{
	struct trace *all = NULL;
	int rv = 0;
	for (int i = 0; i < 32; i++) {
		if (!parts[i])
			continue;
		if (all) {
			rv = rv == 0 ? merge_take(parts[i], all, error) : rv;
			trace_free(all);
			free(all);
		}
		all = parts[i];
	}
	if (all) {
		*out = *all;
		free(all);
	}
	return rv;
}

int produce_trace(struct producing *x, struct trace *out, struct error *error)
{
	struct trace *parts[32] = {NULL};
	int rv = 0, missing = 0;
	*out = (struct trace){.size = 0};
	for (uint32_t rank = 0; rank < x->world.size && rv >= 0; rank++) {
		struct trace *t = calloc(1, sizeof *t);
		rv = t ? produce_rank(x, rank, t, error) : error_set(error, "no memory");
		missing |= rv > 0;
		if (rv == 0 && !missing) {
			rv = take_part(parts, t, error);
			continue;
		}
		if (t)
			trace_free(t);
		free(t);
	}
	int joined = unite_parts(parts, out, error);
	return rv < 0 || joined < 0 ? -1 : missing;
}
