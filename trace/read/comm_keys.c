/* SPDX-License-Identifier: BSD-3-Clause
 * comm_keys - by what communicators of different ranks are known to be the same
 */
#include <stdlib.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/read/comm_own.h"

#define KEY_WORLD 1
#define KEY_SELF  2

/* What the place's key becomes by a branch; other: of the key that the other group has. 0: not known (yet). */
static uint64_t branch_key(const struct comms *c, uint32_t place, uint32_t home, uint64_t branch, bool other)
{
	uint64_t key = place == OWN_WORLD  ? KEY_WORLD
	               : place == OWN_SELF ? hash_mix(KEY_SELF, home)
	               : place == OWN_NONE ? 8
	               : other             ? c->own[place].other
	                                   : c->own[place].key;
	return key ? hash_mix(hash_mix(key, 9), branch) | 1 : 0;
}

/* Those with one key are told by how many the rank had before; of merged ones all that is known is the size. */
static uint64_t nth_key(const struct comms *c, uint32_t place, uint64_t key)
{
	uint64_t again = 0;
	const struct own *own = &c->own[place];
	for (uint32_t i = place; i-- > 0 && c->own[i].stream == own->stream && budget_step(1);) {
		const struct own *before = &c->own[i];
		again +=
			before->origin == own->origin &&
			(own->origin == ORIGIN_MERGED ? before->size == own->size
		                                      : before->branch == own->branch && before->parent == own->parent);
	}
	return hash_mix(key, again) | 1;
}

/* Finds keys that are known by now. last: what is not known now never will be. Returns how many were found. */
static uint32_t keys_find(struct comms *c, bool last)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < c->count && budget_step(1); i++) {
		struct own *own = &c->own[i];
		uint64_t key = own->key, other = own->other;
		if (!key)
			key = branch_key(c, own->parent, own->home, own->branch, false);
		if (own->inter && own->origin == ORIGIN_PARENT && !other)
			other = branch_key(c, own->parent, own->home, own->branch, true);
		if (own->origin == ORIGIN_MERGED && !own->key) {
			uint64_t theirs =
				own->parent == OWN_NONE ? 0 : branch_key(c, own->parent, own->home, own->branch, true);
			key = key && theirs ? (key < theirs ? key : theirs) : last ? nth_key(c, i, hash_mix(8, 9)) : 0;
		} else if (own->origin == ORIGIN_MEMBERS && !own->key && key) {
			key = nth_key(c, i, key);
		}
		found += key != own->key || other != own->other;
		own->key = key;
		own->other = other;
	}
	return found;
}

struct meeting {
	uint64_t key;
	uint32_t place;
	bool second;
};

static int by_meeting(const void *a, const void *b)
{
	const struct meeting *x = a, *y = b;
	return x->key != y->key         ? (x->key < y->key ? -1 : 1)
	       : x->second != y->second ? (x->second ? 1 : -1)
	                                : (x->place > y->place) - (x->place < y->place);
}

/* Several groups at one port: which call of the one side meets which of the other is not known. */
static bool is_one_group(const struct comms *c, const struct meeting *list, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (c->own[list[i].place].stream != c->own[list->place].stream)
			return false;
	return true;
}

struct pair_of_halves {
	uint64_t key, other;
};

static int by_half(const void *a, const void *b)
{
	const struct pair_of_halves *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* The n-th call of one leader meets the n-th one of the other; both groups learn each other's key. */
static int halves_pair(struct comms *c)
{
	struct meeting *list = budget_malloc((c->count + (size_t)1) * sizeof *list);
	struct pair_of_halves *pairs = budget_malloc((c->count + (size_t)1) * sizeof *pairs);
	size_t n = 0, count = 0;
	int rv = list && pairs ? 0 : -1;
	for (uint32_t i = 0; rv == 0 && i < c->count; i++) {
		const struct own *own = &c->own[i];
		uint64_t where = own->met == OWN_NONE ? 1 : branch_key(c, own->met, own->home, 0, false);
		if (own->meeting && own->key && where)
			list[n++] = (struct meeting){hash_mix(where, own->meeting), i, own->second};
	}
	if (n > 0)
		qsort(list, n, sizeof *list, by_meeting);
	for (size_t i = 0, second, end; i < n; i = end) {
		for (second = i; second < n && list[second].key == list[i].key && !list[second].second;)
			second++;
		for (end = second; end < n && list[end].key == list[i].key;)
			end++;
		if (!is_one_group(c, &list[i], second - i) || !is_one_group(c, &list[second], end - second))
			continue;
		for (size_t k = 0; i + k < second && second + k < end; k++) {
			uint64_t one = c->own[list[i + k].place].key, two = c->own[list[second + k].place].key;
			pairs[count++] = (struct pair_of_halves){one, two};
			pairs[count++] = (struct pair_of_halves){two, one};
		}
	}
	if (count > 0)
		qsort(pairs, count, sizeof *pairs, by_half);
	for (uint32_t i = 0; count > 0 && i < c->count; i++) {
		const struct pair_of_halves key = {.key = c->own[i].key},
					    *pair = c->own[i].origin == ORIGIN_HALF && key.key
		                                            ? bsearch(&key, pairs, count, sizeof key, by_half)
		                                            : NULL;
		if (pair)
			c->own[i].other = pair->other;
	}
	budget_free(list);
	budget_free(pairs);
	return rv;
}

/* Intercommunicators of which communicators are made that make intercommunicators, and so on. */
#define NESTING 16

int comm_keys_make(struct comms *c)
{
	bool halves = false;
	for (uint32_t i = 0; i < c->count && !halves; i++)
		halves = c->own[i].inter;
	for (int turn = 0; turn < NESTING; turn++) {
		if (keys_find(c, false) == 0 && turn > 0)
			break;
		if (halves && halves_pair(c) != 0)
			return -1;
	}
	for (int turn = 0; turn < NESTING && keys_find(c, true) > 0;)
		turn++;
	return 0;
}
