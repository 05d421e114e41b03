/* SPDX-License-Identifier: BSD-3-Clause
 * predict - a rule for everything that was seen in the turns of the program
 *
 * Many places have the same values at the same points: the turns of the time steps. A rule is looked for once, and
 * found again by a hash of points and values.
 */
#include "cmd/extrapolate/predict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

#define ELEMENTS_MOST 4096 /* of arrays whose elements have rules of their own */

/* Values at points, as rule_fit takes them. */
struct seen {
	struct point *points;
	int64_t *values, *base;
	size_t count;
};

static int seen_room(struct seen *s, size_t n)
{
	s->points = budget_malloc((n + 1) * sizeof *s->points);
	s->values = budget_malloc((n + 1) * sizeof *s->values);
	s->base = budget_malloc((n + 1) * sizeof *s->base);
	return s->points && s->values && s->base ? 0 : -1;
}

static void seen_free(struct seen *s)
{
	budget_free(s->points);
	budget_free(s->values);
	budget_free(s->base);
}

const struct schema *slot_schema(const struct turns *t, const struct slot *s)
{
	const struct trace *model = &t->source->model;
	return s->kind == SLOT_VISIT ? trace_schema(model, &model->sites[t->site_of[s->node]])
	       : s->kind == SLOT_ROW ? trace_schema(model, &model->objects[s->node])
	                             : NULL;
}

int predictions_miss(struct predictions *p, const struct slot *s, uint32_t column, bool there, const char *values)
{
	for (uint32_t i = 0; i < p->missing_count; i++) {
		struct unpredicted *m = &p->missing[i];
		if (m->kind == s->kind && m->node == s->node && m->column == column && m->there == there) {
			m->times++;
			return 0;
		}
	}
	if (!budget_grow(&p->missing, p->missing_count, &p->missing_room, sizeof *p->missing))
		return -1;
	struct unpredicted *m = &p->missing[p->missing_count++];
	*m = (struct unpredicted){.node = s->node, .kind = s->kind, .column = column, .there = there, .times = 1};
	snprintf(m->values, sizeof m->values, "%s", values);
	return 0;
}

/* "4 ranks: 16 20; 16 ranks: 16 18 20 ..." */
static void tell_values(const struct predictions *p, const struct seen *s, char *out, size_t size)
{
	enum { EACH = 3 };
	size_t n = 0;
	out[0] = '\0';
	for (uint32_t w = 0; w < p->turns->source->count; w++) {
		int64_t told[EACH];
		int count = 0;
		for (size_t i = 0; i < s->count && n + 48 < size; i++) {
			bool again = s->points[i].world != w || value_is_constant(s->values[i]);
			for (int k = 0; k < count && k < EACH; k++)
				again |= told[k] == s->values[i];
			if (again || count > EACH)
				continue;
			if (count == 0)
				n += (size_t)snprintf(out + n, size - n, "%s%" PRIu32 " ranks:", n ? "; " : "",
				                      p->turns->source->worlds[w].size);
			n += count == EACH ? (size_t)snprintf(out + n, size - n, " ...")
			                   : (size_t)snprintf(out + n, size - n, " %" PRId64, s->values[i]);
			if (count < EACH)
				told[count] = s->values[i];
			count++;
		}
	}
}

struct known_looked {
	const uint64_t *keys;
	uint64_t key;
};

static bool is_found_before(const void *context, uint32_t item)
{
	const struct known_looked *l = context;
	return l->keys[item] == l->key;
}

static uint64_t seen_key(const struct seen *s, enum rule_kind kind)
{
	uint64_t h = kind + 1;
	for (size_t i = 0; i < s->count; i++) {
		const struct point *p = &s->points[i];
		h = hash_mix(h, (uint64_t)p->world << 32 | p->rank);
		h = hash_mix(h, (uint64_t)s->values[i]);
		h = hash_mix(h, kind == RULE_PEER ? (uint64_t)s->base[i] : 0);
		for (int v = 0; v < p->vars; v++)
			h = hash_mix(h, (uint64_t)p->var[v] + 1);
	}
	return h;
}

static int keep_found(struct predictions *p, uint64_t key, struct prediction found)
{
	if (!budget_grow(&p->known, p->known_count, &p->known_room, sizeof *p->known) ||
	    !budget_grow(&p->keys, p->known_count, &p->keys_room, sizeof *p->keys) ||
	    index_add(&p->index, key, p->known_count) != 0)
		return -1;
	p->known[p->known_count] = found;
	p->keys[p->known_count++] = key;
	return 0;
}

