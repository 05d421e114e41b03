/* SPDX-License-Identifier: BSD-3-Clause
 * lossy - columns of an arena that gave up their order
 */
#include "trace/record/lossy_count.h"
#include "trace/record/dictionary.h"
#include "trace/record/edited.h"
#include "trace/record/prefix.h"
#include "trace/record/raw.h"

#include <stdlib.h>
#include <string.h>

#include "trace/model/pattern.h"
#include "trace/model/trace.h"

static const struct record_vector *vector_at(const struct columns *x, int64_t i)
{
	const struct table *t = x->record ? &x->record->vectors : NULL;
	if (!t || i < 0 || i >= t->count)
		return NULL;
	return arena_at(x->arena, struct record_vector, *(ref *)table_at(x->arena, t, (uint32_t)i, sizeof(ref)));
}

void lossy_turn(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	struct retired old;
	if (c->lossy == LOSSY_FORGOTTEN || lossy_wait(x->arena->base, c, visits, value))
		return;
	while (c->token == TOKEN_WAITS) {
		lossy_queue_empty(x, c);
		if (lossy_wait(x->arena->base, c, visits, value))
			return;
	}
	if ((c->role & ROLE_KINDS) == ROLE_VECTOR) {
		const struct record_vector *v = value_is_constant(value) ? NULL : vector_at(x, value);
		if (v)
			lossy_put_vector(x, c, visits, v->values, v->count);
		else if (value != c->expect || visits == c->start)
			lossy_put_vector(x, c, visits, &value, SIZE_MAX);
		return;
	}
	if (value == c->expect) /* the column has just become lossy, and its last run goes on */
		return;
	old.count = 0;
	if (c->expect != VALUE_NONE && visits > c->start)
		lossy_count_run(x, c, c->expect, visits - c->start, &old);
	arena_set(x->arena, c->start, visits);
	arena_set(x->arena, c->expect, value);
	lossy_commit(x, &old);
	if (lossy_queue_due(c, visits))
		lossy_queue_begin(x, c, visits, value);
}

/* What is under way has ended: a constant, a vector, or a vector that there was no memory to keep. */
static void count_under_way(struct columns *x, struct column *c, uint64_t times, struct retired *old)
{
	struct lossy *l = lossy_of(x, c);
	const struct lossy_vector *kept = &l->vector[l->which & 1];
	const struct record_vector *v =
		c->expect == VALUE_NONE && kept->at ? arena_at(x->arena, struct record_vector, kept->at) : NULL;
	if (v)
		lossy_count_vector(x, l, v->values, v->count, times, old);
	else if (c->expect != VALUE_NONE)
		lossy_count_vector(x, l, &c->expect, SIZE_MAX, times, old);
	else
		arena_set(x->arena, l->others[0], l->others[0] + times);
}

/* Keeps a vector where nobody reads it yet. */
static void keep_vector(struct columns *x, struct lossy_vector *to, const int64_t *values, size_t n)
{
	struct arena *a = x->arena;
	uint64_t capacity;
	if (!to->at || sizeof(struct record_vector) + n * sizeof *values > to->capacity) {
		ref at = n < UINT32_MAX / 16
		                 ? arena_alloc_block(a, sizeof(struct record_vector) + n * sizeof *values, &capacity)
		                 : 0;
		ref unused = to->at;
		uint64_t unused_capacity = to->capacity;
		arena_set(a, to->at, at);
		arena_set(a, to->capacity, at ? (uint32_t)capacity : 0);
		arena_free_block(a, unused, unused_capacity);
		arena_commit(a);
		if (!at)
			return;
	}
	struct record_vector *v = arena_at(a, struct record_vector, to->at);
	v->count = (uint32_t)n;
	if (n)
		memcpy(v->values, values, n * sizeof *values);
}

