/* SPDX-License-Identifier: BSD-3-Clause
 * dictionary - the values of a column in order of first appearance
 *
 * A value has the number of different values before it. Values that follow each other by a stride are one stretch:
 *
 *     3 5 7 9 4      {start 3, stride 2, count 4, first 0}, {start 4, count 1, first 4}
 *
 * The first DICTIONARY_LINEAR stretches are searched one by one. Behind them each stretch is a single value, found by
 * hash. The hash table is private memory that all columns share, so that an arena needs none of it.
 */
#include "trace/record/dictionary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct dict_slot {
	int64_t value;
	ref column;
	uint32_t index; /* + 1; 0 is a free slot */
};

static size_t slot_home(const struct columns *x, ref column, int64_t value)
{
	uint64_t h = ((uint64_t)value ^ (uint64_t)column << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h ^ h >> 32) & x->mask;
}

static size_t slot_of(const struct columns *x, ref column, int64_t value)
{
	size_t i = slot_home(x, column, value);
	while (x->slots[i].index && (x->slots[i].value != value || x->slots[i].column != column))
		i = (i + 1) & x->mask;
	return i;
}

void dictionary_slot_add(struct columns *x, const struct column *c, int64_t value, uint32_t number)
{
	if ((x->count + 1) * 2 > (x->slots ? x->mask + 1 : 0)) {
		size_t old_size = x->slots ? x->mask + 1 : 0, size = old_size ? old_size * 2 : 1024;
		struct dict_slot *old = x->slots, *slots = calloc(size, sizeof *slots);
		if (!slots)
			return; /* the value will be `new` once more: larger, still exact */
		x->slots = slots;
		x->mask = size - 1;
		for (size_t i = 0; i < old_size; i++)
			if (old[i].index)
				slots[slot_of(x, old[i].column, old[i].value)] = old[i];
		free(old);
	}
	assert(2 * x->count <= x->mask); /* a free slot ends each search */
	ref column = arena_ref(x->arena, c);
	x->slots[slot_of(x, column, value)] = (struct dict_slot){value, column, number + 1};
	x->count++;
}

void dictionary_slot_remove(struct columns *x, const struct column *c, int64_t value)
{
	if (!x->slots)
		return;
	size_t i = slot_of(x, arena_ref(x->arena, c), value);
	if (!x->slots[i].index)
		return;
	assert(x->count > 0);
	x->count--;
	for (size_t j = i;;) {
		x->slots[i].index = 0;
		size_t home;
		do {
			j = (j + 1) & x->mask;
			if (!x->slots[j].index)
				return;
			home = slot_home(x, x->slots[j].column, x->slots[j].value);
		} while (i <= j ? home > i && home <= j : home > i || home <= j);
		x->slots[i] = x->slots[j];
		i = j;
	}
}

int64_t dictionary_slot(const struct columns *x, const struct column *c, int64_t value)
{
	const struct dict_slot *s = x->slots ? &x->slots[slot_of(x, arena_ref(x->arena, c), value)] : NULL;
	return s && s->index ? (int64_t)s->index - 1 : -1;
}

/* Position of value in a stretch, or -1. */
static int64_t stretch_find(const struct dict_run *r, int64_t value)
{
	if (value == r->start)
		return 0;
	if (r->count == 1)
		return -1;
	int64_t distance, at;
	if (__builtin_sub_overflow(value, r->start, &distance) || (distance == INT64_MIN && r->stride == -1) ||
	    distance % r->stride)
		return -1;
	at = distance / r->stride;
	return at > 0 && (uint64_t)at < r->count ? at : -1;
}

