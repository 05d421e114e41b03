/* SPDX-License-Identifier: BSD-3-Clause
 * request - symbols for live requests: r0, r1, ...
 *
 * Resolving an array walks each list once, by a cursor in the slot that is valid for this array only (its epoch).
 */
#include "preload/request.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct request_table request_table;
#define table request_table

static pthread_mutex_t request_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void lock(void)
{
	if (__builtin_expect(handle_locking, 0)) {
		pthread_mutex_lock(&request_lock);
		table.room = 0;
	}
}

static inline void unlock(void)
{
	if (__builtin_expect(handle_locking, 0))
		pthread_mutex_unlock(&request_lock);
}

static inline struct request_slot *find(uint64_t key)
{
	if (__builtin_expect(!table.slots, 0))
		return NULL;
	for (size_t i = request_home(key);; i = (i + 1) & table.mask) {
		if (table.slots[i].key == key)
			return &table.slots[i];
		if (!table.slots[i].key)
			return NULL;
	}
}

static bool grow_slots(void)
{
	size_t old_count = table.slots ? table.mask + 1 : 0, count = table.slots ? 2 * old_count : 64;
	struct request_slot *old = table.slots, *bigger = calloc(count, sizeof(*bigger));

	if (!bigger)
		return false;
	table.slots = bigger;
	table.mask = count - 1;
	table.shift = 64 - __builtin_ctzl(count);
	table.room = handle_locking ? 0 : count / 2;
	for (size_t i = 0; i < old_count; i++) {
		size_t j;

		if (!old[i].key)
			continue;
		for (j = request_home(old[i].key); table.slots[j].key; j = (j + 1) & table.mask)
			;
		table.slots[j] = old[i];
	}
	free(old);
	return true;
}

static void remove_slot(struct request_slot *s)
{
	size_t hole = s - table.slots;

	for (size_t i = (hole + 1) & table.mask; table.slots[i].key; i = (i + 1) & table.mask) {
		if (((i - request_home(table.slots[i].key)) & table.mask) >= ((i - hole) & table.mask)) {
			table.slots[hole] = table.slots[i];
			hole = i;
		}
	}
	table.slots[hole].key = 0;
	table.used--;
}

static bool grow_nodes(void)
{
	size_t bigger = table.node_count ? 2 * table.node_count : 64;
	struct request_node *n = realloc(table.nodes, bigger * sizeof(*n));

	if (!n)
		return false;
	table.nodes = n;
	table.node_count = bigger;
	return true;
}

/* The lowest free number, with a node; or -1 without memory. */
static int32_t take_number(void)
{
	int32_t number = numbers_take(&table.numbers);

	if (number >= 0 && (size_t)number >= table.node_count && !grow_nodes()) {
		numbers_give(&table.numbers, number);
		return -1;
	}
	return number;
}

static int32_t add(uint64_t bits, unsigned traits)
{
	int saved = errno;
	struct request_slot *s = find(bits);
	int32_t number;

	if (!s && 2 * (table.used + 1) > (table.slots ? table.mask + 1 : 0) && !grow_slots()) {
		errno = saved;
		return REQUEST_UNKNOWN;
	}
	number = take_number();
	errno = saved;
	if (number < 0)
		return REQUEST_UNKNOWN;
	table.nodes[number] = (struct request_node){-1, (uint8_t)traits, false};
	if (s) {
		table.nodes[s->last].next = number;
		s->last = number;
	} else {
		size_t i;

		for (i = request_home(bits); table.slots[i].key; i = (i + 1) & table.mask)
			;
		table.slots[i] = (struct request_slot){bits, number, number, number, 0};
		table.used++;
	}
	table.live++;
	return number;
}

/* The first of a list, from number on, that no other thread has claimed; -1: none. It is claimed then. */
static int32_t claim(int32_t number)
{
	if (__builtin_expect(!handle_locking, 1))
		return number;
	while (number >= 0 && table.nodes[number].claimed)
		number = table.nodes[number].next;
	if (number >= 0)
		table.nodes[number].claimed = true;
	return number;
}