static void put_vector(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n)
{
	struct retired old;
	struct lossy *l = lossy_of(x, c);
	uint32_t other = !(l->which & 1);
	uint64_t run = visits > c->start ? visits - c->start : 0;
	const struct lossy_vector *now = &l->vector[!other];
	if (n != SIZE_MAX) {
		const struct record_vector *v = run && c->expect == VALUE_NONE && now->at
		                                        ? arena_at(x->arena, struct record_vector, now->at)
		                                        : NULL;
		if (v && v->count == n && (n == 0 || memcmp(v->values, values, n * sizeof *values) == 0))
			return;
		keep_vector(x, &l->vector[other], values, n);
	}
	old.count = 0; /* no more of it: this is often */
	if (run)
		count_under_way(x, c, run, &old);
	arena_set(x->arena, l->which, other);
	arena_set(x->arena, c->start, visits);
	arena_set(x->arena, c->expect, n == SIZE_MAX ? *values : VALUE_NONE);
	lossy_commit(x, &old);
	if (lossy_queue_due(c, visits))
		lossy_queue_begin_vectors(x, c, visits, values, n);
}

void lossy_put_vector(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n)
{
	if (c->lossy != LOSSY_FORGOTTEN && !(c->queue && lossy_queue_vector(x, c, visits, values, n)))
		put_vector(x, c, visits, values, n);
}

/* Making one. */

struct lossy_making {
	struct columns *x;
	struct column *c;
	struct tally values, elements;
	struct lossy_runs *next;
	size_t next_count, next_capacity;
	/* ROLE_NEXT: the run under way of raw values */
	int64_t raw_value;
	uint64_t raw_length;
};

static int make_value(void *context, int64_t start, int64_t stride, uint64_t count, uint64_t times)
{
	struct lossy_making *m = context;
	if ((m->c->role & ROLE_KINDS) != ROLE_VECTOR)
		return tally_add_run(&m->values, start, stride, count, times);
	for (uint64_t i = 0; i < count; i++) {
		int64_t value = (int64_t)((uint64_t)start + (uint64_t)stride * i);
		const struct record_vector *v = value_is_constant(value) ? NULL : vector_at(m->x, value);
		if (!lossy_add_vector(&m->values, &m->elements, v ? v->values : &value, v ? v->count : SIZE_MAX, times))
			return -1;
	}
	return 0;
}

static int make_run(void *context, int64_t value, uint64_t length, uint64_t runs)
{
	struct lossy_making *m = context;
	size_t i = 0;
	while (i < m->next_count && m->next[i].to != (uint32_t)value)
		i++;
	if (i == m->next_count) {
		if (m->next_count == m->next_capacity) {
			size_t capacity = m->next_capacity ? m->next_capacity * 2 : 8;
			struct lossy_runs *more = realloc(m->next, capacity * sizeof *more);
			if (!more)
				return -1;
			m->next = more;
			m->next_capacity = capacity;
		}
		m->next[m->next_count++] = (struct lossy_runs){.to = (uint32_t)value};
	}
	return tally_add(&m->next[i].runs, (int64_t)length, runs);
}

static int make_raw(void *context, int64_t value)
{
	struct lossy_making *m = context;
	if ((m->c->role & ROLE_KINDS) != ROLE_NEXT)
		return make_value(m, value, 0, 1, 1);
	if (m->raw_length && m->raw_value != value && make_run(m, m->raw_value, m->raw_length, 1) != 0)
		return -1;
	m->raw_length = m->raw_value == value ? m->raw_length + 1 : 1;
	m->raw_value = value;
	return 0;
}

static int make_array(void *context, const int64_t *values, size_t n)
{
	struct lossy_making *m = context;
	return lossy_add_vector(&m->values, &m->elements, values, n, 1) ? 0 : -1;
}

/* What the column holds, but for the run under way in *value, *length (0: it is in what was made). Where raw values
 * end, a run does, too. */
