/* SPDX-License-Identifier: BSD-3-Clause
 * fit_form - a form of a function: its values, and the expression
 */
#include "proxy/fit_form.h"

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

const struct tree_node *form_leaf(const struct fit *f, int64_t y)
{
	return f->leaf ? f->leaf(f->context, y) : node_number(f->tree, y);
}

/* a, b and the operation; NULL is nothing. */
static const struct tree_node *both(const struct fit *f, enum node_form operation, const struct tree_node *a,
                                    const struct tree_node *b)
{
	return a && b ? node_2(f->tree, operation, a, b) : a ? a : b;
}

static const struct tree_node *with_number(const struct fit *f, enum node_form operation, const struct tree_node *a,
                                           int64_t number)
{
	return node_2(f->tree, operation, a, node_number(f->tree, number));
}

static const struct tree_node *in_brackets(const struct fit *f, const struct tree_node *n)
{
	return node_1(f->tree, NODE_IN_BRACKETS, n);
}

static const struct tree_node *times(const struct fit *f, int64_t factor, const struct tree_node *n)
{
	if (factor == 1)
		return n;
	return node_2(f->tree, NODE_TIMES, node_number(f->tree, factor), in_brackets(f, n));
}

/* factor * (x / w); NULL: nothing. */
static const struct tree_node *term(const struct fit *f, int64_t factor, enum node_form operation, int64_t w)
{
	return factor == 0 ? NULL : times(f, factor, with_number(f, operation, f->x, w));
}

static const struct tree_node *shifted(const struct fit *f, int64_t factor, int64_t w, int64_t by, int64_t side)
{
	const struct tree_node *place = w > 1 ? with_number(f, NODE_OVER, f->x, w) : f->x;
	if (factor == 0)
		return NULL;
	if (by)
		place = in_brackets(f, with_number(f, NODE_PLUS, place, by));
	return times(f, factor, with_number(f, NODE_MODULO, place, side));
}

static const struct tree_node *with_sum(const struct fit *f, const struct tree_node *n, int64_t c)
{
	return n ? node_sum(f->tree, n, c) : node_number(f->tree, c);
}

static const struct tree_node *make_wrap(const struct fit *f, const struct form *form)
{
	int64_t back = form->w - form->a;
	bool all = form->w == f->size;
	const struct tree_node *size = node_name(f->tree, "size"),
			       *row = all ? NULL
	                                  : with_number(f, NODE_TIMES, with_number(f, NODE_OVER, f->x, form->w),
	                                                form->w),
			       *moved = back < form->a && all
	                                        ? with_number(f, NODE_MINUS, node_2(f->tree, NODE_PLUS, f->x, size),
	                                                      back)
	                                        : with_number(f, NODE_PLUS, f->x, form->a);
	return both(f, NODE_PLUS, row,
	            node_2(f->tree, NODE_MODULO, in_brackets(f, moved), all ? size : node_number(f->tree, form->w)));
}

const struct tree_node *form_make(const struct fit *f, const struct form *form, int *level)
{
	*level = form->kind == FORM_CONSTANT ? 0 : 1;
	switch (form->kind) {
	case FORM_CONSTANT:
		return form_leaf(f, form->a);
	case FORM_SHIFT:
		return node_sum(f->tree, f->x, form->a);
	case FORM_WRAP:
		return make_wrap(f, form);
	case FORM_MIRROR:
		return node_2(f->tree, NODE_MINUS, node_number(f->tree, form->a), f->x);
	case FORM_XOR:
		return with_number(f, NODE_XOR, f->x, form->a);
	case FORM_LINEAR:
		return node_sum(f->tree, node_2(f->tree, NODE_TIMES, node_number(f->tree, form->a), f->x), form->b);
	case FORM_GRID:
		return with_sum(f,
		                both(f, NODE_PLUS, term(f, form->a, NODE_OVER, form->w),
		                     term(f, form->b, NODE_MODULO, form->w)),
		                form->c);
	case FORM_TORUS:
		return with_sum(f,
		                both(f, NODE_PLUS, shifted(f, form->a, form->w, form->down, form->rows),
		                     shifted(f, form->b, 1, form->right, form->w)),
		                form->c);
	}
	return NULL;
}
