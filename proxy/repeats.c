/* SPDX-License-Identifier: BSD-3-Clause
 * repeats - a sequence as loops in loops
 *
 * The shortest loops are made first, of neighbours that are equal; each is a symbol, and then longer loops have it. A
 * pass over the sequence for each length, until nothing changes.
 */
#include "proxy/repeats.h"

#include <stdbool.h>
#include <string.h>

#include "trace/base/budget.h"

#define LENGTH_MOST 256 /* of what is repeated, in symbols */
#define ROUNDS_MOST 8

struct loop_key {
	const struct repeats *r;
	const uint32_t *body;
	size_t length;
	uint64_t times;
};

static bool is_loop(const void *context, uint32_t i)
{
	const struct loop_key *k = context;
	const struct repeat *one = &k->r->each[i];
	return one->length == k->length && one->times == k->times &&
	       memcmp(one->body, k->body, k->length * sizeof *k->body) == 0;
}

/* The symbol of a loop; UINT32_MAX: no memory. */
static uint32_t add_loop(struct repeats *r, const uint32_t *body, size_t length, uint64_t times)
{
	struct loop_key key = {r, body, length, times};
	uint64_t hash = hash_mix(hash_bytes(body, length * sizeof *body), times);
	uint32_t found = index_find(&r->index, hash, is_loop, &key);
	if (found != INDEX_NONE)
		return r->base + found;
	if (!budget_grow(&r->each, r->count, &r->capacity, sizeof *r->each) ||
	    index_add(&r->index, hash, r->count) != 0)
		return UINT32_MAX;
	struct repeat *one = &r->each[r->count];
	*one = (struct repeat){budget_malloc(length * sizeof *body), length, times};
	if (!one->body)
		return UINT32_MAX;
	memcpy(one->body, body, length * sizeof *body);
	return r->base + r->count++;
}

static int find_length(struct repeats *r, uint32_t *s, size_t *n, size_t length)
{
	size_t out = 0;
	for (size_t i = 0; i < *n;) {
		uint64_t times = 1;
		while (i + (times + 1) * length <= *n && s[i] == s[i + times * length] &&
		       memcmp(s + i, s + i + times * length, length * sizeof *s) == 0)
			times++;
		if (times == 1 || (times - 1) * length < 2) {
			s[out++] = s[i++];
			continue;
		}
		uint32_t loop = add_loop(r, s + i, length, times);
		if (loop == UINT32_MAX)
			return -1;
		s[out++] = loop;
		i += times * length;
	}
	*n = out;
	return 0;
}

int repeats_find(struct repeats *r, uint32_t *sequence, size_t *n, uint32_t base)
{
	*r = (struct repeats){.base = base};
	bool changed = true;
	for (int round = 0; changed && round < ROUNDS_MOST; round++) {
		changed = false;
		for (size_t length = 1; length <= LENGTH_MOST && 2 * length <= *n; length++) {
			size_t before = *n;
			if (!budget_step(*n))
				return 0;
			if (find_length(r, sequence, n, length) != 0)
				return -1;
			changed |= *n < before;
		}
	}
	return 0;
}

void repeats_free(struct repeats *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		budget_free(r->each[i].body);
	budget_free(r->each);
	index_free(&r->index);
}
