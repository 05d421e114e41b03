/* SPDX-License-Identifier: BSD-3-Clause
 * cell - a column of a site, as small as it can be: one value, until something varies
 *
 * Most columns have one value for ever, and most sites of a large program are visited once or twice. So a site has a
 * cell for each column. As long as all values are the same, the cell is all there is:
 *
 *     5 5 5 5    expect 5, column 0: as many fives as the site has visits
 *     5 5 7      expect ?, column -> struct column (trace/record/column.h), which has all values
 *
 * A cell with a struct column is what the recorder looks at first: `expect` and `looping` repeat what the column says.
 *
 * A reader of a crashed arena takes `expect` only where `column` is 0. It is written by the first put alone, before the
 * visit counts. The struct column is whole before `column` refers to it.
 */
#ifndef SPOOR_CELL_H
#define SPOOR_CELL_H

#include "trace/record/column.h"
#include "trace/record/lossy.h"
#include "trace/record/raw.h"

struct cell {
	int64_t expect; /* the value that changes nothing; VALUE_NONE: there is none */
	/* the recorder's: what was encoded as `expect` (cell_remember); VALUE_NONE: nothing that is known */
	int64_t raw;
	ref column;    /* struct column; 0: all values are `expect`; CELL_FORGOTTEN */
	uint16_t role; /* enum column_role */
	uint16_t looping;
};

/* There was no memory for a struct column: it is known how many values there are, and no more. */
#define CELL_FORGOTTEN 8

/* A zeroed cell is empty except for this. */
static inline void cell_init(struct cell *cell)
{
	cell->expect = cell->raw = VALUE_NONE;
}

/* NULL: it has none. */
static inline struct column *cell_column(const struct columns *x, const struct cell *cell)
{
	return cell->column > CELL_FORGOTTEN ? arena_at(x->arena, struct column, cell->column) : NULL;
}

/* The general case of a put. Without memory the column gives up its order. */
void cell_turn(struct columns *x, struct cell *cell, uint64_t visits, int64_t value);

/* Puts a value behind the `visits` values that the column has. */
static inline void cell_put(struct columns *x, struct cell *cell, uint64_t visits, int64_t value)
{
	if (__builtin_expect(value != cell->expect, 0))
		cell_turn(x, cell, visits, value);
}

/* After the put of `value`, which was made of `raw`: as long as cell_expects(c, raw), a put of what raw is encoded as
 * changes nothing and may be left out. */
static inline void cell_remember(struct cell *cell, int64_t value, int64_t raw)
{
	cell->raw = cell->expect == value ? raw : VALUE_NONE;
}

static inline bool cell_expects(const struct cell *cell, int64_t raw)
{
	return cell->raw == raw;
}

/* The value that comes next if the column goes on as before (column_predict). */
static inline int64_t cell_predict(const struct columns *x, const struct cell *cell, uint64_t visits)
{
	return cell->looping ? column_predict(x, cell_column(x, cell), visits) : cell->expect;
}

/* cell_turn for a column that is in a loop and goes on in it; false: it does not, and nothing was done. */
static inline __attribute__((always_inline)) bool cell_step(const struct columns *x, struct cell *cell, uint64_t visits,
                                                            int64_t value)
{
	if (!cell->looping || !column_step_loop(x, arena_at(x->arena, struct column, cell->column), visits, value))
		return false;
	cell->expect = value;
	return true;
}

/* The plain case of a put without order (lossy_wait). False: it is not plain, and nothing was done. */
static inline bool cell_wait(uint8_t *base, const struct cell *cell, uint64_t visits, int64_t value)
{
	return cell->column > CELL_FORGOTTEN &&
	       lossy_wait(base, (struct column *)(void *)(base + cell->column), visits, value);
}

/* The plain case of a put of a value that nothing compresses (raw_put_plain). False: it is not plain, and nothing was
 * done. */
static inline bool cell_put_raw(struct columns *x, const struct cell *cell, uint64_t visits, int64_t value)
{
	struct column *c = cell_column(x, cell);
	return c && raw_is(c) && raw_put_plain(x, c, visits, value);
}

/* Has the column no order any more? */
static inline bool cell_is_lossy(const struct columns *x, const struct cell *cell)
{
	return cell->column && (cell->column == CELL_FORGOTTEN || cell_column(x, cell)->lossy);
}

/* Takes the order from a column, in need of memory (lossy_force). */
void cell_force(struct columns *x, struct cell *cell, uint64_t visits);
/* Puts a vector, a new one of n elements, into a column whose arrays are edits (trace/record/edited.h), or are to be
 * from now on. False: they are not, and nothing was done. */
bool cell_put_edits(struct columns *x, struct cell *cell, uint64_t visits, const int64_t *values, size_t n,
                    bool is_new);
/* Puts a vector into a column that has no order. */
void cell_put_vector(struct columns *x, struct cell *cell, uint64_t visits, const int64_t *values, size_t n);
/* After something else than the above changed the struct column. */
void cell_refresh(const struct columns *x, struct cell *cell);

/* The struct column of a cell of an untrusted arena, to be taken out with `visits` values. One that the arena does not
 * have is made in *room. NULL: damaged. */
struct column *cell_open(const struct columns *x, const struct cell *cell, uint64_t visits, struct column *room);

#endif
