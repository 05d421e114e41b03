/* SPDX-License-Identifier: BSD-3-Clause
 * reclaim - memory for a recorder whose arena is nearly full
 */
#include "trace/reclaim.h"

#include <stdlib.h>

#include "trace/lossy.h"
#include "trace/trace.h"

/* Columns smaller than this are not worth it: a tally has its size, too. */
#define SMALL 1024

struct victim {
	struct column *column;
	uint64_t visits, size;
};

static int by_size(const void *a, const void *b)
{
	const struct victim *x = a, *y = b;
	return (x->size < y->size) - (x->size > y->size);
}

static ref *vector_ref(const struct columns *x, const struct record *r, uint64_t i)
{
	return table_at(x->arena, &r->vectors, (uint32_t)i, sizeof(ref));
}

static uint64_t vector_bytes(const struct record_vector *v)
{
	return sizeof *v + v->count * sizeof *v->values;
}

/* Calls take for each vector that a column in order refers to. */
static uint64_t each_vector(const struct columns *x, const struct record *r, struct column *c, bool *used)
{
	uint64_t bytes = 0;
	if (c->lossy || (c->role & ROLE_KINDS) != ROLE_VECTOR)
		return 0;
	const struct dict_run *runs = column_dict(x, c);
	for (uint32_t i = 0; i < c->dict_count; i++)
		for (uint64_t k = 0; k <= runs[i].count; k++) { /* one more: the run under way may be ahead of the dictionary */
			uint64_t n = (uint64_t)runs[i].start + (uint64_t)runs[i].stride * k;
			if (n >= r->vectors.count || !*vector_ref(x, r, n))
				continue;
			bytes += used ? 0 : vector_bytes(arena_at(x->arena, struct record_vector, *vector_ref(x, r, n)));
			if (used)
				used[n] = true;
		}
	/* a run of new values goes on beyond what the dictionary has been told */
	const struct dict_run *last = c->dict_count ? &runs[c->dict_count - 1] : NULL;
	for (uint64_t n = last ? (uint64_t)last->start + (uint64_t)last->stride * last->count : r->vectors.count;
	     used && c->token == 0 && last && last->stride > 0 && n < r->vectors.count; n += (uint64_t)last->stride)
		used[n] = true;
	return bytes;
}

static void free_vectors(struct columns *x, struct record *r)
{
	bool *used = calloc(r->vectors.count + UINT64_C(1), sizeof *used);
	if (!used)
		return;
	for (uint32_t i = 0; i < r->sites.count; i++) {
		struct site *s = arena_at(x->arena, struct site, *(ref *)table_at(x->arena, &r->sites, i, sizeof(ref)));
		for (uint32_t k = 0; k < s->columns; k++)
			each_vector(x, r, &s->column[k], used);
	}
	for (uint32_t i = 0; i < r->vectors.count; i++) {
		ref at = *vector_ref(x, r, i);
		if (used[i] || !at)
			continue;
		*vector_ref(x, r, i) = 0;
		arena_barrier();
		arena_free_range(x->arena, at, vector_bytes(arena_at(x->arena, struct record_vector, at)));
	}
	free(used);
}

static void consider(struct columns *x, struct record *r, struct victim *victims, size_t *n, struct column *c, uint64_t visits)
{
	if (c->lossy || visits == 0)
		return;
	uint64_t size = column_size(x, c) + each_vector(x, r, c, NULL);
	if (size >= SMALL)
		victims[(*n)++] = (struct victim){c, visits, size};
}

uint64_t record_reclaim(struct columns *x, struct record *r)
{
	uint64_t freed = 0, wanted = x->arena->size / 4, columns = 0;
	size_t n = 0;
	for (uint32_t i = 0; i < r->sites.count; i++)
		columns += arena_at(x->arena, struct site, *(ref *)table_at(x->arena, &r->sites, i, sizeof(ref)))->columns + 1;
	struct victim *victims = malloc((columns + 1) * sizeof *victims);
	if (!victims)
		return 0;
	x->bins = RECLAIM_BINS;
	for (uint32_t i = 0; i < r->sites.count; i++) {
		ref at = *(ref *)table_at(x->arena, &r->sites, i, sizeof(ref));
		struct site *s = arena_at(x->arena, struct site, at);
		for (uint32_t k = 0; k < s->columns; k++)
			consider(x, r, victims, &n, &s->column[k], s->visits);
		consider(x, r, victims, &n, &s->successor, s->visits - (at == r->last && s->visits > 0));
	}
	qsort(victims, n, sizeof *victims, by_size);
	for (size_t i = 0; i < n && freed < wanted; i++)
		if (lossy_make(x, victims[i].column, victims[i].visits, WHY_MEMORY))
			freed += victims[i].size;
	free(victims);
	free_vectors(x, r);
	arena_compact(x->arena);
	if (freed && !r->stage[STAGE_COLUMNS])
		r->stage[STAGE_COLUMNS] = r->events + 1;
	return freed;
}
