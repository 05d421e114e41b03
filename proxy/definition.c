/* SPDX-License-Identifier: BSD-3-Clause
 * definition - a table or a function that stands in front of what uses it
 */
#include "proxy/definition.h"

#include "trace/base/budget.h"

static struct definition nobody;

struct definition *definition_add(struct definitions *d, struct tree *t, const char *kind, uint32_t number)
{
	struct definition *one = tree_room(t, sizeof *one);
	if (!one) {
		nobody = (struct definition){.kind = "", .number = DEFINITION_ALONE};
		return &nobody;
	}
	*one = (struct definition){.kind = kind, .number = number, .call = DEFINITION_NOWHERE};
	*(d->last ? &d->last->next : &d->first) = one;
	d->last = one;
	return one;
}

struct definition *definition_table(struct definitions *d, struct tree *t, const char *kind, uint32_t number)
{
	struct definition *one = definition_add(d, t, kind, number);
	one->sides = 1;
	return one;
}

/* Room for one more name; those of numbers are NULL. */
static bool make_names(struct definition *of)
{
	if (!of->names)
		of->names = budget_calloc(of->capacity, sizeof *of->names);
	return of->names != NULL;
}

void definition_value(struct tree *t, struct definition *of, int64_t value, const struct tree_node *name)
{
	uint32_t before = of->capacity;
	if (of == &nobody)
		return;
	if (!budget_grow(&of->values, of->count, &of->capacity, sizeof *of->values)) {
		t->failed = true;
		return;
	}
	if (of->names && before != of->capacity) {
		const struct tree_node **names = budget_realloc(of->names, of->capacity * sizeof *names);
		if (!names) {
			t->failed = true;
			return;
		}
		of->names = names;
		for (uint32_t i = before; i < of->capacity; i++)
			names[i] = NULL;
	}
	if (name && !make_names(of)) {
		t->failed = true;
		return;
	}
	if (name)
		of->names[of->count] = name;
	of->values[of->count++] = value;
}

void definitions_join(struct definitions *d, struct definitions *more)
{
	if (more->first) {
		*(d->last ? &d->last->next : &d->first) = more->first;
		d->last = more->last;
	}
	*more = (struct definitions){0};
}

void definitions_free(struct definitions *d)
{
	for (struct definition *one = d->first; one; one = one->next) {
		budget_free(one->values);
		budget_free(one->names);
	}
	*d = (struct definitions){0};
}
