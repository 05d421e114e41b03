/* SPDX-License-Identifier: BSD-3-Clause
 * first_alike - of each rank, the first one that has the same
 */
#include "proxy/first_alike.h"

struct rank_key {
	const struct first_alike *f;
	uint32_t rank;
};

static bool is_same(const void *context, uint32_t rank)
{
	const struct rank_key *k = context;
	return k->f->same(k->f->context, rank, k->rank);
}

uint32_t first_alike_find(struct first_alike *f, uint32_t rank, uint64_t hash)
{
	struct rank_key key = {f, rank};
	uint32_t found = index_find(&f->index, hash, is_same, &key);
	if (found != INDEX_NONE)
		return found;
	return index_add(&f->index, hash, rank) == 0 ? rank : INDEX_NONE;
}

void first_alike_free(struct first_alike *f)
{
	index_free(&f->index);
}