int64_t dictionary_find(const struct columns *x, struct column *c, int64_t value)
{
	const struct dict_run *runs = dictionary_runs(x, c);
	uint32_t linear = c->dict_count < DICTIONARY_LINEAR ? c->dict_count : DICTIONARY_LINEAR;
	for (uint32_t i = 0; i < linear; i++) {
		int64_t at = stretch_find(&runs[i], value);
		if (at >= 0)
			return (int64_t)runs[i].first + at;
	}
	if (c->dict_count > DICTIONARY_LINEAR && x->slots) {
		const struct dict_slot *s = &x->slots[slot_of(x, arena_ref(x->arena, c), value)];
		if (s->index)
			return s->index - 1;
	}
	return -1;
}

int64_t dictionary_value(const struct columns *x, struct column *c, uint32_t index)
{
	const struct dict_run *runs = dictionary_runs(x, c);
	uint32_t low = 0, high = c->dict_count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (runs[middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return runs[low].start + runs[low].stride * (int64_t)(index - runs[low].first);
}

bool dictionary_add(struct columns *x, struct column *c, int64_t value)
{
	struct arena *a = x->arena;
	struct dict_run *runs = dictionary_runs(x, c);
	if (c->dict_count == 0) {
		c->first = (struct dict_run){.start = value, .count = 1};
		arena_barrier();
		c->dict_count = 1;
		return true;
	}
	struct dict_run *last = &runs[c->dict_count - 1];
	int64_t stride, next;
	if (c->dict_count <= DICTIONARY_LINEAR) {
		if (last->count == 1 && !__builtin_sub_overflow(value, last->start, &stride)) {
			last->stride = stride;
			arena_barrier();
			last->count = 2;
			return true;
		}
		if (last->count > 1 && !__builtin_mul_overflow(last->stride, (int64_t)last->count, &next) &&
		    !__builtin_add_overflow(next, last->start, &next) && next == value) {
			last->count++;
			return true;
		}
	}
	uint64_t index = last->first + last->count;
	if (index >= UINT32_MAX / 2)
		return false;
	if (c->dict_count * sizeof *runs >= c->dict_capacity) {
		uint64_t capacity;
		ref old = c->dict, more = arena_alloc_block(a, (c->dict_count + 1) * sizeof *runs, &capacity);
		if (!more) {
			arena_commit(a);
			return false;
		}
		memcpy(arena_at(a, struct dict_run, more), runs, c->dict_count * sizeof *runs);
		arena_set(a, c->dict, more);
		if (old)
			arena_free_block(a, old, c->dict_capacity);
		c->dict_capacity = (uint32_t)capacity; /* shares its word with dict */
		arena_commit(a);
		runs = dictionary_runs(x, c);
	}
	runs[c->dict_count] = (struct dict_run){.start = value, .count = 1, .first = index};
	arena_barrier();
	c->dict_count++;
	c->grown += c->raw != 0; /* it was random before: what is new each time is so again */
	if (c->dict_count > DICTIONARY_LINEAR)
		dictionary_slot_add(x, c, value, (uint32_t)index);
	return true;
}

void dictionary_sync(struct columns *x, struct column *c, uint64_t run)
{
	if (run > c->synced) {
		assert(c->dict_count > 0);
		dictionary_runs(x, c)[c->dict_count - 1].count += run - c->synced;
		arena_barrier();
		c->synced = run;
	}
}

void dictionary_cut(struct columns *x, struct column *c, uint64_t count)
{
	struct arena *a = x->arena;
	struct dict_run *runs = dictionary_runs(x, c);
	uint32_t n = 0;
	while (n < c->dict_count && runs[n].first < count)
		n++;
	if (n == 0)
		return;
	if (runs[n - 1].count > count - runs[n - 1].first)
		runs[n - 1].count = count - runs[n - 1].first;
	arena_barrier();
	c->dict_count = n;
	/* a block is a power of two: its second half is one, too */
	while (c->dict && c->dict_capacity / 2 >= n * sizeof *runs) {
		uint32_t half = c->dict_capacity / 2;
		arena_set(a, c->dict_capacity, half);
		arena_free_block(a, c->dict + half, half);
		arena_commit(a);
	}
}
