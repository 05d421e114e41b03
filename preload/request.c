/* SPDX-License-Identifier: BSD-3-Clause
 * request - symbols for live requests: r0, r1, ...
 *
 * Resolving an array walks each list once, by a cursor in the slot that is valid for this array only (its epoch).
 */
#include "preload/request.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct request_table request_table;

#define THREADS 4096 /* thread.h */
static struct request_table *tables[THREADS] = {&request_table}; /* atomic; by thread, NULL from the first on that has none */
static __thread struct request_table *mine;

static inline struct request_table *own(void)
{
	return __builtin_expect(handle_locking, 0) && mine ? mine : &request_table;
}

/* What is done under the lock takes less than going to sleep does. */
static inline void lock(struct request_table *t)
{
	if (__builtin_expect(handle_locking, 0)) {
		while (__atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE))
			sched_yield();
		t->room = 0;
	}
}

static inline void unlock(struct request_table *t)
{
	if (__builtin_expect(handle_locking, 0))
		__atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
}

void request_thread(uint32_t thread)
{
	struct request_table *t = thread < THREADS ? tables[thread] : NULL;
	int saved = errno;

	if (!t && thread < THREADS) {
		t = calloc(1, sizeof(*t));
		errno = saved;
		if (t) {
			t->thread = thread;
			__atomic_store_n(&tables[thread], t, __ATOMIC_RELEASE);
		}
	}
	if (t)
		t->room = 0;
	mine = t;
}

/* The table of a thread that may not be the calling one; NULL: there are no further ones. */
static struct request_table *table_of(uint32_t thread)
{
	return thread < THREADS ? __atomic_load_n(&tables[thread], __ATOMIC_ACQUIRE) : NULL;
}

/* Its owner's, for a ref with a number. */
static struct request_table *owner(const struct request_ref *ref)
{
	return ref->number >> 32 ? table_of((uint32_t)(ref->number >> 32) - 1) : own();
}

/* The number of a request in another thread's events. */
static int64_t number_in(const struct request_table *t, int32_t number)
{
	return t == own() || number < 0 ? number : ((int64_t)t->thread + 1) << 32 | number;
}

static inline size_t home(const struct request_table *t, uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> t->shift;
}

static inline struct request_slot *find(struct request_table *t, uint64_t key)
{
	if (__builtin_expect(!t->slots, 0))
		return NULL;
	for (size_t i = home(t, key);; i = (i + 1) & t->mask) {
		if (t->slots[i].key == key)
			return &t->slots[i];
		if (!t->slots[i].key)
			return NULL;
	}
}

static bool grow_slots(struct request_table *t)
{
	size_t old_count = t->slots ? t->mask + 1 : 0, count = t->slots ? 2 * old_count : 64;
	struct request_slot *old = t->slots, *bigger = calloc(count, sizeof(*bigger));

	if (!bigger)
		return false;
	t->slots = bigger;
	t->mask = count - 1;
	t->shift = 64 - __builtin_ctzl(count);
	t->room = handle_locking ? 0 : count / 2;
	for (size_t i = 0; i < old_count; i++) {
		size_t j;

		if (!old[i].key)
			continue;
		for (j = home(t, old[i].key); t->slots[j].key; j = (j + 1) & t->mask)
			;
		t->slots[j] = old[i];
	}
	free(old);
	return true;
}

