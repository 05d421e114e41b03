/* SPDX-License-Identifier: BSD-3-Clause
 * raw - the first values of a column that nothing compresses, as bits
 */
#include "trace/record/raw.h"

#include <assert.h>
#include <string.h>

#include "trace/model/pattern.h"
#include "trace/record/dictionary.h"

/* Extents: the first one, and the largest, in bytes. */
#define EXTENT_FIRST 1024
#define EXTENT_MOST  16384
#define BLOCK_WORDS  (1 + RAW_BLOCK)
/* After so many values the grammar is tried again; twice as many after each time that it was in vain. */
#define RETRY_FIRST (UINT64_C(1) << 18)

#define HEAD_BITS(head)  ((unsigned)(head)&127)
#define HEAD_MIXED       UINT64_C(128)
#define HEAD_LEAST(head) ((head) >> 8)
#define HEAD_PLAIN       UINT64_C(64)

/* A value of a block with named constants, as a number. */
static uint64_t mixed_number(int64_t v)
{
	return value_is_constant(v) ? ((uint64_t)v - (uint64_t)VALUE_CONSTANT) << 1 | 1 : zigzag(v) << 1;
}

static int64_t mixed_value(uint64_t u)
{
	return u & 1 ? (int64_t)((uint64_t)VALUE_CONSTANT + (u >> 1)) : unzigzag(u >> 1);
}

/* The head of a block, and its values as numbers that are to be packed. */
static uint64_t block_head(const int64_t *values, uint64_t *numbers)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	uint64_t low = UINT64_MAX, high = 0;
	bool constants = false, wide = false;
	for (unsigned i = 0; i < RAW_BLOCK; i++) {
		int64_t v = values[i];
		bool constant = value_is_constant(v);
		uint64_t u = mixed_number(v);
		constants |= constant;
		wide |= !constant && zigzag(v) >> 63;
		least = v < least ? v : least;
		most = v > most ? v : most;
		low = u < low ? u : low;
		high = u > high ? u : high;
	}
	uint64_t range = constants ? high - low : (uint64_t)most - (uint64_t)least,
		 base = constants ? low : zigzag(least);
	unsigned bits = range ? 64 - (unsigned)__builtin_clzll(range) : 0;
	if (bits == 64 || (constants && wide) || base >> 56) {
		memcpy(numbers, values, RAW_BLOCK * sizeof *values);
		return HEAD_PLAIN;
	}
	for (unsigned i = 0; i < RAW_BLOCK; i++)
		numbers[i] = constants ? mixed_number(values[i]) - low : (uint64_t)values[i] - (uint64_t)least;
	return base << 8 | (constants ? HEAD_MIXED : 0) | bits;
}

/* Returns how many words. */
static unsigned block_write(const int64_t *values, uint64_t *words)
{
	uint64_t numbers[RAW_BLOCK];
	words[0] = block_head(values, numbers);
	unsigned bits = HEAD_BITS(words[0]), at = 0;
	if (bits == 64)
		memcpy(words + 1, numbers, sizeof numbers);
	else
		memset(words + 1, 0, bits * sizeof *words);
	for (unsigned i = 0; bits < 64 && i < RAW_BLOCK; i++, at += bits) {
		uint64_t *to = words + 1 + at / 64;
		*to |= bits ? numbers[i] << at % 64 : 0;
		if (at % 64 + bits > 64)
			to[1] |= numbers[i] >> (64 - at % 64);
	}
	return 1 + bits;
}

static int64_t block_value(const uint64_t *words, unsigned i)
{
	uint64_t head = words[0], u = 0;
	unsigned bits = HEAD_BITS(head), at = i * bits;
	if (bits == 64)
		return (int64_t)words[1 + i];
	if (bits) {
		const uint64_t *from = words + 1 + at / 64;
		u = from[0] >> at % 64;
		if (at % 64 + bits > 64)
			u |= from[1] << (64 - at % 64);
		u &= (UINT64_C(1) << bits) - 1;
	}
	u += head & HEAD_MIXED ? HEAD_LEAST(head) : (uint64_t)unzigzag(HEAD_LEAST(head));
	return head & HEAD_MIXED ? mixed_value(u) : (int64_t)u;
}

/* ---- writing ---- */

static struct raw *raw_at(const struct columns *x, ref at)
{
	return arena_at(x->arena, struct raw, at);
}

static struct raw_extent *extent_at(const struct columns *x, ref at)
{
	return arena_at(x->arena, struct raw_extent, at);
}

static uint64_t extent_bytes(const struct raw_extent *e)
{
	return sizeof *e + e->size * sizeof *e->words;
}

