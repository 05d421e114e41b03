/* SPDX-License-Identifier: BSD-3-Clause
 * pieces - the stored form of rank maps
 *
 * Writing: the list of pieces is looked through from left to right for blocks of up to MAX_BLOCK items that are
 * repeated with a constant distance of ranks and values; each becomes one item. That is done again with the result,
 * once for each dimension.
 */
#include "trace/model/pieces.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

#define MAX_BLOCK 8
#define MAX_DEPTH 5 /* of blocks in blocks: more dimensions than any grid has */
/* A map that expands to more pieces than this is taken for damage. */
#define MAX_PIECES (UINT64_C(1) << 25)

void value_put(struct writer *w, int64_t v)
{
	uint64_t u = zigzag(v);
	if (value_is_constant(v)) {
		writer_uint(w, ((uint64_t)v - (uint64_t)VALUE_CONSTANT) << 2 | 1);
	} else if (u < UINT64_C(1) << 62) {
		writer_uint(w, u << 1);
	} else {
		writer_uint(w, 3);
		writer_uint(w, u);
	}
}

int64_t value_get(struct reader *r)
{
	uint64_t u = reader_uint(r);
	if (!(u & 1))
		return unzigzag(u >> 1);
	if (u & 2) {
		int64_t v = unzigzag(reader_uint(r));
		r->bad |= value_is_constant(v);
		return v;
	}
	if (u >> 2 > UINT32_MAX)
		r->bad = true;
	return (int64_t)((uint64_t)VALUE_CONSTANT + (u >> 2 & UINT32_MAX));
}

/* A piece, or a block of items that is repeated. Blocks own their items. */
struct item {
	uint32_t first, last; /* ranks */
	struct rank_piece piece;
	uint32_t times; /* 1: a piece */
	uint32_t step;  /* ranks from one repetition to the next */
	int64_t slope;  /* of all plain values, likewise */
	uint32_t count; /* items of the block */
	struct item *items;
};

static void items_free(struct item *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		items_free(items[i].items, items[i].count);
	budget_free(items);
}

/* The first plain value in an item; false if all are named constants. */
static bool plain_value(const struct item *x, int64_t *value)
{
	if (x->times > 1) {
		for (uint32_t i = 0; i < x->count; i++)
			if (plain_value(&x->items[i], value))
				return true;
		return false;
	}
	*value = x->piece.value;
	return !value_is_constant(*value);
}

/* Is y what x is, `ranks` ranks further and with plain values `more` higher? */
static bool shifted(const struct item *x, const struct item *y, uint32_t ranks, int64_t more)
{
	if (y->first - x->first != ranks || y->last - x->last != ranks || x->times != y->times)
		return false;
	if (x->times == 1) {
		int64_t value = value_is_constant(x->piece.value)
		                        ? x->piece.value
		                        : (int64_t)((uint64_t)x->piece.value + (uint64_t)more);
		return x->piece.count == y->piece.count && x->piece.step == y->piece.step &&
		       x->piece.slope == y->piece.slope && value == y->piece.value &&
		       (value_is_constant(x->piece.value) == value_is_constant(value));
	}
	if (x->step != y->step || x->slope != y->slope || x->count != y->count)
		return false;
	for (uint32_t i = 0; i < x->count; i++)
		if (!shifted(&x->items[i], &y->items[i], ranks, more))
			return false;
	return true;
}

/* How often the block of n items at `at` stands there in a row, and the distance from one to the next. */
static uint32_t repetitions(const struct item *items, size_t count, size_t at, size_t n, uint32_t *step, int64_t *slope)
{
	if (at + 2 * n > count)
		return 1;
	int64_t a = 0, b = 0;
	*step = items[at + n].first - items[at].first;
	*slope = 0;
	for (size_t i = 0; i < n; i++)
		if (plain_value(&items[at + i], &a)) {
			if (plain_value(&items[at + n + i], &b))
				*slope = (int64_t)((uint64_t)b - (uint64_t)a);
			break;
		}
	uint32_t times = 1;
	for (size_t next = at + n; next + n <= count; next += n, times++)
		for (size_t i = 0; i < n; i++)
			if (!shifted(&items[next - n + i], &items[next + i], *step, *slope))
				return times;
	return times;
}

/* One pass: writes what items become to out (which has room for them; it may not be items). */
static size_t fold(struct item *items, size_t count, struct item *out)
{
	size_t made = 0;
	for (size_t at = 0; at < count;) {
		uint32_t step, times = 1;
		int64_t slope;
		size_t n = 1;
		for (; n <= MAX_BLOCK; n++) {
			times = repetitions(items, count, at, n, &step, &slope);
			if (times >= 2 && (size_t)times * n >= 3)
				break;
			times = 1;
		}
		struct item *block = times > 1 ? budget_malloc(n * sizeof *block) : NULL;
		if (!block) {
			out[made++] = items[at++];
			continue;
		}
		memcpy(block, &items[at], n * sizeof *block);
		out[made++] = (struct item){.first = items[at].first,
		                            .last = items[at + times * n - 1].last,
		                            .times = times,
		                            .step = step,
		                            .slope = slope,
		                            .count = (uint32_t)n,
		                            .items = block};
		for (size_t i = at + n; i < at + times * n; i++)
			items_free(items[i].items, items[i].count);
		at += times * n;
	}
	return made;
}

