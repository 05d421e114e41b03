/* SPDX-License-Identifier: BSD-3-Clause
 * cell - a column of a site, as small as it can be
 */
#include "trace/record/brief.h"
#include "trace/record/cell.h"
#include "trace/record/edited.h"

void cell_refresh(const struct columns *x, struct cell *cell)
{
	const struct column *c = cell_column(x, cell);
	cell->raw = VALUE_NONE;
	cell->expect = c ? c->expect : VALUE_NONE;
	cell->looping = c && c->period_length && !c->lossy;
}

/* Makes the struct column of a cell, with the `visits` values that the cell stands for. NULL: no memory. */
static struct column *column_make(struct columns *x, struct cell *cell, uint64_t visits)
{
	ref at = arena_alloc(x->arena, sizeof(struct column));
	arena_commit(x->arena);
	if (!at) {
		lossy_note(x);
		cell->column = CELL_FORGOTTEN;
		cell_refresh(x, cell);
		return NULL;
	}
	struct column *c = arena_at(x->arena, struct column, at);
	column_init(c);
	c->role = cell->role;
	/* of what came before the mark it has no more than that: the value that it had ever since, or a brief site's */
	c->marked = visits > BRIEF_VISITS ? visits : BRIEF_VISITS;
	/* the second one makes it constant; how many there are follows from the visits */
	for (uint64_t i = 0; i < visits && i < 2; i++)
		column_turn(x, c, i, cell->expect);
	arena_barrier();
	cell->column = at;
	x->varying += (cell->role & ROLE_KINDS) != ROLE_NEXT;
	return c;
}

void cell_turn(struct columns *x, struct cell *cell, uint64_t visits, int64_t value)
{
	struct column *c = cell_column(x, cell);
	if (!cell->column) {
		if (visits == 0) {
			cell->raw = VALUE_NONE;
			cell->expect = value;
			return;
		}
		c = column_make(x, cell, visits);
	}
	if (!c)
		return;
	if (cell_put_raw(x, cell, visits, value))
		return;
	column_turn(x, c, visits, value);
	cell_refresh(x, cell);
}

void cell_force(struct columns *x, struct cell *cell, uint64_t visits)
{
	struct column *c = cell->column ? cell_column(x, cell) : column_make(x, cell, visits);
	if (!c)
		return;
	lossy_force(x, c, visits);
	cell_refresh(x, cell);
}

bool cell_put_edits(struct columns *x, struct cell *cell, uint64_t visits, const int64_t *values, size_t n, bool is_new)
{
	struct column *c = cell_column(x, cell);
	if (!c || c->lossy)
		return false;
	if (!edited_is(x, c) && !(is_new && edited_is_due(x, c, visits, n) && edited_make(x, c, visits)))
		return false;
	if (!edited_put(x, c, visits, values, n)) {
		lossy_force(x, c, visits);
		lossy_put_vector(x, c, visits, values, n);
	}
	cell_refresh(x, cell);
	return true;
}

void cell_put_vector(struct columns *x, struct cell *cell, uint64_t visits, const int64_t *values, size_t n)
{
	struct column *c = cell_column(x, cell);
	if (!c)
		return;
	lossy_put_vector(x, c, visits, values, n);
	cell_refresh(x, cell);
}

struct column *cell_open(const struct columns *x, const struct cell *cell, uint64_t visits, struct column *room)
{
	if (cell->column > CELL_FORGOTTEN)
		return arena_valid(x->arena, cell->column, sizeof *room) ? cell_column(x, cell) : NULL;
	*room = (struct column){.role = cell->role};
	column_init(room);
	if (cell->column == CELL_FORGOTTEN) {
		room->lossy = LOSSY_FORGOTTEN;
	} else if (visits > 0) {
		if (cell->expect == VALUE_NONE || cell->expect == VALUE_LOSSY)
			return NULL;
		room->first = (struct dict_run){.start = cell->expect, .count = 1};
		room->dict_count = 1;
		room->lead = room->token = 1;
		room->start = room->synced = 1;
	}
	return room;
}