/* An extent with room for a block; NULL: no memory. */
static struct raw_extent *extent_with_room(struct columns *x, struct raw *r, unsigned words)
{
	struct arena *a = x->arena;
	struct raw_extent *e = r->last ? extent_at(x, r->last) : NULL;
	if (e && e->size - e->used >= words)
		return e;
	uint64_t bytes = r->bytes < EXTENT_FIRST  ? EXTENT_FIRST
	                 : r->bytes < EXTENT_MOST ? r->bytes
	                                          : EXTENT_MOST,
		 capacity;
	ref at = arena_alloc_block(a, bytes, &capacity);
	arena_commit(a);
	if (!at)
		return NULL;
	struct raw_extent *more = extent_at(x, at);
	*more = (struct raw_extent){.size = (uint32_t)((capacity - sizeof *more) / sizeof *more->words)};
	arena_barrier();
	if (e)
		e->next = at;
	else
		r->first = at;
	r->last = at;
	r->bytes += capacity;
	return more;
}

/* The tail becomes a block. */
static bool tail_pack(struct columns *x, struct raw *r)
{
	uint64_t words[BLOCK_WORDS];
	unsigned n = block_write(r->tail, words);
	struct raw_extent *e = extent_with_room(x, r, n);
	if (!e)
		return false;
	memcpy(e->words + e->used, words, n * sizeof *words);
	arena_barrier();
	e->used += n;
	arena_barrier();
	r->packed += RAW_BLOCK;
	arena_barrier();
	return true;
}

/* The value that so many are before. What is packed are visits that count: the tail is only packed when the next value
 * comes. */
static bool raw_write(struct columns *x, struct raw *r, uint64_t place, int64_t value)
{
	uint64_t i = place - r->packed;
	if (i == RAW_BLOCK) {
		if (!tail_pack(x, r))
			return false;
		i = 0;
	}
	assert(i < RAW_BLOCK);
	r->tail[i] = value;
	return true;
}

bool raw_append(struct columns *x, ref at, uint64_t place, int64_t value)
{
	return raw_write(x, raw_at(x, at), place, value);
}

bool raw_put(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	struct raw *r = raw_at(x, c->raw);
	if (__builtin_expect(x->cap != 0, 0) && r->bytes > x->cap)
		return false;
	return raw_write(x, r, visits, value);
}

bool raw_is_due(const struct columns *x, const struct column *c, uint64_t visits)
{
	return visits >= raw_at(x, c->raw)->retry;
}

void raw_leave(struct columns *x, struct column *c, uint64_t visits)
{
	raw_at(x, c->raw)->count = visits;
	c->lead = 0;
	c->appends = 0;
	c->looked = 0;
	arena_barrier();
	c->start = visits; /* no run is under way; and as long as the token is what it is, nobody asks */
}

/* ---- making ---- */

/* What a column holds behind its raw values. */
static bool write_pattern(struct columns *x, struct column *c, struct raw *r, uint64_t place, uint64_t visits)
{
	struct pattern p;
	struct pattern_cursor cursor = {0};
	uint32_t token;
	uint64_t count, known = 0;
	bool done = column_pattern(x, c, visits, &p) == 0 && pattern_begin(&cursor, &p) == 0;
	while (done && place < visits && pattern_next(&cursor, &token, &count) == 0)
		for (; done && count > 0; count--)
			done = raw_write(x, r, place++,
			                 dictionary_value(x, c, token == PATTERN_NEW ? (uint32_t)known++ : token - 1));
	pattern_end(&cursor);
	pattern_free(&p);
	return done && place == visits;
}

bool raw_make(struct columns *x, struct column *c, uint64_t visits)
{
	struct arena *a = x->arena;
	if (c->lossy || raw_is(c) || visits == 0)
		return false;
	ref at = c->raw ? c->raw : arena_alloc(a, sizeof(struct raw));
	arena_commit(a);
	if (!at)
		return false;
	struct raw *r = raw_at(x, at);
	uint64_t had = c->raw ? r->count : 0;
	if (visits > had && !write_pattern(x, c, r, had, visits)) {
		if (c->raw)
			raw_cut(x, at, had);
		else
			raw_free(x, at);
		return false;
	}
	r->wait = r->wait ? 2 * r->wait : RETRY_FIRST;
	r->retry = visits + r->wait;
	column_discard(x, c, at);
	return true;
}

/* ---- reading ---- */

uint64_t raw_count(const struct columns *x, const struct column *c, uint64_t visits)
{
	if (!c->raw || raw_is(c))
		return c->raw ? visits : 0;
	uint64_t count = raw_at(x, c->raw)->count;
	return count < visits ? count : visits;
}

/* The words of a block; 0: damaged. */
static uint32_t block_words(const struct raw_extent *e, uint32_t at)
{
	if (at >= e->used)
		return 0;
	unsigned bits = HEAD_BITS(e->words[at]);
	return bits <= 64 && e->used - at >= 1 + bits ? 1 + bits : 0;
}

static bool extent_valid(const struct arena *a, ref at)
{
	const struct raw_extent *e = arena_at(a, struct raw_extent, at);
	return arena_valid(a, at, sizeof *e) && e->used > 0 &&
	       arena_valid(a, at, sizeof *e + (uint64_t)e->used * sizeof *e->words);
}