static void put_items(struct writer *w, const struct item *items, size_t count, uint32_t *next, bool values)
{
	writer_uint(w, count);
	for (size_t i = 0; i < count; i++) {
		const struct item *x = &items[i];
		writer_uint(w, x->times - 1);
		if (x->times > 1) {
			uint32_t begin = x->first;
			writer_uint(w, x->step - 1);
			if (values)
				writer_int(w, x->slope);
			writer_uint(w, begin - *next);
			put_items(w, x->items, x->count, &begin, values);
		} else {
			writer_uint(w, x->piece.first - *next);
			writer_uint(w, x->piece.count - 1);
			if (x->piece.count > 1) {
				writer_uint(w, x->piece.step - 1);
				if (values)
					writer_int(w, x->piece.slope);
			}
			if (values)
				value_put(w, x->piece.value);
		}
		*next = x->last + 1;
	}
}

void pieces_put(struct writer *w, const struct rankmap *m, bool values)
{
	size_t count;
	struct rank_piece *pieces;
	bool failed = rankmap_pieces(m, &pieces, &count) != 0;
	struct item *items = budget_calloc(count + 1, sizeof *items), *other = budget_calloc(count + 1, sizeof *other);
	if (failed || !items || !other) {
		w->failed = true;
		budget_free(pieces);
		budget_free(items);
		budget_free(other);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct rank_piece *p = &pieces[i];
		items[i] = (struct item){
			.first = p->first, .last = p->first + (p->count - 1) * p->step, .piece = *p, .times = 1};
		if (!values)
			items[i].piece.value = items[i].piece.slope = 0;
	}
	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		size_t made = fold(items, count, other);
		struct item *swap = items;
		items = other;
		other = swap;
		if (made == count)
			break;
		count = made;
	}
	uint32_t next = 0;
	put_items(w, items, count, &next, values);
	items_free(items, count);
	budget_free(other);
	budget_free(pieces);
}

struct getting {
	struct reader *r;
	struct rankmap_builder builder;
	uint64_t pieces;
	uint64_t after; /* the next rank must be at least this */
	bool values;
};

/* Reads a list of items, or, at a repetition, reads it again from where it began. `ranks` and `more` are what
 * repetitions around it add. */
static int get_items(struct getting *g, uint64_t *next, uint64_t ranks, uint64_t more, int depth)
{
	struct reader *r = g->r;
	size_t count = reader_count(r);
	if (r->bad || depth > MAX_DEPTH || !budget_step(1 + count)) /* a few bytes may say 2^31 ranks */
		return -1;
	for (size_t i = 0; i < count; i++) {
		uint64_t times = reader_uint(r) + 1;
		if (r->bad || times == 0 || times > MAX_PIECES)
			return -1;
		if (times > 1) {
			uint64_t step = reader_uint(r) + 1, slope = g->values ? (uint64_t)reader_int(r) : 0,
				 begin = *next + reader_uint(r), end = 0;
			struct reader body = *r;
			if (r->bad || step >= INT32_MAX || begin >= INT32_MAX)
				return -1;
			for (uint64_t k = 0; k < times; k++) {
				*r = body;
				end = begin;
				if (ranks + k * step >= INT32_MAX ||
				    get_items(g, &end, ranks + k * step, more + k * slope, depth + 1) != 0)
					return -1;
			}
			*next = end + (times - 1) * step;
			continue;
		}
		uint64_t first = *next + reader_uint(r), n = reader_uint(r) + 1, step = n > 1 ? reader_uint(r) + 1 : 1;
		int64_t slope = n > 1 && g->values ? reader_int(r) : 0, value = g->values ? value_get(r) : 0;
		if (r->bad || first >= INT32_MAX || n == 0 || n >= INT32_MAX || step >= INT32_MAX ||
		    first + (n - 1) * step >= INT32_MAX || ++g->pieces > MAX_PIECES)
			return -1;
		*next = first + (n - 1) * step + 1;
		first += ranks;
		if (first < g->after || first + (n - 1) * step >= INT32_MAX)
			return -1;
		g->after = first + (n - 1) * step + 1;
		rankmap_add(&g->builder,
		            (struct rank_piece){
				    .first = (uint32_t)first,
				    .count = (uint32_t)n,
				    .step = (uint32_t)step,
				    .value = value_is_constant(value) ? value : (int64_t)((uint64_t)value + more),
				    .slope = slope,
			    });
	}
	return 0;
}

int pieces_get(struct reader *r, struct rankmap *m, bool values, bool references)
{
	struct getting g = {.r = r, .values = values, .builder.references = references};
	uint64_t next = 0;
	int rv = get_items(&g, &next, 0, 0, 0);
	if (rankmap_take(&g.builder, m) != 0)
		rv = -1;
	return rv;
}
