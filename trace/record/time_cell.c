/* SPDX-License-Identifier: BSD-3-Clause
 * time_cell - the times of a site or an edge, as small as they can be
 */
#include "trace/record/time_cell.h"

#include <string.h>

_Static_assert(offsetof(struct time_cell, list) == offsetof(struct time_cell, full) + sizeof(ref) &&
                       offsetof(struct time_cell, full) % sizeof(uint64_t) == 0,
               "one word");

#define TICKS_BITS 40
#define TICKS_MOST ((UINT64_C(1) << TICKS_BITS) - 1)

static uint64_t word_ticks(uint64_t word)
{
	return (word & TICKS_MOST) - 1;
}

static bool word_put(uint64_t *words, uint64_t n, uint64_t word)
{
	for (uint64_t i = 0; i < n; i++)
		if (!words[i]) {
			words[i] = word;
			return true;
		}
	return false;
}

/* A list twice as long. False: no room, or it is long enough. */
static bool list_grow(struct arena *a, struct time_cell *c)
{
	ref old = c->list;
	uint64_t n = old ? *arena_at(a, uint64_t, old) : 0, capacity;
	if (n >= TIME_LIST)
		return false;
	ref at = arena_alloc_block(a, (2 * n + 2) * sizeof(uint64_t), &capacity);
	arena_commit(a);
	if (!at)
		return false;
	uint64_t *list = arena_at(a, uint64_t, at);
	memset(list, 0, capacity);
	if (n)
		memcpy(list, arena_at(a, uint64_t, old), (n + 1) * sizeof *list);
	list[0] = capacity / sizeof *list - 1;
	arena_barrier();
	c->list = at;
	arena_barrier();
	if (old) {
		arena_free_block(a, old, (n + 1) * sizeof *list);
		arena_commit(a);
	}
	return true;
}

/* Adds a word to those that are there one by one. False: there are enough of them, or no room. */
static bool word_add(struct arena *a, struct time_cell *c, uint64_t word)
{
	if (word_put(c->few, TIME_FEW, word))
		return true;
	do {
		uint64_t *list = c->list ? arena_at(a, uint64_t, c->list) : NULL;
		if (list && word_put(list + 1, list[0], word))
			return true;
	} while (list_grow(a, c));
	return false;
}

static void words_count(struct arena *a, struct record_time *t, const uint64_t *words, uint64_t n)
{
	for (uint64_t i = 0; i < n && words[i]; i++)
		record_time_add(a, t, word_ticks(words[i]), words[i] >> TICKS_BITS);
}

static void add_up(const uint64_t *words, uint64_t n, uint64_t *count, uint64_t *sum)
{
	for (uint64_t i = 0; i < n && words[i]; i++) {
		++*count;
		*sum += word_ticks(words[i]);
	}
}

/* The last of the memory is for sites. */
#define TIMES_LEFT 32

/* False: no room. */
static bool become_full(struct arena *a, struct time_cell *c)
{
	ref list = c->list, at = arena_left(a) > a->size / TIMES_LEFT ? arena_alloc(a, sizeof(struct record_time)) : 0;
	uint64_t n = list ? *arena_at(a, uint64_t, list) : 0;
	arena_commit(a);
	if (!at)
		return false;
	words_count(a, arena_at(a, struct record_time, at), c->few, TIME_FEW);
	if (list)
		words_count(a, arena_at(a, struct record_time, at), arena_at(a, uint64_t, list) + 1, n);
	arena_barrier();
	uint64_t count = 0, unused = 0;
	add_up(c->few, TIME_FEW, &count, &unused);
	if (list)
		add_up(arena_at(a, uint64_t, list) + 1, n, &count, &unused);
	time_cell_become(a, c, at, 0, count);
	return true;
}

