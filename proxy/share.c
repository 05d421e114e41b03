/* SPDX-License-Identifier: BSD-3-Clause
 * share - tables and functions that are the same become one
 *
 * Definitions come behind what they use. So one pass is enough: what stands for what a definition uses is known when it
 * is compared.
 */
#include "proxy/share.h"

#include <string.h>

#include "proxy/node_same.h"
#include "trace/base/budget.h"

struct sharing {
	struct definition **each; /* that are not gone */
	uint32_t count, capacity;
	struct index by_content;
	struct definition **arrays; /* of calls */
	uint32_t array_count, array_capacity;
	struct index by_call;
};

static bool may_be_shared(const struct definition *d)
{
	return !d->state && !d->lengths && !d->queued && d->number != DEFINITION_ALONE;
}

/* ---- content ---- */

static bool same_value(const struct definition *a, const struct definition *b, uint32_t i)
{
	const struct tree_node *x = a->names ? a->names[i] : NULL, *y = b->names ? b->names[i] : NULL;
	return a->values[i] == b->values[i] && !x == !y && (!x || node_same(x, y));
}

static bool same_table(const struct definition *a, const struct definition *b)
{
	if (a->sides != b->sides || a->count != b->count || a->hexadecimal != b->hexadecimal || !a->note != !b->note ||
	    (a->note && !node_same(a->note, b->note)) || memcmp(a->side, b->side, sizeof a->side) != 0)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!same_value(a, b, i))
			return false;
	return true;
}

/* Are they the same, if the name of the second one is that of the first? */
static bool same_content(struct definition *a, struct definition *b)
{
	if (!a->text != !b->text)
		return false;
	b->same = a;
	bool same = a->text ? node_same(a->text, b->text) : same_table(a, b);
	b->same = NULL;
	return same;
}

static uint64_t hash_content(struct definition *d)
{
	static struct definition own;
	uint64_t hash = d->count;
	if (d->text) {
		d->same = &own;
		hash = node_hash(d->text);
		d->same = NULL;
	}
	for (uint32_t i = 0; i < d->count; i++)
		hash = hash_mix(hash, (uint64_t)d->values[i]);
	return hash;
}

struct content_key {
	const struct sharing *x;
	struct definition *one;
};

static bool has_content(const void *context, uint32_t i)
{
	const struct content_key *k = context;
	return same_content(k->x->each[i], k->one);
}

/* ---- arrays of one call ---- */

static uint64_t hash_call(const struct definition *of, uint32_t call)
{
	return hash_mix((uint64_t)(uintptr_t)of, call);
}

static bool is_of_call(const void *context, uint32_t i)
{
	const struct content_key *k = context;
	const struct definition *other = k->x->arrays[i];
	return other->call == k->one->call &&
	       definition_shared((struct definition *)other) == definition_shared(k->one);
}

/* Has another array of its call become the same? */
static bool is_taken(const struct sharing *x, struct definition *one)
{
	struct content_key key = {x, one};
	return one->call != DEFINITION_NOWHERE &&
	       index_find(&x->by_call, hash_call(definition_shared(one), one->call), is_of_call, &key) != INDEX_NONE;
}

static int remember_array(struct sharing *x, struct definition *one)
{
	if (one->call == DEFINITION_NOWHERE)
		return 0;
	if (!budget_grow(&x->arrays, x->array_count, &x->array_capacity, sizeof *x->arrays) ||
	    index_add(&x->by_call, hash_call(definition_shared(one), one->call), x->array_count) != 0)
		return -1;
	x->arrays[x->array_count++] = one;
	return 0;
}

/* ---- all ---- */

static int share_one(struct sharing *x, struct definition *one)
{
	struct content_key key = {x, one};
	uint64_t hash = hash_content(one);
	uint32_t found = index_find(&x->by_content, hash, has_content, &key);
	if (found != INDEX_NONE) {
		one->same = x->each[found];
		if (is_taken(x, one))
			one->same = NULL;
	}
	one->gone = one->same != NULL;
	if (remember_array(x, one) != 0)
		return -1;
	if (one->gone)
		return 0;
	if (!budget_grow(&x->each, x->count, &x->capacity, sizeof *x->each))
		return -1;
	x->each[x->count] = one;
	return index_add(&x->by_content, hash, x->count++);
}

int share_definitions(struct definitions *d)
{
	struct sharing x = {.count = 0};
	int rv = 0;
	for (struct definition *one = d->first; one && rv == 0; one = one->next)
		if (may_be_shared(one))
			rv = share_one(&x, one);
	budget_free(x.each);
	budget_free(x.arrays);
	index_free(&x.by_content);
	index_free(&x.by_call);
	return rv;
}
