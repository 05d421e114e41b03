/* SPDX-License-Identifier: BSD-3-Clause
 * record - what one rank's recorder keeps in its arena
 */
#include "trace/record/record.h"

#include <string.h>

#include "trace/model/schema.h"
#include "trace/record/brief.h"
#include "trace/record/record_class.h"

uint32_t table_add(struct arena *a, struct table *t, const void *element, size_t size)
{
	if ((t->count + UINT64_C(1)) * size > t->capacity) {
		uint64_t capacity;
		ref more = arena_alloc_block(a, (t->count + UINT64_C(1)) * size, &capacity);
		if (!more) {
			arena_commit(a);
			return UINT32_MAX;
		}
		if (t->count)
			memcpy(a->base + more, a->base + t->at, t->count * size);
		if (t->at)
			arena_free_block(a, t->at, t->capacity);
		arena_set(a, t->at, more);
		arena_set(a, t->capacity, capacity);
		arena_commit(a);
	}
	memcpy(table_at(a, t, t->count, size), element, size);
	arena_barrier();
	return t->count++;
}

struct record *record_create(struct arena *a)
{
	ref r = arena_alloc(a, sizeof(struct record));
	arena_commit(a);
	if (!r)
		return NULL;
	struct record *record = arena_at(a, struct record, r);
	record->threshold = UINT64_MAX;
	struct record_node root = {.parent = 0, .module = UINT32_MAX};
	if (record_add_string(a, record, "", 0) != 0 || table_add(a, &record->nodes, &root, sizeof root) != 0)
		return NULL;
	arena_barrier();
	a->header->root = r;
	return record;
}

uint32_t record_add_string(struct arena *a, struct record *r, const void *bytes, size_t n)
{
	ref at = n < UINT32_MAX ? arena_alloc(a, sizeof(struct record_string) + n) : 0;
	arena_commit(a);
	if (!at)
		return UINT32_MAX;
	struct record_string *s = arena_at(a, struct record_string, at);
	s->length = (uint32_t)n;
	memcpy(s->bytes, bytes, n);
	return table_add(a, &r->strings, &at, sizeof at);
}

uint32_t record_add_vector(struct arena *a, struct record *r, const int64_t *values, size_t n)
{
	ref at = n < UINT32_MAX ? arena_alloc(a, sizeof(struct record_vector) + n * sizeof *values) : 0;
	arena_commit(a);
	if (!at)
		return UINT32_MAX;
	struct record_vector *v = arena_at(a, struct record_vector, at);
	v->count = (uint32_t)n;
	if (n)
		memcpy(v->values, values, n * sizeof *values);
	return table_add(a, &r->vectors, &at, sizeof at);
}

struct time_none record_no_times(const struct arena *a)
{
	return (struct time_none){a->header->root + (ref)offsetof(struct record, never),
	                          a->header->root + (ref)offsetof(struct record, poor)};
}

ref record_new_site(struct arena *a, uint32_t function, uint32_t path, uint32_t columns)
{
	ref at = arena_alloc(a, sizeof(struct site) + columns * sizeof(struct cell));
	arena_commit(a);
	if (!at)
		return 0;
	struct site *s = arena_at(a, struct site, at);
	s->function = function;
	s->path = path;
	s->id = UINT32_MAX;
	s->columns = columns;
	s->last_edge = arena_at(a, struct record_edge, 0);
	time_cell_init(a, &s->communicate, record_no_times(a));
	cell_init(&s->successor);
	for (uint32_t i = 0; i < columns; i++)
		cell_init(&s->column[i]);
	s->successor.role = ROLE_NEXT | ROLE_EXACT;
	return at;
}

ref record_new_edge(struct arena *a, uint32_t from, uint32_t to)
{
	ref at = arena_alloc(a, sizeof(struct record_edge));
	arena_commit(a);
	if (!at)
		return 0;
	struct record_edge *e = arena_at(a, struct record_edge, at);
	e->from = from;
	e->to = to;
	time_cell_init(a, &e->compute, record_no_times(a));
	return at;
}

/* Those of the edges of a site. */
static void each_class_column(struct arena *a, const struct site *s, record_take *take, void *context)
{
	for (ref at = s->edges; at; at = arena_at(a, struct record_edge, at)->next) {
		const struct record_edge *e = arena_at(a, struct record_edge, at);
		ref classes = record_edge_classes(e, record_no_times(a));
		if (classes)
			take(context, &arena_at(a, struct record_classes, classes)->column, e->compute.few[0]);
	}
}

void record_each_column(struct arena *a, struct record *r, record_take *take, void *context)
{
	for (uint32_t i = 0; i < r->sites.count; i++) {
		struct site *s = brief_not(a, r, i);
		for (uint32_t k = 0; s && k < s->columns; k++)
			take(context, &s->column[k], s->visits);
		if (s)
			take(context, &s->successor, s->visits - (i + 1 == r->at.last && s->visits > 0));
		if (s)
			each_class_column(a, s, take, context);
	}
}

void record_times_empty(struct arena *a, struct record *r)
{
	for (uint32_t i = 0; i < r->sites.count; i++) {
		struct site *s = brief_not(a, r, i);
		if (!s || s->visits < TIME_FULL / TIME_ONE)
			continue; /* no word has counted more than that */
		record_time_empty(a, s->communicate.at);
		for (ref e = s->edges; e; e = arena_at(a, struct record_edge, e)->next)
			record_edge_empty(a, arena_at(a, struct record_edge, e));
	}
}

void record_set_roles(struct site *s, const char *schema, size_t n)
{
	static const enum column_role roles[] = {
		[REFERENCE_NONE] = ROLE_VALUE, [REFERENCE_STRING] = ROLE_STRING, [REFERENCE_VECTOR] = ROLE_VECTOR};
	struct schema parsed;
	if (schema_parse(&parsed, schema, n) != 0)
		return;
	for (uint32_t i = 0; i < s->columns && i < parsed.count; i++)
		s->column[i].role =
			(uint16_t)(roles[schema_reference(&parsed, i)] | (schema_exact(&parsed, i) ? ROLE_EXACT : 0));
}