int raw_each(const struct arena *a, ref at, uint64_t n, int (*take)(void *context, int64_t value), void *context)
{
	const struct raw *r = arena_at(a, struct raw, at);
	uint64_t done = 0;
	/* a block takes a word at least, so that no damage makes it endless */
	if (!arena_valid(a, at, sizeof *r) || r->packed / RAW_BLOCK > a->header->used / sizeof(uint64_t) ||
	    r->packed % RAW_BLOCK || n > r->packed + RAW_BLOCK)
		return -1;
	for (ref e = r->first; done < n && done < r->packed;) {
		const struct raw_extent *extent = arena_at(a, struct raw_extent, e);
		if (!extent_valid(a, e))
			return -1;
		for (uint32_t w = 0, words; w < extent->used && done < n && done < r->packed; w += words) {
			words = block_words(extent, w);
			if (!words)
				return -1;
			for (unsigned i = 0; i < RAW_BLOCK && done < n; i++, done++)
				if (take(context, block_value(extent->words + w, i)) != 0)
					return -1;
		}
		e = extent->next;
	}
	for (; done < n; done++)
		if (take(context, r->tail[done - r->packed]) != 0)
			return -1;
	return 0;
}

bool raw_saves(struct columns *x, struct column *c, uint64_t visits)
{
	const struct dict_run *runs = dictionary_runs(x, c);
	int64_t least = INT64_MAX, most = 0;
	uint64_t values = visits - raw_count(x, c, visits), size = column_size(x, c) - raw_bytes(x, c->raw);
	for (uint32_t i = 0; i < c->dict_count; i++) {
		int64_t end = (int64_t)((uint64_t)runs[i].start + (uint64_t)runs[i].stride * (runs[i].count - 1));
		if (value_is_constant(runs[i].start))
			continue;
		least = runs[i].start < least ? runs[i].start : least;
		most = runs[i].start > most ? runs[i].start : most;
		most = end > most ? end : most;
		least = end < least ? end : least;
	}
	uint64_t range = most > least ? (uint64_t)most - (uint64_t)least : 1,
		 bits = 66 - (unsigned)__builtin_clzll(range);
	return size / 2 > sizeof(struct raw) + values / 8 * bits;
}

uint64_t raw_bytes(const struct columns *x, ref at)
{
	if (!at)
		return 0;
	const struct raw *r = raw_at(x, at);
	return sizeof *r + r->bytes + (r->edited ? arena_at(x->arena, struct edited, r->edited)->capacity : 0);
}

/* ---- giving back ---- */

static void extents_free(struct columns *x, ref at)
{
	while (at) {
		const struct raw_extent *e = extent_at(x, at);
		ref next = e->next;
		arena_free_block(x->arena, at, extent_bytes(e));
		arena_commit(x->arena);
		at = next;
	}
}

/* Blocks are whole: the last one that is needed is taken apart, into the tail. */
struct cutting {
	uint64_t done, from;
	int64_t *tail;
};

static int take_tail(void *context, int64_t value)
{
	struct cutting *k = context;
	if (k->done++ >= k->from)
		k->tail[k->done - 1 - k->from] = value;
	return 0;
}

void raw_cut(struct columns *x, ref at, uint64_t n)
{
	struct raw *r = raw_at(x, at);
	int64_t tail[RAW_BLOCK];
	struct cutting k = {.from = n / RAW_BLOCK * RAW_BLOCK, .tail = tail};
	r->count = n;
	if (n >= r->packed || raw_each(x->arena, at, n, take_tail, &k) != 0)
		return;
	ref last = 0, next = r->first;
	uint64_t blocks = n / RAW_BLOCK, bytes = 0;
	uint32_t used = 0;
	while (blocks > 0) {
		struct raw_extent *e = extent_at(x, next);
		for (used = 0; used < e->used && blocks > 0; blocks--)
			used += block_words(e, used);
		bytes += extent_bytes(e);
		last = next;
		next = e->next;
	}
	/* all words of the tail, and what tells of it, at once */
	for (unsigned i = 0; i < n % RAW_BLOCK; i++)
		arena_set(x->arena, r->tail[i], tail[i]);
	arena_set(x->arena, r->packed, k.from);
	if (last) {
		arena_set(x->arena, extent_at(x, last)->next, 0);
		arena_set(x->arena, extent_at(x, last)->used, used);
	}
	arena_set(x->arena, r->first, last ? r->first : 0);
	arena_set(x->arena, r->last, last);
	arena_set(x->arena, r->bytes, bytes);
	arena_commit(x->arena);
	extents_free(x, next);
}

void raw_free(struct columns *x, ref at)
{
	if (!at)
		return;
	const ref edited = raw_at(x, at)->edited;
	extents_free(x, raw_at(x, at)->first);
	arena_free_range(x->arena, at, sizeof(struct raw));
	if (edited) {
		const struct edited e = *arena_at(x->arena, struct edited, edited);
		arena_free_block(x->arena, e.array, e.capacity);
		arena_free_range(x->arena, edited, sizeof e);
	}
	arena_commit(x->arena);
}
