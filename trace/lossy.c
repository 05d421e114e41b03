/* SPDX-License-Identifier: BSD-3-Clause
 * lossy - columns of an arena that gave up their order
 */
#include "trace/lossy.h"

#include <stdlib.h>
#include <string.h>

#include "trace/pattern.h"
#include "trace/record.h"

static struct lossy *lossy_of(const struct columns *x, const struct column *c)
{
	return arena_at(x->arena, struct lossy, c->lossy);
}

/* A tally of the arena, to be looked at. */
static struct tally view(const struct columns *x, const struct lossy_tally *t)
{
	return (struct tally){arena_at(x->arena, struct tally_bin, t->bins), t->count, t->count};
}

static bool copy(struct tally *out, const struct tally *t)
{
	*out = (struct tally){.bins = malloc((t->count + 1) * sizeof *t->bins), .capacity = t->count + 1};
	if (!out->bins)
		return false;
	if (t->count)
		memcpy(out->bins, t->bins, t->count * sizeof *t->bins);
	out->count = t->count;
	return true;
}

/* Makes `t` hold what `from` holds: in its block if that is large enough and `fresh` says that nobody reads it, else in a new one. */
static bool store(struct columns *x, struct lossy_tally *t, const struct tally *from, bool fresh)
{
	struct arena *a = x->arena;
	uint64_t bytes = from->count * sizeof *from->bins, capacity = t->capacity;
	ref at = t->bins;
	if (!fresh || bytes > capacity) {
		if (bytes == 0)
			return true;
		at = arena_alloc_block(a, bytes, &capacity);
		if (!at)
			return false;
	}
	if (bytes)
		memcpy(arena_at(a, struct tally_bin, at), from->bins, bytes);
	if (at != t->bins) {
		if (t->bins)
			arena_free_block(a, t->bins, t->capacity);
		arena_set(a, t->bins, at);
		arena_set(a, t->capacity, (uint32_t)capacity);
	}
	arena_set(a, t->count, from->count);
	return true;
}

/* Adds to the nearest bin, without memory. */
static void squeeze(struct columns *x, struct lossy_tally *t, int64_t value, uint64_t count)
{
	struct tally v = view(x, t);
	uint32_t at = 0;
	for (uint32_t i = 1; i < v.count; i++)
		if (!value_is_constant(v.bins[i].min) && v.bins[i].min <= value)
			at = i;
	struct tally_bin *b = v.count ? &v.bins[at] : NULL;
	if (!b || value_is_constant(b->min) || value_is_constant(value)) {
		x->failed = true;
		return;
	}
	if (value < b->min)
		arena_set(x->arena, b->min, value);
	if (value > b->max)
		arena_set(x->arena, b->max, value);
	arena_set(x->arena, b->count, b->count + count);
	arena_set(x->arena, b->sum, b->sum + (uint64_t)value * count);
}

/* Adds to a tally, as part of the operation under way. */
static void add(struct columns *x, struct lossy_tally *t, int64_t value, uint64_t count)
{
	struct tally v = view(x, t), grown;
	int64_t at = v.count ? tally_place(&v, value) : -1;
	if (__builtin_expect(at >= 0, 1)) {
		struct tally_bin *b = &v.bins[at];
		if (value < b->min)
			arena_set(x->arena, b->min, value);
		if (value > b->max)
			arena_set(x->arena, b->max, value);
		arena_set(x->arena, b->count, b->count + count);
		arena_set(x->arena, b->sum, b->sum + (uint64_t)value * count);
		return;
	}
	if (!copy(&grown, &v)) {
		squeeze(x, t, value, count);
		return;
	}
	if (tally_add(&grown, value, count) != 0) {
		squeeze(x, t, value, count);
	} else {
		if (x->bins)
			tally_balance(&grown, x->bins);
		if (!store(x, t, &grown, false))
			squeeze(x, t, value, count);
	}
	tally_free(&grown);
}