static bool gather(struct lossy_making *m, uint64_t visits, int64_t *value, uint64_t *length)
{
	struct columns *x = m->x;
	struct column *c = m->c;
	struct pattern p = {0};
	const uint64_t raw = raw_count(x, c, visits);
	bool done = false;
	*length = 0;
	if (edited_is(x, c))
		return edited_each(x->arena, c->raw, visits, make_array, m) == 0;
	if (raw && (raw_each(x->arena, c->raw, raw, make_raw, m) != 0 ||
	            (m->raw_length && make_run(m, m->raw_value, m->raw_length, 1) != 0)))
		return false;
	if (visits == raw)
		return true;
	if (column_pattern(x, c, visits, &p) != 0)
		goto done;
	if ((c->role & ROLE_KINDS) == ROLE_NEXT) {
		int64_t last = VALUE_NONE;
		done = pattern_runs(&p, column_dict(x, c), c->dict_count, make_run, m, &last, length) == 0;
		*value = last;
	} else {
		done = pattern_each(&p, column_dict(x, c), c->dict_count, make_value, m) == 0;
	}
done:
	pattern_free(&p);
	return done;
}

static void making_free(struct lossy_making *m)
{
	tally_free(&m->values);
	tally_free(&m->elements);
	for (size_t i = 0; i < m->next_count; i++)
		tally_free(&m->next[i].runs);
	free(m->next);
}

/* Gives a tally's block back. */
static void release(struct columns *x, struct lossy_tally *t)
{
	arena_free_block(x->arena, t->bins, t->capacity);
	arena_free_block(x->arena, t->other, t->capacity);
	t->bins = t->other = 0;
}

/* Gives back what a lossy column has that no column refers to (any more). */
static void lossy_free(struct columns *x, ref at, ref queue, uint64_t bytes)
{
	struct arena *a = x->arena;
	struct lossy *l = arena_at(a, struct lossy, at);
	for (uint32_t i = 0; i < l->next_count; i++) {
		release(x, &arena_at(a, struct lossy_next, l->next)[i].runs);
		arena_commit(a); /* there may be many */
	}
	arena_free_block(a, l->next, l->next_capacity);
	release(x, &l->tally);
	release(x, &l->elements);
	for (int i = 0; i < 2; i++)
		arena_free_block(a, l->vector[i].at, l->vector[i].capacity);
	arena_free_block(a, queue, bytes);
	arena_commit(a);
	prefix_free(x, l->prefix);
	arena_free_block(a, at, sizeof *l);
	arena_commit(a);
}

bool lossy_make(struct columns *x, struct column *c, uint64_t visits, uint32_t why)
{
	struct arena *a = x->arena;
	struct lossy_making m = {.x = x, .c = c};
	struct retired none = {.count = 0};
	uint64_t capacity, length = 0;
	int64_t value = VALUE_NONE;
	bool done = false;
	if (c->lossy || !gather(&m, visits, &value, &length))
		goto done;
	if (x->bins) {
		tally_balance(&m.values, x->bins);
		tally_balance(&m.elements, x->bins);
	}
	ref at = arena_alloc_block(a, sizeof(struct lossy), &capacity);
	arena_commit(a);
	if (!at)
		goto done;
	struct lossy *l = arena_at(a, struct lossy, at);
	*l = (struct lossy){.why = why, .since = x->record ? x->record->events : 0};
	done = lossy_store(x, &l->tally, &m.values, &none) && lossy_store(x, &l->elements, &m.elements, &none);
	if (done && m.next_count) {
		l->next = arena_alloc_block(a, m.next_count * sizeof(struct lossy_next), &l->next_capacity);
		done = l->next;
	}
	for (size_t i = 0; done && i < m.next_count; i++) {
		struct lossy_next *next = &arena_at(a, struct lossy_next, l->next)[l->next_count++];
		*next = (struct lossy_next){.to = m.next[i].to};
		if (x->bins)
			tally_balance(&m.next[i].runs, x->bins);
		done = lossy_store(x, &next->runs, &m.next[i].runs, &none);
		arena_commit(a);
	}
	arena_commit(a);
	if (!done) {
		lossy_free(x, at, 0, 0);
		goto done;
	}
	column_count(x, c);
	if (why == WHY_MEMORY && (l->prefix = prefix_make(x, c, visits)))
		l->since = x->mark - 1;
	column_release(x, c, at, visits - length, length ? value : VALUE_NONE, l->prefix);
	prefix_cut(x, l->prefix);
	for (uint32_t i = 0; i < l->next_count; i++)
		dictionary_slot_add(x, c, arena_at(a, struct lossy_next, l->next)[i].to, i);
done:
	making_free(&m);
	return done;
}

