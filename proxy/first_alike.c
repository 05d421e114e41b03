/* SPDX-License-Identifier: BSD-3-Clause
 * first_alike - of each of some things, as ranks, the first one that is the same
 */
#include "proxy/first_alike.h"

struct thing_key {
	const struct first_alike *f;
	uint32_t number;
};

static bool is_same(const void *context, uint32_t number)
{
	const struct thing_key *k = context;
	return k->f->same(k->f->context, number, k->number);
}

uint32_t first_alike_find(struct first_alike *f, uint32_t number, uint64_t hash)
{
	struct thing_key key = {f, number};
	uint32_t found = index_find(&f->index, hash, is_same, &key);
	if (found != INDEX_NONE)
		return found;
	return index_add(&f->index, hash, number) == 0 ? number : INDEX_NONE;
}

void first_alike_free(struct first_alike *f)
{
	index_free(&f->index);
}
