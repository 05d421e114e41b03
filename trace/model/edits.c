/* SPDX-License-Identifier: BSD-3-Clause
 * edits - arrays that follow each other, as numbers: what differs from the array before
 */
#include "trace/model/edits.h"

#include "trace/base/budget.h"
#include "trace/model/value.h"

enum { STATE_BEGIN, STATE_EDIT, STATE_VALUE, STATE_LITERAL };

static int edit_done(struct edits *e)
{
	e->state = e->more ? STATE_EDIT : STATE_BEGIN;
	return e->more ? 0 : 1;
}

static int take_edit(struct edits *e, int64_t number)
{
	if (number <= 0)
		return -1;
	uint64_t edit = (uint64_t)number - 1;
	e->at = edit >> EDIT_POSITION;
	e->more = edit & EDIT_MORE;
	if (e->at >= e->count)
		return -1;
	if (!(edit & EDIT_SAME)) {
		e->state = STATE_VALUE;
		return 0;
	}
	e->values[e->at] = e->last;
	return edit_done(e);
}

static int take_element(struct edits *e, int64_t value)
{
	if (e->at == e->capacity) { /* not all at once: how many there are is only said so far */
		uint64_t capacity = e->capacity ? 2 * e->capacity : 16;
		int64_t *more = budget_realloc(e->values, capacity * sizeof *more);
		if (!more)
			return -1;
		e->values = more;
		e->capacity = capacity;
	}
	e->values[e->at++] = value;
	if (e->at < e->wanted)
		return 0;
	e->count = e->wanted;
	e->state = STATE_BEGIN;
	return 1;
}

static int take_first(struct edits *e, int64_t number)
{
	e->is_constant = value_is_constant(number);
	if (e->is_constant)
		e->constant = number;
	if (e->is_constant || number == 0)
		return 1;
	if (number > 0)
		return take_edit(e, number);
	e->wanted = (uint64_t)(-1 - number);
	if (e->wanted > EDITS_ELEMENTS)
		return -1;
	e->at = 0;
	e->count = 0;
	e->state = e->wanted ? STATE_LITERAL : STATE_BEGIN;
	return e->wanted ? 0 : 1;
}

static int feed_number(struct edits *e, int64_t number)
{
	switch (e->state) {
	case STATE_BEGIN:
		return take_first(e, number);
	case STATE_EDIT:
		return take_edit(e, number);
	case STATE_VALUE:
		e->values[e->at] = e->last = number;
		return edit_done(e);
	default:
		return take_element(e, number);
	}
}

int edits_take(struct edits *e, int64_t number)
{
	int rv = feed_number(e, number);
	e->is_begun = rv == 0;
	return rv;
}

void edits_free(struct edits *e)
{
	budget_free(e->values);
	*e = (struct edits){0};
}