/* Returns 0; or -1: no memory. */
static int predict(struct predictions *p, struct prediction *out, const struct seen *s, enum rule_kind kind)
{
	bool same = true, failed = false, sizes = false;
	*out = (struct prediction){.constant = s->count ? s->values[0] : 0};
	for (size_t i = 1; i < s->count; i++) {
		same &= s->values[i] == s->values[0];
		sizes |= s->points[i].world != s->points[0].world;
	}
	/* the distance to another rank that is the same at one size may be another one at the next */
	if (same && (s->count < 2 || sizes || kind != RULE_PEER || value_is_constant(out->constant)))
		return 0;
	uint64_t key = seen_key(s, kind);
	struct known_looked looked = {p->keys, key};
	uint32_t i = index_find(&p->index, key, is_found_before, &looked);
	if (i != INDEX_NONE) {
		*out = p->known[i];
		return 0;
	}
	out->rule = rule_fit(p->turns->source->worlds, p->grid, s->points, s->values, s->base, s->count, kind, &failed);
	out->failed = !out->rule;
	return failed || keep_found(p, key, *out) != 0 ? -1 : 0;
}

/* As predict; what has no rule is noted. */
static int predict_column(struct predictions *p, struct prediction *out, const struct slot *slot, uint32_t column,
                          const struct seen *s, enum rule_kind kind)
{
	char values[160];
	if (predict(p, out, s, kind) != 0)
		return -1;
	if (!out->failed)
		return 0;
	tell_values(p, s, values, sizeof values);
	return predictions_miss(p, slot, column, false, values);
}

static enum rule_kind value_kind(const struct schema_column *c)
{
	return c->kind == 'p' ? RULE_PEER : c->kind == 's' ? RULE_LABEL : RULE_NUMBER;
}

/* Element `e` of all arrays that have one; e: UINT64_MAX: all elements, whose number is the last turn. Returns how many
 * there are; the room is for all. */
static void collect_elements(const struct predictions *p, const struct slot *slot, const struct schema *schema,
                             uint32_t column, uint64_t e, struct seen *s)
{
	const struct event_source *source = p->turns->source;
	s->count = 0;
	for (uint32_t i = 0; i < slot->count; i++) {
		uint64_t event = (uint64_t)slot->values[i], at = source_column(source, schema, event, column),
			 n = array_length(source->words[at]);
		uint64_t from = e == UINT64_MAX ? 0 : e, to = e == UINT64_MAX ? n : e + 1;
		for (uint64_t k = from; k < to && k < n; k++) {
			s->points[s->count] = slot->points[i];
			if (e == UINT64_MAX && slot->points[i].vars < POINT_VARS)
				s->points[s->count].var[s->points[s->count].vars++] = (int32_t)k;
			s->base[s->count] = source->words[event];
			s->values[s->count++] = source->words[at + 1 + k];
		}
	}
}

static int predict_elements(struct predictions *p, const struct slot *slot, const struct schema *schema,
                            uint32_t column, struct column_prediction *out)
{
	const struct event_source *source = p->turns->source;
	uint64_t most = 0, least = UINT64_MAX, all = 0;
	struct seen s = {.count = 0};
	for (uint32_t i = 0; i < slot->count; i++) {
		int64_t length = source->words[source_column(source, schema, (uint64_t)slot->values[i], column)];
		uint64_t n = array_length(length);
		if (value_is_constant(length))
			continue;
		most = n > most ? n : most;
		least = n < least ? n : least;
		all += n;
	}
	if (all == 0)
		return 0;
	out->listed = most != least || most > ELEMENTS_MOST;
	out->count = out->listed ? 1 : (uint32_t)most;
	out->elements = calloc(out->count, sizeof *out->elements);
	int rv = out->elements && seen_room(&s, out->listed ? all : slot->count) == 0 ? 0 : -1;
	for (uint32_t e = 0; e < out->count && rv == 0; e++) {
		collect_elements(p, slot, schema, column, out->listed ? UINT64_MAX : e, &s);
		rv = predict_column(p, &out->elements[e], slot, column, &s, value_kind(&schema->column[column]));
	}
	seen_free(&s);
	return rv;
}

static int predict_slot(struct predictions *p, uint32_t number)
{
	const struct turns *t = p->turns;
	const struct slot *slot = &t->slots[number];
	const struct schema *schema = slot_schema(t, slot);
	struct slot_prediction *out = &p->slots[number];
	struct seen s = {.count = 0};
	out->count = schema ? (uint32_t)schema->count : 1;
	out->columns = calloc(out->count + UINT64_C(1), sizeof *out->columns);
	int rv = out->columns && seen_room(&s, slot->count) == 0 ? 0 : -1;
	if (rv == 0)
		memcpy(s.points, slot->points, slot->count * sizeof *s.points);
	s.count = slot->count;
	for (uint32_t k = 0; k < out->count && rv == 0; k++) {
		bool array = schema && schema->column[k].vector;
		for (uint32_t i = 0; i < slot->count; i++) {
			uint64_t event = (uint64_t)slot->values[i];
			s.values[i] =
				schema ? t->source->words[source_column(t->source, schema, event, k)] : slot->values[i];
			s.base[i] = schema ? t->source->words[event] : 0;
		}
		rv = predict_column(p, &out->columns[k].value, slot, k, &s,
		                    schema && !array ? value_kind(&schema->column[k]) : RULE_NUMBER);
		if (rv == 0 && array)
			rv = predict_elements(p, slot, schema, k, &out->columns[k]);
	}
	seen_free(&s);
	return rv;
}