void lossy_note(struct columns *x)
{
	if (x->record && !x->record->stage[STAGE_COLUMNS])
		x->record->stage[STAGE_COLUMNS] = x->mark ? x->mark : x->record->events + 1;
}

void lossy_force(struct columns *x, struct column *c, uint64_t visits)
{
	if (c->lossy)
		return;
	lossy_note(x);
	if (!lossy_make(x, c, visits, WHY_MEMORY))
		column_release(x, c, LOSSY_FORGOTTEN, visits, VALUE_NONE, false);
}

void lossy_forget(struct columns *x, struct column *c, uint64_t visits)
{
	ref at = c->lossy;
	if (!at || at == LOSSY_FORGOTTEN)
		return;
	lossy_note(x);
	const struct lossy *l = lossy_of(x, c);
	for (uint32_t i = 0; i < l->next_count; i++)
		dictionary_slot_remove(x, c, arena_at(x->arena, struct lossy_next, l->next)[i].to);
	ref queue = c->queue;
	c->token = 0; /* nothing waits any more */
	arena_set(x->arena, c->lossy, LOSSY_FORGOTTEN);
	arena_set(x->arena, c->lead, 0);
	arena_set(x->arena, c->start, visits);
	arena_set(x->arena, c->expect, VALUE_NONE);
	arena_commit(x->arena);
	lossy_free(x, at, queue, lossy_queue_bytes(c));
}

struct column *lossy_prefix(const struct columns *x, const struct column *c)
{
	ref at = c->lossy && c->lossy != LOSSY_FORGOTTEN ? lossy_of(x, c)->prefix : 0;
	return at ? arena_at(x->arena, struct column, at) : NULL;
}

void lossy_drop_prefix(struct columns *x, struct column *c)
{
	ref at = lossy_prefix(x, c) ? lossy_of(x, c)->prefix : 0;
	if (!at)
		return;
	arena_set(x->arena, lossy_of(x, c)->prefix, 0);
	arena_commit(x->arena);
	prefix_free(x, at);
}

static uint64_t tally_bytes(const struct lossy_tally *t)
{
	return (t->bins ? t->capacity : 0) + (t->other ? t->capacity : 0);
}

uint64_t lossy_size(const struct columns *x, const struct column *c)
{
	if (!c->lossy || c->lossy == LOSSY_FORGOTTEN)
		return 0;
	const struct lossy *l = lossy_of(x, c);
	uint64_t bytes = sizeof *l + tally_bytes(&l->tally) + tally_bytes(&l->elements) + l->vector[0].capacity +
	                 l->vector[1].capacity + l->next_capacity + (c->queue ? lossy_queue_bytes(c) : 0);
	for (uint32_t i = 0; i < l->next_count; i++)
		bytes += tally_bytes(&arena_at(x->arena, struct lossy_next, l->next)[i].runs);
	return bytes;
}

static void shrink(struct columns *x, struct lossy_tally *t, uint32_t bins)
{
	struct tally v = lossy_view(x, t), small;
	struct retired old = {.count = 0};
	if (v.count <= bins || tally_copy(&small, &v) != 0)
		return;
	tally_balance(&small, bins);
	if (small.count < v.count)
		lossy_store(x, t, &small, &old);
	lossy_commit(x, &old);
	tally_free(&small);
}

void lossy_shrink(struct columns *x, struct column *c, uint32_t bins)
{
	if (!c->lossy || c->lossy == LOSSY_FORGOTTEN)
		return;
	struct lossy *l = lossy_of(x, c);
	shrink(x, &l->tally, bins);
	shrink(x, &l->elements, bins);
	for (uint32_t i = 0; i < l->next_count; i++)
		shrink(x, &arena_at(x->arena, struct lossy_next, l->next)[i].runs, bins);
}
