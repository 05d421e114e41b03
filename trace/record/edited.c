/* SPDX-License-Identifier: BSD-3-Clause
 * edited - a column of arrays that nothing compresses: what changes from visit to visit, as bits
 */
#include "trace/record/edited.h"

#include <string.h>

#include "trace/base/differ.h"
#include "trace/model/edits.h"
#include "trace/model/pattern.h"
#include "trace/record/dictionary.h"
#include "trace/record/record.h"

/* A column's arrays are looked at once they take a FEW-th of the arena, if there are so many of them that no loop has
 * as many, or a MANY-th. They must take LEAST bytes a visit. */
#define ARRAYS_FEW   64
#define ARRAYS_MANY  8
#define ARRAYS_LOOP  2048
#define ARRAYS_LEAST 6

static struct raw *raw_at(const struct columns *x, ref at)
{
	return arena_at(x->arena, struct raw, at);
}

static struct edited *edited_at(const struct columns *x, const struct raw *r)
{
	return arena_at(x->arena, struct edited, r->edited);
}

bool edited_saves(const struct columns *x, const struct column *c, uint64_t visits)
{
	const bool exact = x->threshold == UINT64_MAX || (c->role & ROLE_EXACT && !x->structure);
	return exact && !x->cap && (c->role & ROLE_KINDS) == ROLE_VECTOR && x->record && !edited_is(x, c) &&
	       c->array_bytes > x->arena->size / ARRAYS_FEW && c->array_bytes / ARRAYS_LEAST > visits;
}

bool edited_is_due(const struct columns *x, struct column *c, uint64_t visits, size_t n)
{
	c->array_bytes += sizeof(ref) + sizeof(struct record_vector) + n * sizeof(int64_t);
	c->arrays++;
	return edited_saves(x, c, visits) && (c->arrays > ARRAYS_LOOP || c->array_bytes > x->arena->size / ARRAYS_MANY);
}

/* ---- writing ---- */

static bool write_number(struct columns *x, ref at, uint64_t *place, int64_t number)
{
	return raw_append(x, at, (*place)++, number);
}

/* How many elements differ, as far as it is worth to know; and where the first FEW do. */
#define FEW 32
static size_t find_changes(const int64_t *a, const int64_t *b, size_t n, size_t most, uint32_t *places)
{
	size_t changes = 0;
	for (size_t i = 0; changes <= most && (i = differ_next(a, b, i, n)) < n; i++) {
		if (changes < FEW)
			places[changes] = (uint32_t)i;
		changes++;
	}
	return changes;
}

static bool write_changes(struct columns *x, ref at, struct edited *e, uint64_t *place, int64_t *array,
                          const int64_t *values, size_t changes, const uint32_t *places)
{
	size_t i = 0;
	if (changes == 0)
		return write_number(x, at, place, 0);
	for (size_t k = 0; k < changes; k++, i++) {
		i = k < FEW ? places[k] : differ_next(array, values, i, e->count);
		bool same = values[i] == e->last;
		unsigned flags = (same ? EDIT_SAME : 0) | (k + 1 < changes ? EDIT_MORE : 0);
		if (!write_number(x, at, place, edit_number(i, flags)) ||
		    (!same && !write_number(x, at, place, values[i])))
			return false;
		array[i] = e->last = values[i];
	}
	return true;
}

/* Room for the array that was put last: nobody reads it after a crash. */
static bool reserve(struct columns *x, struct edited *e, size_t n)
{
	struct arena *a = x->arena;
	uint64_t capacity;
	if (n * sizeof(int64_t) <= e->capacity)
		return true;
	ref at = arena_alloc_block(a, n * sizeof(int64_t), &capacity);
	if (at) {
		arena_free_block(a, e->array, e->capacity);
		arena_set(a, e->array, at);
		e->capacity = (uint32_t)capacity;
	}
	arena_commit(a);
	return at;
}

static bool write_literal(struct columns *x, ref at, struct edited *e, uint64_t *place, const int64_t *values, size_t n)
{
	if (n > EDITS_ELEMENTS || !reserve(x, e, n) || !write_number(x, at, place, edit_literal(n)))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!write_number(x, at, place, values[i]))
			return false;
	if (n)
		memcpy(arena_at(x->arena, int64_t, e->array), values, n * sizeof *values);
	e->count = n;
	return true;
}

static bool write_array(struct columns *x, ref at, uint64_t visits, const int64_t *values, size_t n)
{
	struct edited *e = edited_at(x, raw_at(x, at));
	if (e->visits != visits) /* what an event that was taken back wrote is there */
		return false;
	uint64_t place = e->values;
	bool done;
	if (n == SIZE_MAX) {
		done = write_number(x, at, &place, *values);
	} else {
		int64_t *array = arena_at(x->arena, int64_t, e->array);
		uint32_t places[FEW];
		size_t changes = n == e->count ? find_changes(array, values, n, n / 2, places) : n;
		done = changes <= n / 2 && n == e->count
		               ? write_changes(x, at, e, &place, array, values, changes, places)
		               : write_literal(x, at, e, &place, values, n);
	}
	e->values = place;
	e->visits++;
	return done;
}

