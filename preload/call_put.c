/* SPDX-License-Identifier: BSD-3-Clause
 * call_put - the puts of call.h, where a value is not the one that its column expects
 */
#include "preload/call.h"

#include <string.h>

#include "preload/site.h"
#include "preload/stand_in.h"
#include "preload/pool.h"
#include "trace/record/lossy.h"

bool call_buffers;
uint64_t call_generation;

static void call_is_lost(struct call *c, bool lost)
{
	c->start |= lost ? CALL_SLOWLY : 0;
}

static __attribute__((noinline)) void put_by_column(struct call *c, struct cell *cell, int64_t value, int64_t raw)
{
	struct columns *x = &c->rec->columns;
	if (!cell->looping && cell_put_raw(x, cell, c->site->visits, value))
		return;
	if (value != cell->expect) {
		cell_turn(x, cell, c->site->visits, value);
		call_is_lost(c, x->failed);
	}
	/* what outputs and unknown handles of a failed call are does not follow from their raws */
	cell_remember(cell, value, c->failed ? VALUE_NONE : raw);
}

/* What happens most is done here, and calls nothing. */
void call_put_other(struct call *c, int64_t value, int64_t raw)
{
	struct cell *cell = c->next++;
	if (!cell->looping && cell_wait(c->rec->arena.base, cell, c->site->visits, value))
		return;
	if (value != cell->expect && !c->failed && cell_step(&c->rec->columns, cell, c->site->visits, value))
		cell->raw = raw;
	else
		put_by_column(c, cell, value, raw);
}

static const struct record_vector *vector_of(const struct call *c, int64_t value)
{
	return value >= 0 && value < c->rec->record->vectors.count ? pool_vector_at(c->rec, (uint32_t)value) : NULL;
}

const int64_t *call_expected_slowly(const struct call *c, const struct cell *cell, size_t n)
{
	const struct columns *x = &c->rec->columns;
	if (cell_is_lossy(x, cell))
		return NULL;
	const struct record_vector *v = vector_of(c, cell_predict(x, cell, c->site->visits));
	return v && v->count == n ? v->values : NULL;
}

void call_put_expected_slowly(struct call *c, struct cell *cell)
{
	int64_t value = cell_predict(&c->rec->columns, cell, c->site->visits);
	struct cell *next = c->next;
	c->next = cell;
	call_put_other(c, value, (int64_t)(intptr_t)vector_of(c, value));
	c->next = next;
}

static void put_vector(struct call *c, uint32_t i)
{
	call_put_raw(c, i, (int64_t)(intptr_t)pool_vector_at(c->rec, i));
}

void call_put_vector(struct call *c, const int64_t *values, size_t n)
{
	struct recorder *r = c->rec;
	if ((c->next->role & ROLE_KINDS) == ROLE_VECTOR && cell_is_lossy(&r->columns, c->next)) {
		cell_put_vector(&r->columns, c->next++, c->site->visits, values, n);
		return;
	}
	const bool vectors = (c->next->role & ROLE_KINDS) == ROLE_VECTOR;
	const uint32_t known = r->record->vectors.count;
	if (vectors && cell_put_edits(&r->columns, c->next, c->site->visits, values, n, false)) {
		c->next++;
		return;
	}
	uint32_t i = pool_vector(r, values, n);
	if (vectors && i != UINT32_MAX && i >= known &&
	    cell_put_edits(&r->columns, c->next, c->site->visits, values, n, true)) {
		c->next++;
		return;
	}
	if (i != UINT32_MAX) {
		put_vector(c, i);
		return;
	}
	if (stand_in_is(r, c->site)) {
		uint32_t column = (uint32_t)(c->next - c->site->column);
		struct site *s = stand_in_leave(r, c->site, column);
		if (!s) {
			lossy_note(&r->columns);
			call_put(c, VALUE_CONSTANT + r->unknown);
			return;
		}
		c->site = s;
		c->next = &s->column[column];
	}
	cell_force(&r->columns, c->next, c->site->visits);
	cell_put_vector(&r->columns, c->next++, c->site->visits, values, n);
}

void call_distrust(struct call *c)
{
	for (uint32_t i = 0; i < c->site->columns; i++)
		c->site->column[i].raw = VALUE_NONE;
	c->site->generation = __atomic_load_n(&call_generation, __ATOMIC_RELAXED);
}

void call_forget(void)
{
	__atomic_fetch_add(&call_generation, 1, __ATOMIC_RELAXED);
}

void call_put_string(struct call *c, const char *bytes, size_t n)
{
	call_put(c, pool_string(c->rec, bytes, n));
	call_is_lost(c, c->rec->columns.failed);
}

int64_t call_constant_named(struct call *c, const char *name)
{
	uint32_t string = pool_string(c->rec, name, strlen(name));
	call_is_lost(c, c->rec->columns.failed);
	return VALUE_CONSTANT + string;
}

int64_t call_constant_new(struct call *c, enum mpi_constant k)
{
	return c->rec->head.constants[k] = call_constant_named(c, mpi_constant_name[k]);
}

void call_put_absents_slowly(struct call *c, int n)
{
	const int64_t absent = call_constant(c, CONST_ABSENT);
	for (; n > 0; n--) {
		if (__builtin_expect(cell_wait(c->rec->arena.base, c->next, c->site->visits, absent), 0))
			c->next++;
		else
			call_put_raw(c, absent, CALL_ABSENT);
	}
}

void call_put_error(struct call *c, enum mpi_constant error_class)
{
	if (c->failed)
		call_put(c, call_constant(c, error_class));
}

void call_object(struct call *c, enum object object, const int64_t *values, size_t n)
{
	struct recorder *r = c->rec;
	struct site *s = r->objects[object];
	if (r->record->flags & RECORD_OBJECTS)
		return;
	if (!s) {
		const char *schema = mpi_object_schema[object];
		uint32_t string = pool_string(r, schema, strlen(schema));
		uint32_t function = string != r->unknown
		                            ? table_add(&r->arena, &r->record->functions, &string, sizeof string)
		                            : UINT32_MAX;
		ref at = function != UINT32_MAX ? record_new_site(&r->arena, function, 0, site_width(schema)) : 0;
		if (!at || table_add(&r->arena, &r->record->objects, &at, sizeof at) == UINT32_MAX) {
			r->record->flags |= RECORD_OBJECTS;
			return;
		}
		s = r->objects[object] = arena_at(&r->arena, struct site, at);
		record_set_roles(s, schema, strlen(schema));
	}
	for (size_t i = 0; i < n && i < s->columns; i++)
		cell_put(&r->columns, &s->column[i], s->visits, values[i]);
	call_is_lost(c, r->columns.failed);
	arena_barrier();
	s->visits++;
}

uint64_t call_objects(const struct call *c, enum object object)
{
	const struct site *s = c->rec->objects[object];
	return s ? s->visits : 0;
}
