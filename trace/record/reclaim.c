/* SPDX-License-Identifier: BSD-3-Clause
 * reclaim - memory for a recorder whose arena is nearly full
 */
#include "trace/record/reclaim.h"

#include <stdlib.h>

#include "trace/record/brief.h"
#include "trace/record/edited.h"
#include "trace/record/lossy.h"
#include "trace/record/raw.h"
#include "trace/model/trace.h"

/* Columns smaller than this are not worth it: a tally has its size, too. */
#define SMALL 512
/* The same of columns that are to become raw: only large ones, for it takes memory before it gives some. */
#define RANDOM_SHARE 64

struct victim {
	struct cell *cell;
	uint64_t values, size;
};

enum wanted { WANTED_ORDER, WANTED_TALLY, WANTED_PREFIX, WANTED_RANDOM };

struct reclaiming {
	struct columns *columns;
	struct record *record;
	struct victim *victims;
	size_t count, capacity;
	bool *used;         /* by number of vector */
	enum wanted wanted; /* what is looked for */
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

/* A vector that is one of a column's raw values. */
struct raw_vectors {
	const struct columns *x;
	const struct record *r;
	bool *used; /* NULL: only their bytes are asked for */
	uint64_t bytes;
};

static int raw_vector(void *context, int64_t value)
{
	struct raw_vectors *k = context;
	if (value < 0 || value >= k->r->vectors.count || !*vector_ref(k->x, k->r, (uint64_t)value))
		return 0;
	ref at = *vector_ref(k->x, k->r, (uint64_t)value);
	k->bytes += vector_bytes(arena_at(k->x->arena, struct record_vector, at));
	if (k->used)
		k->used[value] = true;
	return 0;
}

/* The bytes of all vectors that a column, or its prefix, has in order, which are also marked in `used` if that is not
 * NULL. */
static uint64_t each_vector(const struct columns *x, const struct record *r, const struct cell *cell, bool *used)
{
	uint64_t bytes = 0;
	struct column *c = cell_column(x, cell);
	if ((cell->role & ROLE_KINDS) != ROLE_VECTOR)
		return 0;
	if (!cell->column && used && cell->expect >= 0 && cell->expect < r->vectors.count)
		used[cell->expect] = true;
	if (c && c->lossy)
		c = lossy_prefix(x, c);
	if (!c)
		return 0;
	if (c->raw && !edited_is(x, c)) {
		/* a few more than it has may be left in the tail */
		const struct raw *raw = arena_at(x->arena, struct raw, c->raw);
		struct raw_vectors k = {x, r, used, 0};
		raw_each(x->arena, c->raw, raw_is(c) ? raw->packed + RAW_BLOCK : raw->count, raw_vector, &k);
		bytes += used ? 0 : k.bytes;
	}
	const struct dict_run *runs = column_dict(x, c);
	for (uint32_t i = 0; i < c->dict_count; i++)
		for (uint64_t k = 0; k <= runs[i].count;
		     k++) { /* one more: the run under way may be ahead of the dictionary */
			uint64_t n = (uint64_t)runs[i].start + (uint64_t)runs[i].stride * k;
			if (n >= r->vectors.count || !*vector_ref(x, r, n))
				continue;
			bytes +=
				used ? 0 : vector_bytes(arena_at(x->arena, struct record_vector, *vector_ref(x, r, n)));
			if (used)
				used[n] = true;
		}
	/* a run of new values goes on beyond what the dictionary has been told */
	const struct dict_run *last = c->dict_count ? &runs[c->dict_count - 1] : NULL;
	if (used && last && c->token == 0 && last->stride > 0)
		for (uint64_t n = (uint64_t)last->start + (uint64_t)last->stride * last->count; n < r->vectors.count;
		     n += (uint64_t)last->stride)
			used[n] = true;
	return bytes;
}

static void mark_vectors(void *context, struct cell *cell, uint64_t values)
{
	struct reclaiming *k = context;
	(void)values;
	each_vector(k->columns, k->record, cell, k->used);
}

/* Brief sites may refer to any vector that has a number which they have. */
static void mark_brief_vectors(struct reclaiming *k)
{
	const struct arena *a = k->columns->arena;
	const struct record *r = k->record;
	int64_t values[SCHEMA_MAX];
	for (uint32_t i = 0; i < r->sites.count; i++) {
		const struct brief *b = brief_at(a, r, i);
		for (unsigned v = 0; b && v < b->visits; v++) {
			ref at = *(const ref *)table_at(a, &r->strings, b->values[v], sizeof(ref));
			size_t n = brief_read(arena_at(a, struct record_string, at), values);
			for (size_t at_value = 0; n != SIZE_MAX && at_value < n; at_value++)
				if (values[at_value] >= 0 && values[at_value] < r->vectors.count)
					k->used[values[at_value]] = true;
		}
	}
}

static void free_vectors(struct reclaiming *k)
{
	struct columns *x = k->columns;
	struct record *r = k->record;
	k->used = calloc(r->vectors.count + UINT64_C(1), sizeof *k->used);
	if (!k->used)
		return;
	record_each_column(x->arena, r, mark_vectors, k);
	mark_brief_vectors(k);
	for (uint32_t i = 0; i < r->vectors.count; i++) {
		ref at = *vector_ref(x, r, i);
		if (k->used[i] || !at)
			continue;
		*vector_ref(x, r, i) = 0;
		arena_barrier();
		arena_free_range(x->arena, at, vector_bytes(arena_at(x->arena, struct record_vector, at)));
	}
	free(k->used);
}

/* The bytes that a column of `values` values has of what is looked for; 0: nothing, or it is not worth it. */
static uint64_t size_of(const struct reclaiming *k, const struct cell *cell, uint64_t values, enum wanted wanted)
{
	uint64_t size;
	struct column *c = cell_column(k->columns, cell), *prefix = c ? lossy_prefix(k->columns, c) : NULL;
	if (!c || (c->lossy == 0) != (wanted == WANTED_ORDER || wanted == WANTED_RANDOM) ||
	    (wanted == WANTED_PREFIX && !prefix))
		return 0;
	if (wanted == WANTED_RANDOM && edited_saves(k->columns, c, values))
		return c->array_bytes;
	if (wanted == WANTED_RANDOM) {
		size = column_size(k->columns, c) - raw_bytes(k->columns, c->raw);
		return raw_is(c) || size < k->columns->arena->size / RANDOM_SHARE || !raw_saves(k->columns, c, values)
		               ? 0
		               : size;
	}
	if (wanted == WANTED_PREFIX)
		return sizeof *prefix + column_size(k->columns, prefix) +
		       each_vector(k->columns, k->record, cell, NULL);
	size = wanted == WANTED_TALLY ? lossy_size(k->columns, c)
	                              : column_size(k->columns, c) + each_vector(k->columns, k->record, cell, NULL);
	return size < SMALL ? 0 : size;
}

static void consider(void *context, struct cell *cell, uint64_t values)
{
	struct reclaiming *k = context;
	uint64_t size = values ? size_of(k, cell, values, k->wanted) : 0;
	if (size == 0)
		return;
	if (k->count == k->capacity) {
		size_t capacity = k->capacity ? k->capacity * 2 : 256;
		struct victim *more = realloc(k->victims, capacity * sizeof *more);
		if (!more)
			return; /* those that are known must do */
		k->victims = more;
		k->capacity = capacity;
	}
	k->victims[k->count++] = (struct victim){cell, values, size};
}

/* The columns in question, the largest first. */
static void reclaim_look(struct reclaiming *k, enum wanted wanted)
{
	k->count = 0;
	k->wanted = wanted;
	record_each_column(k->columns->arena, k->record, consider, k);
	if (k->count)
		qsort(k->victims, k->count, sizeof *k->victims, by_size);
}

/* Until so many bytes are left. */
static void drop_prefixes(struct reclaiming *k, uint64_t left)
{
	struct columns *x = k->columns;
	reclaim_look(k, WANTED_PREFIX);
	for (size_t i = 0; i < k->count && arena_left(x->arena) < left; i++)
		lossy_drop_prefix(x, cell_column(x, k->victims[i].cell));
	if (k->count)
		free_vectors(k);
}

static void mark_column(void *context, struct cell *cell, uint64_t values)
{
	struct column *c = cell_column(context, cell);
	if (c)
		c->marked = values;
}

uint64_t record_mark(struct columns *x, struct record *r)
{
	const struct arena *a = x->arena;
	uint64_t left = arena_left(a), all = a->full ? a->header->size : a->size;
	if (x->cap || x->threshold != UINT64_MAX || left < all / 2)
		return UINT64_MAX;
	if (x->mark && left + all / 64 > x->mark_left)
		return left + all / 64 - x->mark_left;
	x->mark = r->events + 1;
	x->mark_left = left;
	record_each_column(x->arena, r, mark_column, x);
	return all / 64;
}

/* Nothing that was exact is given up for that. */
static void pack_random(struct reclaiming *k)
{
	struct columns *x = k->columns;
	reclaim_look(k, WANTED_RANDOM);
	for (size_t i = 0; i < k->count; i++) {
		struct column *c = cell_column(x, k->victims[i].cell);
		const uint64_t values = k->victims[i].values;
		bool made = edited_saves(x, c, values) ? edited_make(x, c, values) : raw_make(x, c, values);
		cell_refresh(x, k->victims[i].cell); /* without memory, too: no loop is under way any more */
		if (made)
			arena_compact(x->arena); /* the next one needs larger blocks than a grammar has */
	}
	free_vectors(k); /* those of columns that have become edits, now or before */
	arena_compact(x->arena);
}

uint64_t record_reclaim(struct columns *x, struct record *r)
{
	struct reclaiming k = {.columns = x, .record = r};
	uint64_t before = arena_left(x->arena), wanted = x->arena->size / 4, freed = 0;
	pack_random(&k);
	if (arena_left(x->arena) >= before + x->arena->size / 8) {
		free(k.victims);
		return arena_left(x->arena) - before;
	}
	x->bins = RECLAIM_BINS;
	x->cap = x->arena->size / RECLAIM_CAP;
	reclaim_look(&k, WANTED_ORDER);
	for (size_t i = 0; i < k.count && freed < wanted; i++) {
		cell_force(x, k.victims[i].cell, k.victims[i].values);
		uint64_t kept = size_of(&k, k.victims[i].cell, k.victims[i].values, WANTED_PREFIX);
		freed += k.victims[i].size > kept ? k.victims[i].size - kept : 0;
	}
	free_vectors(&k);
	if (arena_left(x->arena) < before + x->arena->size / 8)
		drop_prefixes(&k, before + x->arena->size / 4);
	/* nearly everything has no order any more: fewer bins, and then only how many values there were */
	if (arena_left(x->arena) < before + x->arena->size / 16) {
		reclaim_look(&k, WANTED_TALLY);
		for (size_t i = 0; i < k.count; i++)
			lossy_shrink(x, cell_column(x, k.victims[i].cell), RECLAIM_BINS);
	}
	if (arena_left(x->arena) < x->arena->size / 16) {
		reclaim_look(&k, WANTED_TALLY);
		for (size_t i = 0; i < k.count && arena_left(x->arena) < x->arena->size / 8; i++) {
			lossy_forget(x, cell_column(x, k.victims[i].cell), k.victims[i].values);
			cell_refresh(x, k.victims[i].cell);
		}
	}
	free(k.victims);
	arena_compact(x->arena);
	uint64_t after = arena_left(x->arena);
	return after > before ? after - before : 0;
}