bool edited_put(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n)
{
	if (__builtin_expect(x->cap != 0, 0) && raw_at(x, c->raw)->bytes > x->cap)
		return false;
	return write_array(x, c->raw, visits, values, n);
}

/* The vector that has a number; NULL: there is none. */
static const struct record_vector *vector_numbered(const struct columns *x, int64_t number)
{
	const struct table *t = &x->record->vectors;
	ref at = number < 0 || number >= t->count ? 0
	                                          : *(const ref *)table_at(x->arena, t, (uint32_t)number, sizeof(ref));
	return at ? arena_at(x->arena, struct record_vector, at) : NULL;
}

static bool write_value(struct columns *x, ref at, uint64_t visits, int64_t value)
{
	if (value_is_constant(value))
		return write_array(x, at, visits, &value, SIZE_MAX);
	const struct record_vector *v = vector_numbered(x, value);
	return v && write_array(x, at, visits, v->values, v->count);
}

bool edited_turn(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	if (__builtin_expect(x->cap != 0, 0) && raw_at(x, c->raw)->bytes > x->cap)
		return false;
	return write_value(x, c->raw, visits, value);
}

/* ---- making ---- */

struct making {
	struct columns *x;
	ref at;
	uint64_t visits;
};

static int make_from_value(void *context, int64_t value)
{
	struct making *m = context;
	return write_value(m->x, m->at, m->visits++, value) ? 0 : -1;
}

static bool make_pattern(struct making *m, struct column *c, uint64_t visits)
{
	struct columns *x = m->x;
	struct pattern p;
	struct pattern_cursor cursor = {0};
	uint32_t token;
	uint64_t count, known = 0;
	bool done = column_pattern(x, c, visits, &p) == 0 && pattern_begin(&cursor, &p) == 0;
	while (done && m->visits < visits && pattern_next(&cursor, &token, &count) == 0)
		for (; done && count > 0; count--)
			done = make_from_value(
				       m, dictionary_value(x, c,
			                                   token == PATTERN_NEW ? (uint32_t)known++ : token - 1)) == 0;
	pattern_end(&cursor);
	pattern_free(&p);
	return done && m->visits == visits;
}

bool edited_make(struct columns *x, struct column *c, uint64_t visits)
{
	struct arena *a = x->arena;
	const uint64_t raw = raw_count(x, c, visits);
	const ref old = c->raw;
	if (c->lossy || visits == 0 || edited_is(x, c))
		return false;
	ref at = arena_alloc(a, sizeof(struct raw)), edited = arena_alloc(a, sizeof(struct edited));
	arena_commit(a);
	if (!at || !edited)
		return false;
	raw_at(x, at)->edited = edited;
	struct making m = {x, at, 0};
	if ((raw && raw_each(a, old, raw, make_from_value, &m) != 0) ||
	    (raw < visits && !make_pattern(&m, c, visits))) {
		raw_free(x, at);
		return false;
	}
	column_discard(x, c, at);
	raw_free(x, old);
	return true;
}

/* ---- reading ---- */

struct reading {
	struct edits edits;
	uint64_t visits, done, values;
	int (*take)(void *context, const int64_t *values, size_t n);
	void *context;
};

/* Ends with -1 when there are as many as were asked for: how many values these take is not known before. */
static int read_edit(void *context, int64_t number)
{
	struct reading *r = context;
	struct edits *e = &r->edits;
	r->values++;
	int rv = edits_take(e, number);
	if (rv <= 0)
		return rv;
	if (r->take && r->take(r->context, e->is_constant ? &e->constant : e->values,
	                       e->is_constant ? SIZE_MAX : (size_t)e->count) != 0)
		return -1;
	return ++r->done == r->visits ? -1 : 0;
}

static int read_all(const struct arena *a, ref at, struct reading *r)
{
	const struct raw *raw = arena_at(a, struct raw, at);
	if (arena_valid(a, at, sizeof *raw) && r->visits)
		raw_each(a, at, raw->packed + RAW_BLOCK, read_edit, r);
	edits_free(&r->edits);
	return r->done == r->visits ? 0 : -1;
}

int edited_each(const struct arena *a, ref raw, uint64_t visits,
                int (*take)(void *context, const int64_t *values, size_t n), void *context)
{
	struct reading r = {.visits = visits, .take = take, .context = context};
	return read_all(a, raw, &r);
}

uint64_t edited_values(const struct arena *a, ref raw, uint64_t visits)
{
	struct reading r = {.visits = visits};
	return read_all(a, raw, &r) == 0 ? r.values : UINT64_MAX;
}
