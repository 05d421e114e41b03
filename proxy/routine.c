/* SPDX-License-Identifier: BSD-3-Clause
 * routine - a function of the program: what it is given, and its statements
 */
#include "proxy/routine.h"

#include <string.h>

#include "trace/base/budget.h"

void routine_add(struct routines *f, struct tree *t, const char *name, const struct parameter *parameters,
                 uint32_t count, const struct tree_node *body)
{
	struct parameter *own = count ? tree_room(t, count * sizeof *own) : NULL;
	if ((count && !own) || !budget_grow(&f->each, f->count, &f->capacity, sizeof *f->each)) {
		t->failed = true;
		return;
	}
	if (count)
		memcpy(own, parameters, count * sizeof *own);
	f->each[f->count++] = (struct routine){
		.name = tree_name(t, name, strlen(name)), .parameters = own, .parameter_count = count, .body = body};
}

uint32_t routine_lines(struct routine *r)
{
	struct printer p = {.out = NULL};
	if (r->lines == 0) {
		print_statement(&p, r->body, 1);
		r->lines = p.lines;
	}
	return r->lines;
}

void routine_print(struct printer *p, const struct routine *f)
{
	print_text(p, "static void ");
	print_text(p, f->name);
	print_text(p, "(");
	for (uint32_t i = 0; i < f->parameter_count; i++) {
		print_text(p, i ? ", " : "");
		print_text(p, f->parameters[i].type);
		print_text(p, f->parameters[i].name);
	}
	print_text(p, f->parameter_count ? ")\n{\n" : "void)\n{\n");
	print_statement(p, f->body, 1);
	print_text(p, "}\n\n");
}

void routines_print(struct printer *p, const struct routines *f)
{
	for (uint32_t i = 0; i < f->count; i++)
		if (!f->each[i].gone)
			routine_print(p, &f->each[i]);
}

void routines_free(struct routines *f)
{
	budget_free(f->each);
	*f = (struct routines){0};
}
