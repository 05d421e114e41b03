/* SPDX-License-Identifier: BSD-3-Clause
 * column - everything that varies from one visit of a site to the next, compressed as it grows (DESIGN: elastic
 * columns)
 *
 * A column is a sequence of 64-bit values in time order. It is kept as a dictionary (the values in order of first
 * appearance) and a pattern: the sequence of tokens, where token 0 is `new` (the next value of the dictionary) and
 * token k + 1 is dictionary value k again. 5 5 7 5 is `new 1 new 1` over the dictionary 5 7. What the column holds, in
 * order, is
 *
 *     raw       values that nothing compresses, as bits (trace/record/raw.h); mostly there are none
 *     pattern   the grammar once there is one, else `new`^lead
 *     loop      while the pattern repeats a rule: the rule `loops` times, then runs flushed..cursor of its expansion
 *               (the period)
 *     run       the token under way, since visit `start`
 *
 * How long the run under way is follows from how many values there are, which the site knows (its visits). So a visit
 * that brings what was expected writes nothing at all: it is one compare. A periodic column is one more compare per
 * run, and the grammar is touched only when a loop begins or ends or nothing repeats.
 *
 *     5 5 5 5        lead 1, token 1, start 1           the constant case (mostly only a cell: trace/record/cell.h)
 *     7 8 9 10       token 0 (new), start 0, next 11    a counter: the dictionary is one strided run
 *     1 2 1 2 1 2 1  grammar `new^2 R^2`, R -> 1 2 ...  then period [1 2], cursor on the run under way
 *
 * Stores are ordered so that after any prefix of them the first n values are what they were, n being the values before
 * the put (arena.h): a reader of a crashed arena takes as many values as the site has visits and ignores what may stand
 * behind them.
 */
#ifndef SPOOR_COLUMN_H
#define SPOOR_COLUMN_H

#include "trace/base/arena.h"
#include "trace/model/value.h"
#include "trace/record/grammar.h"

/* A run of the period, flattened with its value. */
struct period_run {
	int64_t value;
	uint32_t token, length;
};

struct column {
	int64_t expect; /* the value that makes the run longer and changes nothing; VALUE_NONE: there is none */
	uint64_t start; /* values before the run under way */
	uint32_t token; /* of the run under way; in a loop the period has it */
	ref grammar;
	uint64_t synced; /* of a run of new values: how many the dictionary has been told of */
	union {
		uint64_t lead;
		struct { /* of a lossy column */
			/* what was put lately, and is not in the tally yet; 0: nothing waits (trace/record/lossy.h) */
			ref queue;
			uint32_t queued; /* ROLE_VECTOR: words in it */
		};
	};
	union {
		uint64_t loop; /* in a loop: loops << 32 | cursor: one word, so that both change at once */
		/* else, token 0: the value that is new and goes on with the last stretch; VALUE_NONE: none is known */
		int64_t next;
	};
	uint32_t period_length; /* 0: no loop under way */
	uint32_t flushed;
	ref period, rule;
	uint32_t period_capacity; /* bytes */
	uint32_t dict_count; /* stretches in the dictionary; the first is `first`, all are at `dict` once it is set */
	ref dict;
	uint32_t dict_capacity; /* bytes */
	struct dict_run first;
	/* struct lossy: the column gave up its order (trace/record/lossy.h), and of all this only expect, start and
	 * queue mean something to readers */
	ref lossy;
	uint16_t role;    /* enum column_role */
	uint16_t appends; /* since the size of the pattern was looked at; lossy: runs since visit `synced` */
	uint64_t marked;  /* so many values stay in order if memory gets short (trace/record/prefix.h) */
	/* struct raw: the first values, as bits; all that is above holds what follows them (trace/record/raw.h); 0:
	 * none */
	ref raw;
	int32_t grown; /* symbols that the pattern has got since it was looked at; and values, if it was raw before */
	/* ROLE_VECTOR: vectors that were new when they were put, and about their bytes (trace/record/edited.h) */
	uint64_t arrays, array_bytes;
};

_Static_assert(offsetof(struct column, queued) + sizeof(uint32_t) <= offsetof(struct column, lead) + sizeof(uint64_t),
               "a lossy column needs no more than `lead`");
_Static_assert(offsetof(struct column, loop) == offsetof(struct column, next) && sizeof(uint64_t) == sizeof(int64_t),
               "one word, so that a reader of a crashed arena sees it as a whole");

/* What the values of a column are when their order is given up. */
enum column_role {
	ROLE_VALUE,
	ROLE_STRING, /* numbers of strings */
	ROLE_VECTOR, /* numbers of vectors */
	ROLE_NEXT,   /* the successor column */
	ROLE_KINDS = 3,
	/* or'ed: the order is kept whatever the threshold, unless the structure may be lossy or memory is used up */
	ROLE_EXACT = 4,
	ROLE_OFTEN = 8, /* or'ed: it is in columns.often */
};

/* A column of fewer visits has no size that matters. */
#define COLUMN_VISITS 16