static void remove_slot(struct request_table *t, struct request_slot *s)
{
	size_t hole = s - t->slots;

	for (size_t i = (hole + 1) & t->mask; t->slots[i].key; i = (i + 1) & t->mask) {
		if (((i - home(t, t->slots[i].key)) & t->mask) >= ((i - hole) & t->mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole].key = 0;
	t->used--;
}

static bool grow_nodes(struct request_table *t)
{
	size_t bigger = t->node_count ? 2 * t->node_count : 64;
	struct request_node *n = realloc(t->nodes, bigger * sizeof(*n));

	if (!n)
		return false;
	t->nodes = n;
	t->node_count = bigger;
	return true;
}

/* The lowest free number, with a node; or -1 without memory. */
static int32_t take_number(struct request_table *t)
{
	int32_t number = numbers_take(&t->numbers);

	if (number >= 0 && (size_t)number >= t->node_count && !grow_nodes(t)) {
		numbers_give(&t->numbers, number);
		return -1;
	}
	return number;
}

static int32_t add(struct request_table *t, uint64_t bits, unsigned traits)
{
	int saved = errno;
	struct request_slot *s = find(t, bits);
	int32_t number;

	if (!s && 2 * (t->used + 1) > (t->slots ? t->mask + 1 : 0) && !grow_slots(t)) {
		errno = saved;
		return REQUEST_UNKNOWN;
	}
	number = take_number(t);
	errno = saved;
	if (number < 0)
		return REQUEST_UNKNOWN;
	t->nodes[number] = (struct request_node){-1, (uint8_t)traits, false};
	if (s) {
		t->nodes[s->last].next = number;
		s->last = number;
	} else {
		size_t i;

		for (i = home(t, bits); t->slots[i].key; i = (i + 1) & t->mask)
			;
		t->slots[i] = (struct request_slot){bits, number, number, number, 0};
		t->used++;
	}
	t->live++;
	return number;
}

/* The first of a list, from number on, that no other thread has claimed; -1: none. It is claimed then. */
static int32_t claim(struct request_table *t, int32_t number)
{
	if (__builtin_expect(!handle_locking, 1))
		return number;
	while (number >= 0 && t->nodes[number].claimed)
		number = t->nodes[number].next;
	if (number >= 0)
		t->nodes[number].claimed = true;
	return number;
}

int32_t request_new_slowly(uint64_t bits, uint64_t null, unsigned traits)
{
	struct request_table *t = own();
	int32_t number;

	if (bits == null)
		return REQUEST_NONE;
	if (!bits)
		return REQUEST_UNKNOWN;
	lock(t);
	number = add(t, bits, traits);
	unlock(t);
	return number;
}

/* Looks in the tables of all other threads, in their order. Returns whether it was found; it is claimed then. */
static bool find_elsewhere(struct request_ref *ref)
{
	struct request_table *t;

	for (uint32_t i = 0; handle_locking && (t = table_of(i)); i++) {
		const struct request_slot *s;
		int32_t number = -1;

		if (t == own())
			continue;
		lock(t);
		s = find(t, ref->bits);
		if (s)
			number = claim(t, s->first);
		if (number >= 0)
			ref->traits = t->nodes[number].traits;
		unlock(t);
		if (number >= 0) {
			ref->number = number_in(t, number);
			return true;
		}
	}
	return false;
}

/* It is not in the calling thread's table. */
static void find_other(struct request_ref *ref, bool may_be_new)
{
	struct request_table *t = own();

	if (find_elsewhere(ref))
		return;
	ref->number = REQUEST_UNKNOWN;
	if (!may_be_new)
		return;
	lock(t);
	ref->number = add(t, ref->bits, 0);
	if (ref->number >= 0)
		ref->number = claim(t, (int32_t)ref->number);
	unlock(t);
}

struct request_ref request_find(uint64_t bits, uint64_t null, bool may_be_new)
{
	struct request_ref ref = {bits, REQUEST_NONE, 0};
	struct request_table *t = own();
	const struct request_slot *s;

	if (bits == null)
		return ref;
	ref.number = REQUEST_UNKNOWN;
	if (!bits)
		return ref;
	lock(t);
	s = find(t, bits);
	ref.number = s ? claim(t, s->first) : REQUEST_NONE;
	if (ref.number >= 0)
		ref.traits = t->nodes[ref.number].traits;
	unlock(t);
	if (ref.number < 0)
		find_other(&ref, may_be_new);
	return ref;
}

/* The number of the oldest request in a table that has these bits, of those that are claimed or those that are not; -1: none. */
static int32_t look_in(struct request_table *t, struct request_ref *ref, bool claimed)
{
	const struct request_slot *s;
	int32_t number = -1;

	lock(t);
	s = find(t, ref->bits);
	for (number = s ? s->first : -1; number >= 0 && t->nodes[number].claimed != claimed; number = t->nodes[number].next)
		;
	if (number >= 0) {
		ref->traits = t->nodes[number].traits;
		ref->number = number_in(t, number);
	}
	unlock(t);
	return number;
}

struct request_ref request_look(uint64_t bits, uint64_t null)
{
	struct request_ref ref = {bits, bits == null ? REQUEST_NONE : REQUEST_UNKNOWN, 0};
	struct request_table *t;

	for (int claimed = 0; claimed <= (handle_locking ? 1 : 0) && bits != null && bits; claimed++) {
		if (look_in(own(), &ref, claimed) >= 0)
			return ref;
		for (uint32_t i = 0; handle_locking && (t = table_of(i)); i++)
			if (t != own() && look_in(t, &ref, claimed) >= 0)
				return ref;
	}
	return ref;
}

/* Not in the calling thread's table: to be looked for when that is not locked. */
#define ELSEWHERE (-3)

static struct request_ref find_next(struct request_table *t, uint64_t bits, uint64_t null)
{
	struct request_ref ref = {bits, bits == null ? REQUEST_NONE : REQUEST_UNKNOWN, 0};
	struct request_slot *s;

	if (bits == null || !bits)
		return ref;
	s = find(t, bits);
	if (s && s->epoch != t->epoch) {
		s->epoch = t->epoch;
		s->cursor = s->first;
	}
	ref.number = s ? claim(t, s->cursor) : REQUEST_NONE;
	if (ref.number < 0) {
		if (handle_locking) {
			ref.number = ELSEWHERE;
			return ref;
		}
		ref.number = add(t, bits, 0);
		s = find(t, bits);
		if (ref.number < 0)
			return ref;
		s->epoch = t->epoch;
	}
	ref.traits = t->nodes[ref.number].traits;
	s->cursor = t->nodes[ref.number].next;
	return ref;
}

void request_find_all(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null)
{
	struct request_table *t = own();
	bool elsewhere = false;

	lock(t);
	if (!++t->epoch) /* wrapped: no slot may look as if it had been visited */
		for (size_t i = t->epoch = 1; t->slots && i <= t->mask + 1; i++)
			t->slots[i - 1].epoch = 0;
	const size_t room = t->room;
	for (size_t i = 0; i < n; i++) {
		struct request_slot *s = room ? &t->slots[home(t, bits[i])] : NULL;

		if (__builtin_expect(s && s->key == bits[i] && bits[i] && s->epoch != t->epoch, 1)) {
			const struct request_node *node = &t->nodes[s->first];

			s->epoch = t->epoch;
			s->cursor = node->next;
			refs[i] = (struct request_ref){bits[i], s->first, node->traits};
		} else {
			refs[i] = find_next(t, bits[i], null);
			elsewhere |= refs[i].number == ELSEWHERE;
		}
	}
	unlock(t);
	for (size_t i = 0; elsewhere && i < n; i++)
		if (refs[i].number == ELSEWHERE)
			find_other(&refs[i], true);
}

void request_end_slowly(const struct request_ref *ref)
{
	struct request_table *t = owner(ref);
	struct request_slot *s;
	int32_t number = (int32_t)ref->number;

	if (ref->number < 0 || !t)
		return;
	lock(t);
	s = find(t, ref->bits);
	if (s && s->first == number) { /* nearly always */
		s->first = t->nodes[number].next;
		if (s->first < 0)
			remove_slot(t, s);
	} else if (s) {
		int32_t before = s->first;

		while (before >= 0 && t->nodes[before].next != number)
			before = t->nodes[before].next;
		if (before < 0)
			goto out;
		t->nodes[before].next = t->nodes[number].next;
		if (s->last == number)
			s->last = before;
	} else {
		goto out;
	}
	numbers_give(&t->numbers, number);
	t->live--;
out:
	unlock(t);
}

void request_release_slowly(const struct request_ref *ref)
{
	struct request_table *t = owner(ref);

	if (ref->number < 0 || !t)
		return;
	lock(t);
	t->nodes[(int32_t)ref->number].claimed = false;
	unlock(t);
}

size_t request_count(void)
{
	size_t live = 0;

	for (uint32_t i = 0; table_of(i); i++)
		live += table_of(i)->live;
	return live;
}

void request_reset(void)
{
	struct request_table *t;

	for (uint32_t i = 0; (t = table_of(i)); i++) {
		free(t->slots);
		free(t->nodes);
		numbers_reset(&t->numbers);
		if (i == 0) {
			request_table = (struct request_table){.epoch = 0};
		} else {
			tables[i] = NULL;
			free(t);
		}
	}
	mine = NULL;
}
