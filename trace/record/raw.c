/* SPDX-License-Identifier: BSD-3-Clause
 * raw - the first values of a column that nothing compresses, as bits
 */
#include "trace/record/raw.h"

#include <assert.h>
#include <string.h>

#include "trace/model/pattern.h"
#include "trace/record/dictionary.h"
#include "trace/record/raw_block.h"

/* Extents: the first one, and the largest, in bytes. */
#define EXTENT_FIRST 1024
#define EXTENT_MOST  16384
/* After so many values the grammar is tried again; twice as many after each time that it was in vain. */
#define RETRY_FIRST (UINT64_C(1) << 18)
/* The same where they repeat. */
#define PATIENCE_FIRST (UINT64_C(1) << 12)
/* Pieces of values: a PIECE-th of all places ends one. Where none does for so long, values are hardly different. */
#define PIECE      64
#define PIECE_LONG 1024
/* Of so many pieces, half must have been there before. */
#define PIECES_LAST 16
/* Pieces are kept of a column of so many values: there may be thousands of short ones. */
#define PIECES_FROM 4096
/* A period that is not more than that is worth to be learned, in values. */
#define PERIOD_MOST 32768

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
	uint64_t words[RAW_BLOCK_WORDS];
	unsigned n = raw_block_write(r->tail, words);
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

/* ---- do they repeat? ---- */

/* They do, after `period` values (0: in a piece of few different ones): the grammar is tried with the next one. */
static void try_soon(struct raw *r, uint64_t place, uint64_t period)
{
	if (place < r->patient || period > PERIOD_MOST)
		return;
	r->period = (uint32_t)(period ? period : PIECE_LONG);
	r->retry = place + 1;
	r->found = 0;
}

static bool has_pieces(struct columns *x, struct raw *r, uint64_t place)
{
	if (!r->pieces && place >= PIECES_FROM && arena_left(x->arena) >= x->arena->size / 8) {
		ref at = arena_alloc(x->arena, RAW_PIECES * sizeof(struct raw_piece));
		arena_set(x->arena, r->pieces, at);
		arena_commit(x->arena);
	}
	return r->pieces;
}

static void piece_end(struct columns *x, struct raw *r, uint64_t place)
{
	const uint32_t hash = (uint32_t)(r->piece >> 32) | 1;
	if (!has_pieces(x, r, place)) {
		r->piece = 0;
		r->began = place;
		return;
	}
	struct raw_piece *p = arena_at(x->arena, struct raw_piece, r->pieces) + hash / 2 % RAW_PIECES;
	const bool found = p->hash == hash;
	const uint32_t period = (uint32_t)place - p->place;
	r->found = r->found << 1 | found;
	*p = (struct raw_piece){hash, (uint32_t)place};
	r->piece = 0;
	r->began = place;
	if (found && __builtin_popcount(r->found & ((1u << PIECES_LAST) - 1)) >= PIECES_LAST / 2)
		try_soon(r, place, period);
}

/* After the value that `place` ones are before. */
static inline void piece_take(struct columns *x, struct raw *r, uint64_t place, int64_t value)
{
	const uint64_t mixed = ((uint64_t)value + UINT64_C(0x632be59bd9b4e019)) * UINT64_C(0x9e3779b97f4a7c15);
	r->recent = r->recent << 8 ^ mixed >> 48;
	r->piece = (r->piece ^ mixed >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
	if (__builtin_expect(r->recent * UINT64_C(0x94d049bb133111eb) < UINT64_MAX / PIECE, 0))
		piece_end(x, r, place + 1);
	else if (__builtin_expect(place - r->began >= PIECE_LONG, 0)) {
		r->began = place;
		try_soon(r, place, 0);
	}
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
	if (!raw_write(x, r, visits, value))
		return false;
	piece_take(x, r, visits, value);
	return true;
}

bool raw_learns(const struct columns *x, const struct column *c, uint64_t visits)
{
	const struct raw *r = raw_at(x, c->raw);
	return visits - r->count < 3 * (uint64_t)r->period; /* in the first turn its values are new */
}

bool raw_put_plain(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	struct raw *r = raw_at(x, c->raw);
	const uint64_t i = visits - r->packed;
	if (r->edited || i >= RAW_BLOCK || visits >= r->retry || x->cap)
		return false;
	r->tail[i] = value;
	piece_take(x, r, visits, value);
	return true;
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
	c->grown = 0;
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

/* When the grammar is to be tried again: twice as late each time. */
static void wait_again(struct raw *r, uint64_t visits)
{
	if (!r->wait) {
		r->wait = RETRY_FIRST;
		r->patience = PATIENCE_FIRST;
	} else if (r->period) {
		r->patience *= 2;
	} else {
		r->wait *= 2;
	}
	r->retry = visits + r->wait;
	r->patient = visits + r->patience;
	r->period = 0;
	r->found = 0;
	r->piece = 0;
	r->began = visits;
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
	wait_again(r, visits);
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
	return at < e->used ? raw_block_words(e->words + at, e->used - at) : 0;
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
	int64_t values[RAW_BLOCK];
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
			raw_block_read(extent->words + w, values);
			for (unsigned i = 0; i < RAW_BLOCK && done < n; i++, done++)
				if (take(context, values[i]) != 0)
					return -1;
		}
		e = extent->next;
	}
	for (; done < n; done++)
		if (take(context, r->tail[done - r->packed]) != 0)
			return -1;
	return 0;
}

/* Constants have numbers of their own; they may be in a stretch of two with a value. */
static void widen(int64_t value, int64_t *least, int64_t *most)
{
	if (value_is_constant(value))
		return;
	*least = value < *least ? value : *least;
	*most = value > *most ? value : *most;
}

bool raw_saves(struct columns *x, struct column *c, uint64_t visits)
{
	const struct dict_run *runs = dictionary_runs(x, c);
	int64_t least = INT64_MAX, most = 0;
	uint64_t values = visits - raw_count(x, c, visits), size = column_size(x, c) - raw_bytes(x, c->raw);
	for (uint32_t i = 0; i < c->dict_count; i++) {
		widen(runs[i].start, &least, &most);
		widen((int64_t)((uint64_t)runs[i].start + (uint64_t)runs[i].stride * (runs[i].count - 1)), &least,
		      &most);
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
	return sizeof *r + r->bytes + (r->pieces ? RAW_PIECES * sizeof(struct raw_piece) : 0) +
	       (r->edited ? arena_at(x->arena, struct edited, r->edited)->capacity : 0);
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
	const ref edited = raw_at(x, at)->edited, pieces = raw_at(x, at)->pieces;
	extents_free(x, raw_at(x, at)->first);
	if (pieces)
		arena_free_range(x->arena, pieces, RAW_PIECES * sizeof(struct raw_piece));
	arena_free_range(x->arena, at, sizeof(struct raw));
	if (edited) {
		const struct edited e = *arena_at(x->arena, struct edited, edited);
		arena_free_block(x->arena, e.array, e.capacity);
		arena_free_range(x->arena, edited, sizeof e);
	}
	arena_commit(x->arena);
}
