/* SPDX-License-Identifier: BSD-3-Clause
 * fit_form - a form of a function: its values, and its text
 */
#include "proxy/fit_form.h"

#include <inttypes.h>

size_t form_numbers(const struct form *f)
{
	static const size_t numbers[] = {[FORM_CONSTANT] = 1, [FORM_SHIFT] = 1,  [FORM_WRAP] = 2, [FORM_MIRROR] = 1,
	                                 [FORM_XOR] = 1,      [FORM_LINEAR] = 2, [FORM_GRID] = 4, [FORM_TORUS] = 6};
	return numbers[f->kind];
}

bool form_value(const struct form *f, int64_t x, int64_t *y)
{
	switch (f->kind) {
	case FORM_CONSTANT:
		*y = f->a;
		return true;
	case FORM_SHIFT:
		*y = x + f->a;
		return true;
	case FORM_WRAP:
		*y = x / f->w * f->w + (x + f->a) % f->w;
		return true;
	case FORM_MIRROR:
		*y = f->a - x;
		return true;
	case FORM_XOR:
		*y = x ^ f->a;
		return true;
	case FORM_LINEAR:
		*y = f->a * x + f->b;
		return true;
	case FORM_GRID:
		*y = f->a * (x / f->w) + f->b * (x % f->w) + f->c;
		return true;
	case FORM_TORUS:
		*y = f->a * ((x / f->w + f->down) % f->rows) + f->b * ((x + f->right) % f->w) + f->c;
		return true;
	}
	return false;
}

void form_write_leaf(const struct fit *f, int64_t y, FILE *out)
{
	if (f->leaf)
		f->leaf(f->context, y, out);
	else
		fprintf(out, "%" PRId64, y);
}

void form_write_sum(FILE *out, int64_t c)
{
	if (c)
		fprintf(out, " %c %" PRId64, c < 0 ? '-' : '+', c < 0 ? -c : c);
}

static void write_side(const struct fit *f, int64_t w, FILE *out)
{
	if (w == f->size)
		fputs("size", out);
	else
		fprintf(out, "%" PRId64, w);
}

/* factor * (x / w), or nothing. */
static void write_term(const struct fit *f, int64_t factor, char operation, int64_t w, FILE *out)
{
	if (factor != 0 && factor != 1)
		fprintf(out, "%" PRId64 " * (", factor);
	if (factor != 0)
		fprintf(out, "%s %c %" PRId64 "%s", f->x, operation, w, factor != 1 ? ")" : "");
}

static void write_shifted(const struct fit *f, int64_t factor, int64_t w, int64_t by, int64_t side, FILE *out)
{
	char place[400];
	int used = snprintf(place, sizeof place, "%s", f->x);
	if (w > 1)
		snprintf(place + used, sizeof place - (size_t)used, " / %" PRId64, w);
	if (factor != 1)
		fprintf(out, "%" PRId64 " * (", factor);
	if (by)
		fprintf(out, "(%s + %" PRId64 ") %% %" PRId64 "%s", place, by, side, factor != 1 ? ")" : "");
	else
		fprintf(out, "%s %% %" PRId64 "%s", place, side, factor != 1 ? ")" : "");
}

static void write_torus(const struct fit *f, const struct form *form, FILE *out)
{
	if (form->a)
		write_shifted(f, form->a, form->w, form->down, form->rows, out);
	if (form->a && form->b)
		fputs(" + ", out);
	if (form->b)
		write_shifted(f, form->b, 1, form->right, form->w, out);
	form_write_sum(out, form->c);
}

int form_write(const struct fit *f, const struct form *form, FILE *out)
{
	int64_t back = form->w - form->a;
	switch (form->kind) {
	case FORM_CONSTANT:
		form_write_leaf(f, form->a, out);
		return 0;
	case FORM_SHIFT:
		fputs(f->x, out);
		form_write_sum(out, form->a);
		return 1;
	case FORM_WRAP:
		if (form->w != f->size)
			fprintf(out, "%s / %" PRId64 " * %" PRId64 " + ", f->x, form->w, form->w);
		if (back < form->a && form->w == f->size)
			fprintf(out, "(%s + size - %" PRId64 ") %% ", f->x, back);
		else
			fprintf(out, "(%s + %" PRId64 ") %% ", f->x, form->a);
		write_side(f, form->w, out);
		return 1;
	case FORM_MIRROR:
		fprintf(out, "%" PRId64 " - %s", form->a, f->x);
		return 1;
	case FORM_XOR:
		fprintf(out, "%s ^ %" PRId64, f->x, form->a);
		return 1;
	case FORM_LINEAR:
		fprintf(out, "%" PRId64 " * %s", form->a, f->x);
		form_write_sum(out, form->b);
		return 1;
	case FORM_GRID:
		write_term(f, form->a, '/', form->w, out);
		fputs(form->a && form->b ? " + " : "", out);
		write_term(f, form->b, '%', form->w, out);
		form_write_sum(out, form->c);
		return 1;
	case FORM_TORUS:
		write_torus(f, form, out);
		return 1;
	}
	return 2;
}
