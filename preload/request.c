/* SPDX-License-Identifier: BSD-3-Clause
 * request - symbols for live requests: r0, r1, ...
 *
 * Two tables. `nodes`, by number: what is known of a live request, and the next younger one with the same handle.
 * `slots`, a hash table by handle (as in handle.c): the oldest and the youngest live request with that handle. For four
 * sends, of which the first and the last two are to MPI_PROC_NULL and share the handle P:
 *
 *     slots   P: first 0, last 3      Q: first 1, last 1
 *     nodes   0: next 2   1: -   2: next 3   3: -
 *
 * Resolving an array walks each list once, by a cursor in the slot that is valid for this array only (its epoch).
 */
#include "preload/request.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "preload/numbers.h"

extern bool handle_locking; /* handle.h, which knows MPI: this file does not */

struct slot {
	uint64_t key; /* handle bits; 0: empty */
	int32_t first, last;
	int32_t cursor; /* the next one that an array with this epoch means; -1: all are taken */
	uint32_t epoch;
};

struct node {
	int32_t next; /* -1: none */
	uint8_t traits;
	bool claimed; /* only kept with several threads */
};

static struct slot *slots;
static size_t mask;
static unsigned shift;
static size_t used;
static struct node *nodes;
static size_t node_count;
static struct numbers numbers;
static size_t live;
static uint32_t epoch;
static pthread_mutex_t request_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void lock(void)
{
	if (__builtin_expect(handle_locking, 0))
		pthread_mutex_lock(&request_lock);
}

static inline void unlock(void)
{
	if (__builtin_expect(handle_locking, 0))
		pthread_mutex_unlock(&request_lock);
}

static inline size_t home(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> shift;
}

static inline struct slot *find(uint64_t key)
{
	if (__builtin_expect(!slots, 0))
		return NULL;
	for (size_t i = home(key);; i = (i + 1) & mask) {
		if (slots[i].key == key)
			return &slots[i];
		if (!slots[i].key)
			return NULL;
	}
}

static bool grow_slots(void)
{
	size_t old_count = slots ? mask + 1 : 0, count = slots ? 2 * old_count : 64;
	struct slot *old = slots, *bigger = calloc(count, sizeof(*bigger));

	if (!bigger)
		return false;
	slots = bigger;
	mask = count - 1;
	shift = 64 - __builtin_ctzl(count);
	for (size_t i = 0; i < old_count; i++) {
		size_t j;

		if (!old[i].key)
			continue;
		for (j = home(old[i].key); slots[j].key; j = (j + 1) & mask)
			;
		slots[j] = old[i];
	}
	free(old);
	return true;
}

static void remove_slot(struct slot *s)
{
	size_t hole = s - slots;

	for (size_t i = (hole + 1) & mask; slots[i].key; i = (i + 1) & mask) {
		if (((i - home(slots[i].key)) & mask) >= ((i - hole) & mask)) {
			slots[hole] = slots[i];
			hole = i;
		}
	}
	slots[hole].key = 0;
	used--;
}

static bool grow_nodes(void)
{
	size_t bigger = node_count ? 2 * node_count : 64;
	struct node *n = realloc(nodes, bigger * sizeof(*n));

	if (!n)
		return false;
	nodes = n;
	node_count = bigger;
	return true;
}

/* The lowest free number, with a node; or -1 without memory. */
static int32_t take_number(void)
{
	int32_t number = numbers_take(&numbers);

	if (number >= 0 && (size_t)number >= node_count && !grow_nodes()) {
		numbers_give(&numbers, number);
		return -1;
	}
	return number;
}

static int32_t add(uint64_t bits, unsigned traits)
{
	int saved = errno;
	struct slot *s = find(bits);
	int32_t number;

	if (!s && 2 * (used + 1) > (slots ? mask + 1 : 0) && !grow_slots()) {
		errno = saved;
		return REQUEST_UNKNOWN;
	}
	number = take_number();
	errno = saved;
	if (number < 0)
		return REQUEST_UNKNOWN;
	nodes[number] = (struct node){-1, (uint8_t)traits, false};
	if (s) {
		nodes[s->last].next = number;
		s->last = number;
	} else {
		size_t i;

		for (i = home(bits); slots[i].key; i = (i + 1) & mask)
			;
		slots[i] = (struct slot){bits, number, number, number, 0};
		used++;
	}
	live++;
	return number;
}

/* The first of a list, from number on, that no other thread has claimed; -1: none. It is claimed then. */
static int32_t claim(int32_t number)
{
	if (__builtin_expect(!handle_locking, 1))
		return number;
	while (number >= 0 && nodes[number].claimed)
		number = nodes[number].next;
	if (number >= 0)
		nodes[number].claimed = true;
	return number;
}

int32_t request_new(uint64_t bits, uint64_t null, unsigned traits)
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
	const struct slot *s;

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
		ref.traits = nodes[ref.number].traits;
	unlock();
	return ref;
}

void request_find_all(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null)
{
	lock();
	if (!++epoch) /* wrapped: no slot may look as if it had been visited */
		for (size_t i = epoch = 1; slots && i <= mask + 1; i++)
			slots[i - 1].epoch = 0;
	for (size_t i = 0; i < n; i++) {
		struct slot *s;

		refs[i] = (struct request_ref){bits[i], bits[i] == null ? REQUEST_NONE : REQUEST_UNKNOWN, 0};
		if (bits[i] == null || !bits[i])
			continue;
		s = find(bits[i]);
		if (s && s->epoch != epoch) {
			s->epoch = epoch;
			s->cursor = s->first;
		}
		refs[i].number = s ? claim(s->cursor) : REQUEST_NONE;
		if (refs[i].number < 0) {
			refs[i].number = claim(add(bits[i], 0));
			s = find(bits[i]);
			if (refs[i].number < 0)
				continue;
			s->epoch = epoch;
		}
		refs[i].traits = nodes[refs[i].number].traits;
		s->cursor = nodes[refs[i].number].next;
	}
	unlock();
}

void request_end(const struct request_ref *ref)
{
	struct slot *s;
	int32_t number = ref->number;

	if (number < 0)
		return;
	lock();
	s = find(ref->bits);
	if (s && s->first == number) { /* nearly always */
		s->first = nodes[number].next;
		if (s->first < 0)
			remove_slot(s);
	} else if (s) {
		int32_t before = s->first;

		while (before >= 0 && nodes[before].next != number)
			before = nodes[before].next;
		if (before < 0)
			goto out;
		nodes[before].next = nodes[number].next;
		if (s->last == number)
			s->last = before;
	} else {
		goto out;
	}
	numbers_give(&numbers, number);
	live--;
out:
	unlock();
}

void request_release(const struct request_ref *ref)
{
	if (__builtin_expect(!handle_locking, 1) || ref->number < 0)
		return;
	lock();
	nodes[ref->number].claimed = false;
	unlock();
}

size_t request_count(void)
{
	return live;
}

void request_reset(void)
{
	free(slots);
	free(nodes);
	numbers_reset(&numbers);
	slots = NULL;
	nodes = NULL;
	mask = used = node_count = live = 0;
	epoch = 0;
}
