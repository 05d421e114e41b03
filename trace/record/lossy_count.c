/* SPDX-License-Identifier: BSD-3-Clause
 * lossy_count - one value more in the tallies of an arena
 */
#include "trace/record/lossy_count.h"
#include "trace/record/dictionary.h"

#include <string.h>

static void retire(struct columns *x, struct retired *old, ref at, uint64_t capacity)
{
	if (at && old->count < sizeof old->block / sizeof *old->block) {
		old->block[old->count].at = at;
		old->block[old->count++].capacity = capacity;
	} else {
		arena_free_block(x->arena, at, capacity);
	}
}

void lossy_commit(struct columns *x, struct retired *old)
{
	for (unsigned i = 0; i < old->count; i++)
		arena_free_block(x->arena, old->block[i].at, old->block[i].capacity);
	arena_commit(x->arena);
}

bool lossy_store(struct columns *x, struct lossy_tally *t, const struct tally *from, struct retired *old)
{
	struct arena *a = x->arena;
	uint64_t bytes = from->count * sizeof *from->bins, capacity;
	if (bytes == 0)
		return true;
	ref at = arena_alloc_block(a, bytes, &capacity);
	if (!at)
		return false;
	memcpy(arena_at(a, struct tally_bin, at), from->bins, bytes);
	retire(x, old, t->bins, t->capacity);
	retire(x, old, t->other, t->capacity);
	arena_set(a, t->bins, at);
	arena_set(a, t->capacity, (uint32_t)capacity);
	t->other = 0; /* in the same word */
	arena_set(a, t->count, from->count);
	return true;
}

/* Adds to the nearest bin, without memory. False: there is none. */
static bool squeeze(struct columns *x, struct lossy_tally *t, int64_t value, uint64_t count)
{
	struct tally v = lossy_view(x, t);
	struct tally_bin *b = NULL;
	for (uint32_t i = 0; i < v.count; i++)
		if (!value_is_constant(v.bins[i].min) && (!b || v.bins[i].min <= value))
			b = &v.bins[i];
	if (!b || value_is_constant(value))
		return false;
	lossy_count_in(x->arena, b, value, count);
	return true;
}

void lossy_add(struct columns *x, struct lossy_tally *t, int64_t value, uint64_t count, uint64_t *others,
               struct retired *old)
{
	struct tally v = lossy_view(x, t), grown;
	int64_t at = v.count ? tally_place(&v, value) : -1;
	if (__builtin_expect(at >= 0, 1)) {
		lossy_count_in(x->arena, &v.bins[at], value, count);
		return;
	}
	bool done = tally_copy(&grown, &v) == 0 && tally_add(&grown, value, count) == 0;
	if (done && x->bins)
		tally_balance(&grown, x->bins);
	if (!(done && lossy_store(x, t, &grown, old)) && !squeeze(x, t, value, count) && others)
		arena_set(x->arena, *others, *others + count);
	tally_free(&grown);
}

/* The runs of a successor. */
static struct lossy_tally *runs_of(struct columns *x, struct column *c, int64_t to)
{
	struct arena *a = x->arena;
	struct lossy *l = lossy_of(x, c);
	int64_t i = dictionary_slot(x, c, to);
	if (i >= 0 && i < l->next_count)
		return &arena_at(a, struct lossy_next, l->next)[i].runs;
	if ((l->next_count + UINT64_C(1)) * sizeof(struct lossy_next) > l->next_capacity) {
		uint64_t capacity;
		ref more = arena_alloc_block(a, (l->next_count + UINT64_C(1)) * sizeof(struct lossy_next), &capacity);
		if (!more) {
			arena_commit(a);
			return NULL;
		}
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
	dictionary_slot_add(x, c, to, l->next_count);
	arena_set(a, l->next_count, l->next_count + 1);
	return &next->runs;
}

void lossy_count_run(struct columns *x, struct column *c, int64_t value, uint64_t length, struct retired *old)
{
	struct lossy *l = lossy_of(x, c);
	if ((c->role & ROLE_KINDS) == ROLE_NEXT) {
		struct lossy_tally *t = runs_of(x, c, value);
		if (t)
			lossy_add(x, t, (int64_t)length, 1, NULL, old);
	} else {
		lossy_add(x, &l->tally, value, length, &l->others[0], old);
	}
}

/* Vectors of more elements than this are counted in a copy of the tally: the journal has no room for each of them. */
#define PLAIN_ELEMENTS 64

void lossy_count_vector(struct columns *x, struct lossy *l, const int64_t *values, size_t n, uint64_t times,
                        struct retired *old)
{
	if (n == SIZE_MAX) {
		lossy_add(x, &l->tally, *values, times, &l->others[0], old);
		return;
	}
	struct tally elements = lossy_view(x, &l->elements), grown = {0}, lengths = {0};
	struct tally_bin *place[PLAIN_ELEMENTS];
	bool plain = n <= PLAIN_ELEMENTS && elements.count > 0;
	for (size_t i = 0; plain && i < n; i++) {
		int64_t at = i > 0 && values[i] == values[i - 1] ? place[i - 1] - elements.bins
		                                                 : tally_place(&elements, values[i]);
		plain = at >= 0;
		place[i] = elements.bins + (at < 0 ? 0 : at);
	}
	lossy_add(x, &l->tally, (int64_t)n, times, &l->others[0], old);
	if (plain) {
		for (size_t i = 0, k; i < n; i = k) {
			for (k = i + 1; k < n && values[k] == values[i]; k++) {
			}
			lossy_count_in(x->arena, place[i], values[i], (k - i) * times);
		}
		return;
	}
	bool done = tally_copy(&grown, &elements) == 0 && lossy_add_vector(&lengths, &grown, values, n, times);
	if (done && x->bins)
		tally_balance(&grown, x->bins);
	if (!(done && lossy_store(x, &l->elements, &grown, old)))
		for (size_t i = 0; i < n; i++)
			if (!squeeze(x, &l->elements, values[i], times))
				arena_set(x->arena, l->others[1], l->others[1] + times);
	tally_free(&grown);
	tally_free(&lengths);
}