/* The runs of a successor. */
static struct lossy_tally *runs_of(struct columns *x, struct column *c, int64_t to)
{
	struct arena *a = x->arena;
	struct lossy *l = lossy_of(x, c);
	int64_t i = column_slot(x, c, to);
	if (i >= 0 && i < l->next_count)
		return &arena_at(a, struct lossy_next, l->next)[i].runs;
	if ((l->next_count + UINT64_C(1)) * sizeof(struct lossy_next) > l->next_capacity) {
		uint64_t capacity;
		ref more = arena_alloc_block(a, (l->next_count + UINT64_C(1)) * sizeof(struct lossy_next), &capacity);
		if (!more)
			return NULL;
		if (l->next_count)
			memcpy(a->base + more, a->base + l->next, l->next_count * sizeof(struct lossy_next));
		if (l->next)
			arena_free_block(a, l->next, l->next_capacity);
		arena_set(a, l->next, more);
		arena_set(a, l->next_capacity, capacity);
		arena_commit(a); /* what was given back must not be used again while it could still be wanted back */
	}
	struct lossy_next *next = &arena_at(a, struct lossy_next, l->next)[l->next_count];
	*next = (struct lossy_next){.to = (uint32_t)to};
	column_slot_add(x, c, to, l->next_count);
	arena_set(a, l->next_count, l->next_count + 1);
	return &next->runs;
}

/* A run has ended. */
static void count_run(struct columns *x, struct column *c, int64_t value, uint64_t length, uint64_t runs)
{
	if ((c->role & ROLE_KINDS) == ROLE_NEXT) {
		struct lossy_tally *t = runs_of(x, c, value);
		if (t)
			add(x, t, (int64_t)length, runs);
		else
			x->failed = true;
	} else {
		add(x, &lossy_of(x, c)->tally[0], value, length * runs);
	}
}

static const struct record_vector *vector_at(const struct columns *x, int64_t i)
{
	const struct table *t = x->record ? &x->record->vectors : NULL;
	if (!t || i < 0 || i >= t->count)
		return NULL;
	return arena_at(x->arena, struct record_vector, *(ref *)table_at(x->arena, t, (uint32_t)i, sizeof(ref)));
}

void lossy_turn(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	if ((c->role & ROLE_KINDS) == ROLE_VECTOR) {
		const struct record_vector *v = value_is_constant(value) ? NULL : vector_at(x, value);
		if (v)
			lossy_put_vector(x, c, visits, v->values, v->count);
		else
			lossy_put_vector(x, c, visits, &value, SIZE_MAX);
		return;
	}
	if (value == c->expect) /* the column has just become lossy, and its last run goes on */
		return;
	if (c->expect != VALUE_NONE && visits > c->start)
		count_run(x, c, c->expect, visits - c->start, 1);
	arena_set(x->arena, c->start, visits);
	arena_set(x->arena, c->expect, value);
	arena_commit(x->arena);
}

/* n is SIZE_MAX: *values is a constant in place of a vector. */
static bool add_vector(struct tally *lengths, struct tally *elements, const int64_t *values, size_t n, uint64_t times)
{
	if (n == SIZE_MAX)
		return tally_add(lengths, *values, times) == 0;
	if (tally_add(lengths, (int64_t)n, times) != 0)
		return false;
	for (size_t i = 0; i < n;) {
		size_t k = i + 1;
		while (k < n && values[k] == values[i])
			k++;
		if (tally_add(elements, values[i], (k - i) * times) != 0)
			return false;
		i = k;
	}
	return true;
}

void lossy_put_vector(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n)
{
	struct lossy *l = lossy_of(x, c);
	uint32_t now = l->which & 1, other = !now;
	struct tally v[2] = {view(x, &l->tally[now]), view(x, &l->elements[now])}, t[2] = {{0}, {0}};
	bool done = copy(&t[0], &v[0]) && copy(&t[1], &v[1]) && add_vector(&t[0], &t[1], values, n, 1);
	if (done && x->bins) {
		tally_balance(&t[0], x->bins);
		tally_balance(&t[1], x->bins);
	}
	l->values[other] = UINT64_MAX; /* while it is being changed it is nobody's */
	arena_barrier();
	done = done && store(x, &l->tally[other], &t[0], true) && store(x, &l->elements[other], &t[1], true);
	arena_commit(x->arena);
	if (done) {
		l->values[other] = visits + 1;
		arena_barrier();
		l->which = other;
	} else {
		x->failed = true;
	}
	tally_free(&t[0]);
	tally_free(&t[1]);
}