int32_t request_new_slowly(uint64_t bits, uint64_t null, unsigned traits)
{
	int32_t number;

	if (bits == null)
		return REQUEST_NONE;
	if (!bits)
		return REQUEST_UNKNOWN;
	lock();
	number = add(bits, traits);
	unlock();
	return number;
}

struct request_ref request_find(uint64_t bits, uint64_t null, bool may_be_new)
{
	struct request_ref ref = {bits, REQUEST_NONE, 0};
	const struct request_slot *s;

	if (bits == null)
		return ref;
	ref.number = REQUEST_UNKNOWN;
	if (!bits)
		return ref;
	lock();
	s = find(bits);
	ref.number = s ? claim(s->first) : REQUEST_NONE;
	if (ref.number < 0)
		ref.number = may_be_new ? claim(add(bits, 0)) : REQUEST_UNKNOWN;
	if (ref.number >= 0)
		ref.traits = table.nodes[ref.number].traits;
	unlock();
	return ref;
}

static struct request_ref find_next(uint64_t bits, uint64_t null)
{
	struct request_ref ref = {bits, bits == null ? REQUEST_NONE : REQUEST_UNKNOWN, 0};
	struct request_slot *s;

	if (bits == null || !bits)
		return ref;
	s = find(bits);
	if (s && s->epoch != table.epoch) {
		s->epoch = table.epoch;
		s->cursor = s->first;
	}
	ref.number = s ? claim(s->cursor) : REQUEST_NONE;
	if (ref.number < 0) {
		ref.number = claim(add(bits, 0));
		s = find(bits);
		if (ref.number < 0)
			return ref;
		s->epoch = table.epoch;
	}
	ref.traits = table.nodes[ref.number].traits;
	s->cursor = table.nodes[ref.number].next;
	return ref;
}

void request_find_all(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null)
{
	lock();
	if (!++table.epoch) /* wrapped: no slot may look as if it had been visited */
		for (size_t i = table.epoch = 1; table.slots && i <= table.mask + 1; i++)
			table.slots[i - 1].epoch = 0;
	const size_t room = table.room;
	for (size_t i = 0; i < n; i++) {
		struct request_slot *s = room ? &table.slots[request_home(bits[i])] : NULL;

		if (__builtin_expect(s && s->key == bits[i] && bits[i] && s->epoch != table.epoch, 1)) {
			const struct request_node *node = &table.nodes[s->first];

			s->epoch = table.epoch;
			s->cursor = node->next;
			refs[i] = (struct request_ref){bits[i], s->first, node->traits};
		} else {
			refs[i] = find_next(bits[i], null);
		}
	}
	unlock();
}

void request_end_slowly(const struct request_ref *ref)
{
	struct request_slot *s;
	int32_t number = ref->number;

	if (number < 0)
		return;
	lock();
	s = find(ref->bits);
	if (s && s->first == number) { /* nearly always */
		s->first = table.nodes[number].next;
		if (s->first < 0)
			remove_slot(s);
	} else if (s) {
		int32_t before = s->first;

		while (before >= 0 && table.nodes[before].next != number)
			before = table.nodes[before].next;
		if (before < 0)
			goto out;
		table.nodes[before].next = table.nodes[number].next;
		if (s->last == number)
			s->last = before;
	} else {
		goto out;
	}
	numbers_give(&table.numbers, number);
	table.live--;
out:
	unlock();
}

void request_release_slowly(const struct request_ref *ref)
{
	if (ref->number < 0)
		return;
	lock();
	table.nodes[ref->number].claimed = false;
	unlock();
}

size_t request_count(void)
{
	return table.live;
}

void request_reset(void)
{
	free(table.slots);
	free(table.nodes);
	numbers_reset(&table.numbers);
	table = (struct request_table){.epoch = 0};
}