/* What all columns of an arena share, in private memory. */
struct columns {
	struct arena *arena;
	struct grammar_index grammars;
	struct dict_slot *slots; /* (column, value) -> dictionary index, for large dictionaries */
	size_t mask, count;
	struct grammar_run *scratch;
	struct record *record; /* the arena's; NULL: there is none, and no vectors */
	uint64_t threshold;    /* tokens that a column may have; UINT64_MAX: any number */
	bool structure;        /* ROLE_EXACT makes no difference */
	/* columns that vary, and those of them at a site of COLUMN_VISITS visits or more; without successors */
	uint64_t varying, often;
	uint32_t bins; /* of a tally at most, to save memory; 0: any number */
	uint64_t cap;  /* bytes that a column may have, about, because memory was short before; 0: any number */
	/* the number of the event that columns were marked before (trace/record/reclaim.h), + 1, and what was left of
	 * the arena then; 0: none */
	uint64_t mark, mark_left;
	uint64_t class_bytes; /* what classes of computations take (trace/record/record_class.h) */
	/* something found no memory, and nothing could be done about it: what was put is lost, and the arena takes no
	 * more */
	bool failed;
};

/* Returns 0 or -1 (no memory). */
int columns_init(struct columns *x, struct arena *a);
void columns_free(struct columns *x);
/* Gives back the memory in which pairs and values are found: none is, from then on. */
void columns_rest(struct columns *x);

/* A zeroed column is empty except for this. */
static inline void column_init(struct column *c)
{
	c->expect = VALUE_NONE;
	c->next = VALUE_NONE;
}

/* Counts it in columns.often. */
static inline void column_count(struct columns *x, struct column *c)
{
	x->often += !(c->role & ROLE_OFTEN) && (c->role & ROLE_KINDS) != ROLE_NEXT;
	c->role |= ROLE_OFTEN;
}

/* The general case of a put. Without memory the column gives up its order. */
void column_turn(struct columns *x, struct column *c, uint64_t visits, int64_t value);

/* Puts a value behind the `visits` values that the column has. */
static inline void column_put(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	if (__builtin_expect(value != c->expect, 0))
		column_turn(x, c, visits, value);
}

/* The value that comes next if the column goes on as before: that of the run under way, or in a loop, where that run is
 * over, of the next one. */
static inline int64_t column_predict(const struct columns *x, const struct column *c, uint64_t visits);
/* column_turn for a column that is in a loop and goes on in it; false: it does not, and nothing was done. */
static inline bool column_step(const struct columns *x, struct column *c, uint64_t visits, int64_t value);

static inline int64_t column_predict(const struct columns *x, const struct column *c, uint64_t visits)
{
	if (c->lossy || !c->period_length)
		return c->expect;
	const struct period_run *runs = arena_at(x->arena, struct period_run, c->period);
	uint32_t at = (uint32_t)c->loop, next = at + 1 < c->period_length ? at + 1 : 0;
	return visits - c->start == runs[at].length ? runs[next].value : c->expect;
}

/* The same, of a column that is known to be in a loop. */
static inline __attribute__((always_inline)) bool column_step_loop(const struct columns *x, struct column *c,
                                                                   uint64_t visits, int64_t value)
{
	const struct period_run *runs = arena_at(x->arena, struct period_run, c->period),
				*at = &runs[(uint32_t)c->loop], *next = at + 1;
	uint64_t loop = c->loop + 1;
	if ((uint32_t)loop == c->period_length) {
		loop = ((loop >> 32) + 1) << 32;
		next = runs;
		if (loop >> 32 == UINT32_MAX)
			return false;
	}
	if (__builtin_expect(visits - c->start != at->length || next->value != value, 0))
		return false;
	c->loop = loop;
	arena_barrier();
	c->start = visits;
	c->expect = value;
	return true;
}

static inline bool column_step(const struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	return c->period_length && !c->lossy && column_step_loop(x, c, visits, value);
}

/* For trace/record/lossy.c and trace/record/image.c. */
struct pattern;
/* Everything in a column behind its raw values as a pattern, the run under way included; a loop under way is left.
 * Returns 0, or -1 on no memory (then the column is as good as before). The caller frees the pattern in any case. */
int column_pattern(struct columns *x, struct column *c, uint64_t visits, struct pattern *out);
const struct dict_run *column_dict(const struct columns *x, struct column *c);
/* Ends the loop under way, and tells the dictionary of all values of the run under way, which has `run` visits. Returns
 * 0 or -1. */
int column_settle(struct columns *x, struct column *c, uint64_t run);
/* Puts the run under way into the pattern, as its last one. Returns 0 or -1. */
int column_close(struct columns *x, struct column *c, uint64_t run);
/* Makes a column lossy, with a run under way, and gives the memory of its pattern and dictionary back; kept: these are
 * somebody else's now. */
void column_release(struct columns *x, struct column *c, ref lossy, uint64_t start, int64_t expect, bool kept);
/* Gives the memory of its pattern and dictionary back: all its values are raw. */
void column_discard(struct columns *x, struct column *c, ref raw);
/* The bytes of the arena that a column has, about. */
uint64_t column_size(const struct columns *x, struct column *c);

#endif