/* Making one. */

struct making {
	struct columns *x;
	struct column *c;
	struct tally values, elements;
	struct lossy_runs *next;
	size_t next_count, next_capacity;
};

static int make_value(void *context, int64_t start, int64_t stride, uint64_t count, uint64_t times)
{
	struct making *m = context;
	if ((m->c->role & ROLE_KINDS) != ROLE_VECTOR)
		return tally_add_run(&m->values, start, stride, count, times);
	for (uint64_t i = 0; i < count; i++) {
		int64_t value = (int64_t)((uint64_t)start + (uint64_t)stride * i);
		const struct record_vector *v = value_is_constant(value) ? NULL : vector_at(m->x, value);
		if (!add_vector(&m->values, &m->elements, v ? v->values : &value, v ? v->count : SIZE_MAX, times))
			return -1;
	}
	return 0;
}

static int make_run(void *context, int64_t value, uint64_t length, uint64_t runs)
{
	struct making *m = context;
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

/* What the column holds, but for the run under way in *value, *length (0: it is in what was made). */
static bool gather(struct making *m, uint64_t visits, int64_t *value, uint64_t *length)
{
	struct columns *x = m->x;
	struct column *c = m->c;
	struct pattern p = {0};
	bool done = false;
	*length = 0;
	if (visits == 0)
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

static void making_free(struct making *m)
{
	tally_free(&m->values);
	tally_free(&m->elements);
	for (size_t i = 0; i < m->next_count; i++)
		tally_free(&m->next[i].runs);
	free(m->next);
}

bool lossy_make(struct columns *x, struct column *c, uint64_t visits, uint32_t why)
{
	struct arena *a = x->arena;
	struct making m = {.x = x, .c = c};
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
	if (!at)
		goto done;
	struct lossy *l = arena_at(a, struct lossy, at);
	*l = (struct lossy){.why = why, .since = x->record ? x->record->events : 0};
	done = store(x, &l->tally[0], &m.values, true) && store(x, &l->elements[0], &m.elements, true);
	l->values[0] = visits;
	l->values[1] = UINT64_MAX;
	if (done && m.next_count) {
		l->next = arena_alloc_block(a, m.next_count * sizeof(struct lossy_next), &l->next_capacity);
		done = l->next;
	}
	for (size_t i = 0; done && i < m.next_count; i++) {
		struct lossy_next *next = &arena_at(a, struct lossy_next, l->next)[l->next_count++];
		*next = (struct lossy_next){.to = m.next[i].to};
		done = store(x, &next->runs, &m.next[i].runs, true);
	}
	arena_commit(a);
	if (!done) {
		for (uint32_t i = 0; i < l->next_count; i++) {
			struct lossy_tally *t = &arena_at(a, struct lossy_next, l->next)[i].runs;
			arena_free_block(a, t->bins, t->capacity);
		}
		arena_free_block(a, l->next, l->next_capacity);
		arena_free_block(a, l->tally[0].bins, l->tally[0].capacity);
		arena_free_block(a, l->elements[0].bins, l->elements[0].capacity);
		arena_free_block(a, at, capacity);
		arena_commit(a);
		goto done;
	}
	column_release(x, c, at, visits - length, length ? value : VALUE_NONE);
	for (uint32_t i = 0; i < l->next_count; i++)
		column_slot_add(x, c, arena_at(a, struct lossy_next, l->next)[i].to, i);
done:
	making_free(&m);
	return done;
}

static void shrink(struct columns *x, struct lossy_tally *t, uint32_t bins)
{
	struct tally v = view(x, t), small;
	if (v.count <= bins || !copy(&small, &v))
		return;
	tally_balance(&small, bins);
	if (small.count < v.count)
		store(x, t, &small, false);
	tally_free(&small);
}

void lossy_shrink(struct columns *x, struct column *c, uint32_t bins)
{
	if (!c->lossy)
		return;
	struct lossy *l = lossy_of(x, c);
	uint32_t now = l->which & 1;
	shrink(x, &l->tally[now], bins);
	shrink(x, &l->elements[now], bins);
	for (uint32_t i = 0; i < l->next_count; i++)
		shrink(x, &arena_at(x->arena, struct lossy_next, l->next)[i].runs, bins);
	arena_commit(x->arena);
}

/* Taking out. */

static int take_tally(const struct columns *x, const struct lossy_tally *t, struct tally *out)
{
	if (t->count == 0)
		return 0;
	if (!arena_valid(x->arena, t->bins, t->count * (uint64_t)sizeof(struct tally_bin)))
		return -1;
	struct tally v = view(x, t);
	for (uint32_t i = 0; i < v.count; i++) {
		const struct tally_bin *b = &v.bins[i];
		if (b->count == 0 || b->max < b->min || (value_is_constant(b->min) && b->min != b->max) || b->min == VALUE_LOSSY ||
		    (i > 0 && b->min <= v.bins[i - 1].max))
			return -1;
	}
	return copy(out, &v) ? 0 : -1;
}

int lossy_extract(struct columns *x, struct column *c, uint64_t visits, struct lossy_image *out)
{
	*out = (struct lossy_image){0};
	if (!arena_valid(x->arena, c->lossy, sizeof(struct lossy)))
		return -1;
	const struct lossy *l = lossy_of(x, c);
	out->why = l->why;
	out->since = l->since;
	if ((c->role & ROLE_KINDS) == ROLE_VECTOR) {
		uint32_t which = l->which & 1;
		if (l->values[which] != visits)
			which = !which;
		if (l->values[which] != visits)
			return -1;
		return take_tally(x, &l->tally[which], &out->values) != 0 || take_tally(x, &l->elements[which], &out->elements) != 0 ? -1 : 0;
	}
	uint64_t run = visits > c->start && c->expect != VALUE_NONE ? visits - c->start : 0;
	if ((c->role & ROLE_KINDS) != ROLE_NEXT) {
		if (take_tally(x, &l->tally[0], &out->values) != 0)
			return -1;
		return run && tally_add(&out->values, c->expect, run) != 0 ? -1 : 0;
	}
	if (l->next_count && !arena_valid(x->arena, l->next, l->next_count * (uint64_t)sizeof(struct lossy_next)))
		return -1;
	out->next = calloc(l->next_count + UINT64_C(1), sizeof *out->next);
	if (!out->next)
		return -1;
	bool open = run > 0;
	for (uint32_t i = 0; i < l->next_count; i++) {
		const struct lossy_next *next = &arena_at(x->arena, struct lossy_next, l->next)[i];
		struct lossy_runs *r = &out->next[out->next_count++];
		r->to = next->to;
		if (take_tally(x, &next->runs, &r->runs) != 0)
			return -1;
		if (open && r->to == (uint64_t)c->expect) {
			open = false;
			if (tally_add(&r->runs, (int64_t)run, 1) != 0)
				return -1;
		}
	}
	if (open) {
		struct lossy_runs *r = &out->next[out->next_count++];
		r->to = (uint32_t)c->expect;
		return (uint64_t)c->expect != r->to || tally_add(&r->runs, (int64_t)run, 1) != 0 ? -1 : 0;
	}
	return 0;
}

void lossy_image_free(struct lossy_image *image)
{
	tally_free(&image->values);
	tally_free(&image->elements);
	for (size_t i = 0; i < image->next_count; i++)
		tally_free(&image->next[i].runs);
	free(image->next);
	*image = (struct lossy_image){0};
}