static void become_poor(struct arena *a, struct time_cell *c, ref poor)
{
	uint64_t count = 0, sum = 0;
	ref list = c->list;
	uint64_t n = list ? *arena_at(a, uint64_t, list) : 0;
	add_up(c->few, TIME_FEW, &count, &sum);
	if (list)
		add_up(arena_at(a, uint64_t, list) + 1, n, &count, &sum);
	arena_set(a, c->full, poor);
	c->list = 0; /* in the same word */
	arena_set(a, c->few[0], count);
	arena_set(a, c->few[1], sum);
	arena_free_block(a, list, (n + 1) * sizeof(uint64_t));
	arena_commit(a);
	c->at = arena_at(a, struct record_time, poor);
}

void time_cell_add(struct arena *a, struct time_cell *c, struct time_none none, uint64_t ticks, uint64_t visit)
{
	if (c->full == none.never) {
		if (ticks < TICKS_MOST && visit >> (64 - TICKS_BITS) == 0 &&
		    word_add(a, c, visit << TICKS_BITS | (ticks + 1)))
			return;
		if (!become_full(a, c))
			become_poor(a, c, none.poor);
	}
	if (c->full == none.poor) {
		c->few[1] += ticks;
		arena_barrier();
		c->few[0]++;
		return;
	}
	record_time_add(a, arena_at(a, struct record_time, c->full), ticks, visit);
}

static uint32_t words_values(const uint64_t *words, uint64_t n, uint64_t *ticks, uint64_t *visits)
{
	uint32_t count = 0;
	for (uint64_t i = 0; i < n && words[i]; i++) {
		ticks[count] = word_ticks(words[i]);
		visits[count++] = words[i] >> TICKS_BITS;
	}
	return count;
}

uint32_t time_cell_values(const struct arena *a, const struct time_cell *c, uint64_t *ticks, uint64_t *visits)
{
	if (c->at->width || c->at->count)
		return 0;
	uint32_t n = words_values(c->few, TIME_FEW, ticks, visits);
	if (c->list)
		n += words_values(arena_at(a, uint64_t, c->list) + 1, *arena_at(a, uint64_t, c->list), ticks + n,
		                  visits + n);
	return n;
}

void time_cell_become(struct arena *a, struct time_cell *c, ref full, ref more, uint64_t n)
{
	ref list = c->list;
	uint64_t words = list ? *arena_at(a, uint64_t, list) : 0, both;
	struct time_cell now = {.full = full, .list = more};
	memcpy(&both, &now.full, sizeof both);
	memcpy(&c->full, &both, sizeof both);
	arena_barrier();
	c->few[0] = n;
	c->at = arena_at(a, struct record_time, full);
	if (list) {
		arena_free_block(a, list, (words + 1) * sizeof(uint64_t));
		arena_commit(a);
	}
}

static int words_extract(struct histogram *to, const uint64_t *words, uint64_t n, double ns_per_tick, uint32_t rank)
{
	for (uint64_t i = 0; i < n && words[i]; i++)
		if ((words[i] & TICKS_MOST) == 0 ||
		    record_time_one(to, word_ticks(words[i]), ns_per_tick, rank, words[i] >> TICKS_BITS) != 0)
			return -1;
	return 0;
}

int time_cell_extract(struct histogram *to, const struct arena *a, const struct time_cell *c, struct time_none none,
                      double ns_per_tick, uint32_t rank)
{
	*to = (struct histogram){0};
	if (c->full == none.poor)
		return record_time_sum(to, c->few[0], c->few[1], ns_per_tick, rank);
	if (c->full != none.never)
		return arena_valid(a, c->full, sizeof(struct record_time))
		               ? record_time_extract(to, a, arena_at(a, struct record_time, c->full), ns_per_tick, rank)
		               : -1;
	if (words_extract(to, c->few, TIME_FEW, ns_per_tick, rank) != 0)
		return -1;
	if (!c->list)
		return 0;
	if (!arena_valid(a, c->list, sizeof(uint64_t)))
		return -1;
	const uint64_t *list = arena_at(a, uint64_t, c->list);
	if (list[0] > TIME_LIST || !arena_valid(a, c->list, (list[0] + 1) * sizeof *list))
		return -1;
	return words_extract(to, list + 1, list[0], ns_per_tick, rank);
}