/* ---- the grid that the program makes ---- */

static int dims_column(const struct turns *t, const struct slot *s)
{
	const struct schema *schema = s->kind == SLOT_VISIT ? slot_schema(t, s) : NULL;
	if (!schema || (strncmp(schema->function, "MPI_Cart_create ", 16) != 0 &&
	                strncmp(schema->function, "MPI_Dims_create ", 16) != 0))
		return -1;
	return schema_column(schema, "dims");
}

/* Are the dims of a slot those of this grid at all points? */
static bool is_grid(const struct turns *t, const struct slot *s, int column, unsigned grid)
{
	const struct event_source *source = t->source;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct grid *g = &source->worlds[s->points[i].world].grid[grid];
		uint64_t at = source_column(source, slot_schema(t, s), (uint64_t)s->values[i], (uint32_t)column);
		if (source->words[at] != g->dims)
			return false;
		for (int k = 0; k < g->dims; k++)
			if (source->words[at + 1 + (uint64_t)k] != g->extent[k])
				return false;
	}
	return true;
}

/* GRIDS: none. */
static unsigned grid_of(const struct turns *t, const struct slot *s, int column)
{
	unsigned grid = 0;
	while (grid < GRIDS && !is_grid(t, s, column, grid))
		grid++;
	return grid;
}

static unsigned find_grid(const struct turns *t)
{
	for (uint32_t i = 0; i < t->slot_count; i++) {
		int column = dims_column(t, &t->slots[i]);
		unsigned grid = column < 0 ? GRIDS : grid_of(t, &t->slots[i], column);
		if (grid < GRIDS)
			return grid;
	}
	return 0;
}

/* The dims that a program makes are those of the grid, even where an extent was always the same. */
static int predict_dims(struct predictions *p, uint32_t number)
{
	const struct slot *slot = &p->turns->slots[number];
	int column = dims_column(p->turns, slot);
	unsigned grid = column < 0 ? GRIDS : grid_of(p->turns, slot, column);
	struct column_prediction *c = grid < GRIDS ? &p->slots[number].columns[column] : NULL;
	for (uint32_t k = 0; c && !c->listed && k < c->count; k++) {
		c->elements[k] = (struct prediction){.rule = rule_extent(grid, (int)k)};
		if (!c->elements[k].rule || keep_found(p, hash_four(grid, k, number, 1), c->elements[k]) != 0)
			return -1;
	}
	return 0;
}

int predictions_fix(struct predictions *p, struct turns *turns, struct error *error)
{
	uint32_t n = turns->nest.count;
	int fixed = 0;
	*p = (struct predictions){.turns = turns, .grid = find_grid(turns)};
	bool *differs = budget_calloc(n, sizeof *differs);
	int rv = differs ? 0 : -1;
	for (uint32_t i = 0; i < turns->slot_count && rv == 0; i++) {
		const struct slot *slot = &turns->slots[i];
		struct seen s = {.count = slot->count, .points = slot->points, .values = slot->values};
		struct prediction found;
		if (slot->kind != SLOT_TIMES || turns->fixed[slot->node] || differs[slot->node])
			continue;
		s.base = budget_calloc(slot->count + UINT64_C(1), sizeof *s.base);
		rv = s.base ? predict(p, &found, &s, RULE_NUMBER) : -1;
		differs[slot->node] |= rv == 0 && (found.failed || (found.rule && !rule_is_grouped(found.rule)));
		budget_free(s.base);
	}
	for (uint32_t i = 0; i < n && rv == 0; i++)
		if (!turns->fixed[i] && !differs[i]) {
			turns->fixed[i] = true;
			fixed++;
		}
	budget_free(differs);
	predictions_free(p);
	*p = (struct predictions){.turns = NULL};
	return rv == 0 ? fixed : error_set(error, "no memory");
}

int predictions_make(struct predictions *p, const struct turns *turns, struct error *error)
{
	*p = (struct predictions){.turns = turns, .grid = find_grid(turns)};
	p->slots = budget_calloc(turns->slot_count + UINT64_C(1), sizeof *p->slots);
	int rv = p->slots ? 0 : -1;
	for (uint32_t i = 0; i < turns->slot_count && rv == 0; i++)
		rv = predict_slot(p, i) != 0 || predict_dims(p, i) != 0 ? -1 : 0;
	return rv == 0 ? 0 : error_set(error, "no memory");
}

void predictions_free(struct predictions *p)
{
	for (uint32_t i = 0; p->slots && i < p->turns->slot_count; i++) {
		for (uint32_t k = 0; p->slots[i].columns && k < p->slots[i].count; k++)
			free(p->slots[i].columns[k].elements);
		free(p->slots[i].columns);
	}
	for (uint32_t i = 0; i < p->known_count; i++)
		free(p->known[i].rule);
	budget_free(p->slots);
	budget_free(p->known);
	budget_free(p->keys);
	budget_free(p->missing);
	index_free(&p->index);
}
