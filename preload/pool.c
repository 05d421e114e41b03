/* SPDX-License-Identifier: BSD-3-Clause
 * pool - strings and vectors of a recorder, each kept once
 */
#include "preload/pool.h"

#include <string.h>

struct bytes {
	const struct recorder *recorder;
	const void *at;
	size_t n;
};

static bool string_equal(const void *context, uint32_t number)
{
	const struct bytes *b = context;
	const struct recorder *r = b->recorder;
	ref at = *(ref *)table_at(&r->arena, &r->record->strings, number, sizeof at);
	const struct record_string *s = arena_at(&r->arena, struct record_string, at);
	return s->length == b->n && memcmp(s->bytes, b->at, b->n) == 0;
}

uint32_t pool_string(struct recorder *r, const void *bytes, size_t n)
{
	if (n == 0)
		return 0;
	uint64_t hash = hash_bytes(bytes, n);
	uint32_t i = index_find(&r->strings, hash, string_equal, &(struct bytes){r, bytes, n});
	if (i != INDEX_NONE)
		return i;
	i = record_add_string(&r->arena, r->record, bytes, n);
	if (i == UINT32_MAX)
		return r->unknown;
	index_add(&r->strings, hash, i);
	return i;
}

static bool vector_equal(const void *context, uint32_t number)
{
	const struct bytes *b = context;
	const struct recorder *r = b->recorder;
	const struct record_vector *v = pool_vector_at(r, number);
	return (const void *)v != r->arena.base && v->count == b->n &&
	       (b->n == 0 || memcmp(v->values, b->at, b->n * sizeof *v->values) == 0);
}

uint32_t pool_vector(struct recorder *r, const int64_t *values, size_t n)
{
	uint64_t hash = hash_bytes(values, n * sizeof *values);
	uint32_t i = index_find(&r->vectors, hash, vector_equal, &(struct bytes){r, values, n});
	if (i != INDEX_NONE)
		return i;
	i = record_add_vector(&r->arena, r->record, values, n);
	if (i == UINT32_MAX)
		return UINT32_MAX;
	index_add(&r->vectors, hash, i);
	return i;
}
