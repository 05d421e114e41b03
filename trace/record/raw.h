/* SPDX-License-Identifier: BSD-3-Clause
 * raw - the first values of a column that nothing compresses, as bits
 *
 * Some values follow no rule: ranks drawn at random, displacements, which request was complete. A grammar takes 32
 * bytes and 2,000 instructions for each of them. As bits they take what their range needs.
 *
 *     column   9 3 7 1 ... 4 4 4 4 4 ...
 *     raw      64 values a block: 3 bits each         [ 9 3 7 1 ... ] [ ... ] tail: up to 64 more, as they came
 *     column   what comes behind them, as in any other column: pattern, dictionary, loop, run
 *
 * While column.token is TOKEN_RAW, all values of the column are raw, and each put is one of them. When they repeat, the
 * column tries its grammar again, from there on (raw_leave); and once in a while without, for they may count up. If
 * that compresses, it stays. If not, what it holds becomes raw, too (raw_make).
 *
 * Whether they repeat is seen at little cost: values are cut into pieces where a hash of the last eight says so, which
 * is in the same places when they come again. A piece is looked up by its hash among the last ones.
 *
 *     3 1 4 1 | 5 9 2 | 6 5 3 5 8 ... 3 1 4 1 | 5 9 2 | 6 ...        half of the last pieces were there before: a loop
 *
 * A reader of a crashed arena takes as many values as there are visits: those of `packed` in blocks, the others from
 * the tail. The block is there before `packed` counts it, and the tail is written again only afterwards.
 */
#ifndef SPOOR_RAW_H
#define SPOOR_RAW_H

#include "trace/record/column.h"
#include "trace/record/raw_block.h"

/* column.token of a column whose values are all raw. */
#define TOKEN_RAW (UINT32_MAX - 1)

struct raw_extent {
	ref next;
	uint32_t size, used, unused; /* in words */
	uint64_t words[];
};

/* Pieces that are known: of loops of some 10,000 values. Readers need nothing of it. */
#define RAW_PIECES 256
struct raw_piece {
	uint32_t hash, place; /* where it ended */
};

struct raw {
	uint64_t count;  /* values, when something else follows them (column.token is not TOKEN_RAW) */
	uint64_t packed; /* values in blocks */
	uint64_t bytes;  /* of extents */
	uint64_t wait;   /* values until the grammar is tried again, without a reason */
	uint64_t retry;  /* when that is */
	ref first, last; /* extents */
	ref edited;      /* struct edited (trace/record/edited.h): what the values are; 0: the column's */
	uint32_t period; /* after how many values they repeat, when the grammar is tried because they do; else 0 */
	int64_t tail[RAW_BLOCK];
	/* whether they repeat: the last values, and the piece under way, as hashes */
	uint64_t recent, piece;
	uint64_t began;   /* values before that piece */
	uint64_t patient; /* until then nothing is tried because of that; later after each time that it was in vain */
	uint64_t patience;
	uint32_t found; /* bits: which of the last pieces were there before */
	ref pieces;     /* struct raw_piece[RAW_PIECES]; 0: there are not many values yet, or no memory */
};

/* What a recorder knows of a column whose raw values are edits (trace/record/edited.h). Readers need nothing of it. */
struct edited {
	uint64_t visits, values; /* arrays so far, and how many raw values they took */
	int64_t last;            /* that was written by an edit */
	ref array;               /* the array of the visit before: int64_t */
	uint32_t capacity;       /* bytes */
	uint64_t count;          /* elements */
};

static inline bool raw_is(const struct column *c)
{
	return c->token == TOKEN_RAW && !c->lossy;
}

/* Makes all `visits` values of a column raw, and gives its pattern and dictionary back. False: no memory; the column is
 * as good as before. */
bool raw_make(struct columns *x, struct column *c, uint64_t visits);
/* Puts a value into a column that is raw. False: no memory, or it is as large as a column may be. */
bool raw_put(struct columns *x, struct column *c, uint64_t visits, int64_t value);
/* The same in the usual case. False: it is not, and nothing was done. */
bool raw_put_plain(struct columns *x, struct column *c, uint64_t visits, int64_t value);
/* Writes the value behind the first `place` ones. False: no memory. */
bool raw_append(struct columns *x, ref at, uint64_t place, int64_t value);
/* Is it time to try the grammar again? */
bool raw_is_due(const struct columns *x, const struct column *c, uint64_t visits);
/* What follows is no raw value. The column is then as if the next value were its first. */
void raw_leave(struct columns *x, struct column *c, uint64_t visits);
/* Is it to be left alone with what it repeats, after that? */
bool raw_learns(const struct columns *x, const struct column *c, uint64_t visits);
/* Would it save memory to make the column raw? A guess. */
bool raw_saves(struct columns *x, struct column *c, uint64_t visits);

/* How many of the `visits` values are raw. */
uint64_t raw_count(const struct columns *x, const struct column *c, uint64_t visits);
/* take(context, value) for each of the first n raw values. Returns 0, or -1: take did, or there are no n, or the arena
 * is damaged. */
int raw_each(const struct arena *a, ref at, uint64_t n, int (*take)(void *context, int64_t value), void *context);
/* The bytes of the arena; 0 is fine. */
uint64_t raw_bytes(const struct columns *x, ref at);
/* Keeps the first n values, of a column that gets no more of them. */
void raw_cut(struct columns *x, ref at, uint64_t n);
/* Gives all of it back. 0 is fine. */
void raw_free(struct columns *x, ref at);

#endif
