/* SPDX-License-Identifier: BSD-3-Clause
 * passed - what the calls that did not end were passed
 */
#include "trace/model/passed.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

/* Where it is, or would be. */
static uint32_t passed_place(const struct passed *p, uint32_t column, uint32_t element)
{
	uint32_t low = 0, high = p->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct passed_value *v = &p->each[middle];
		if (v->column < column || (v->column == column && v->element < element))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool passed_is_at(const struct passed *p, uint32_t place, uint32_t column, uint32_t element)
{
	return place < p->count && p->each[place].column == column && p->each[place].element == element;
}

/* Room for one more at a place; its map is empty. */
static struct passed_value *passed_insert(struct passed *p, uint32_t place)
{
	if ((p->count & (p->count - 1)) == 0) { /* a power of two: full */
		struct passed_value *more =
			budget_realloc(p->each, (p->count ? 2 * (size_t)p->count : 1) * sizeof *more);
		if (!more)
			return NULL;
		p->each = more;
	}
	memmove(&p->each[place + 1], &p->each[place], (p->count++ - place) * sizeof *p->each);
	p->each[place] = (struct passed_value){.column = 0};
	return &p->each[place];
}

/* Adds ranks; `ranks` is used up if that succeeds. */
static int passed_add_ranks(struct passed *p, uint32_t column, uint32_t element, struct rankmap *ranks)
{
	uint32_t place = passed_place(p, column, element);
	if (passed_is_at(p, place, column, element)) {
		struct rankmap *known = &p->each[place].value;
		if (rankmap_union(known, known, ranks) != 0)
			return -1;
		rankmap_free(ranks);
		return 0;
	}
	struct passed_value *v = passed_insert(p, place);
	if (!v)
		return -1;
	*v = (struct passed_value){column, element, *ranks};
	return 0;
}

int passed_add(struct passed *p, uint32_t column, uint32_t element, uint32_t rank, int64_t value)
{
	struct rankmap one;
	if (rankmap_single(&one, rank, value, false) != 0)
		return -1;
	if (passed_add_ranks(p, column, element, &one) == 0)
		return 0;
	rankmap_free(&one);
	return -1;
}

int passed_add_take(struct passed *p, const struct passed_value *value)
{
	struct passed_value *v = passed_insert(p, p->count);
	if (!v)
		return -1;
	*v = *value;
	return 0;
}

static int64_t constant_translate(void *context, int64_t v)
{
	const uint32_t *strings = context;
	return value_is_constant(v) ? VALUE_CONSTANT + strings[(uint64_t)v - (uint64_t)VALUE_CONSTANT] : v;
}

int passed_join(struct passed *p, const struct passed *from, const uint32_t *strings)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const struct passed_value *v = &from->each[i];
		struct rankmap value;
		int rv = strings ? rankmap_translate(&value, &v->value, constant_translate, (void *)(uintptr_t)strings)
		                 : rankmap_copy(&value, &v->value);
		if (rv != 0)
			return -1;
		if (passed_add_ranks(p, v->column, v->element, &value) != 0) {
			rankmap_free(&value);
			return -1;
		}
	}
	return 0;
}

bool passed_get(const struct passed *p, int column, uint32_t element, uint32_t rank, int64_t *value)
{
	uint32_t place = column < 0 ? p->count : passed_place(p, (uint32_t)column, element);
	return column >= 0 && passed_is_at(p, place, (uint32_t)column, element) &&
	       rankmap_get(&p->each[place].value, rank, value);
}

void passed_free(struct passed *p)
{
	for (uint32_t i = 0; i < p->count; i++)
		rankmap_free(&p->each[i].value);
	budget_free(p->each);
	*p = (struct passed){.count = 0};
}
