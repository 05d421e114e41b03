/* SPDX-License-Identifier: BSD-3-Clause
 * fit - a function of the rank as an expression of C
 *
 * The forms below are tried with the coefficients that single points suggest. If none holds for all points, the one
 * that holds for most is taken, and a condition is looked for that is true of the others only; for these all begins
 * anew. At the end there is a table: also where a rule has as many numbers as a table, since then there is
 * one for any values.
 *
 * What is tried depends on the values, which anybody may have made: each point that is looked at is a step.
 */
#include "proxy/fit.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/torus.h"
#include "trace/base/budget.h"

#define SAMPLES   12 /* points that coefficients are taken from */
#define DIVISORS  64
#define SPLITS    4 /* conditions inside of each other */
#define FORMS_TRY 4 /* forms that a condition is looked for */

#define RULE_LEAST  4 /* numbers that a rule may have, however few points there are: rank == 0 ? 60 : 0 */
#define TORUS_LEAST 9 /* points */
#define TORUS_MOST  4096

struct fit_condition {
	int64_t w, h;     /* of x / w % h; h 0: x / w */
	int64_t from, to; /* holds where it is in between */
	bool open_from, open_to;
	bool inverted;
};

/* ---- forms ---- */

static bool is_number(const struct fit *f, int64_t y)
{
	return !f->plain && (!f->is_name || !f->is_name(y)) && y > -(INT64_C(1) << 50) && y < INT64_C(1) << 50;
}

static bool form_holds(const struct fit *f, const struct form *form, const struct point *p)
{
	int64_t y;
	return form_value(form, p->x, &y) && y == p->y && (form->kind == FORM_CONSTANT || is_number(f, p->y));
}

struct forms {
	struct form best[FORMS_TRY];
	size_t count;
};

/* So many points are enough for a form of this kind that any numbers fit. */
static size_t fits_any(enum kind kind)
{
	return kind == FORM_GRID ? 3 : kind == FORM_LINEAR ? 2 : 0;
}

/* Of two that hold for as many points, the simpler one: a grid of 2 x 2 holds for any 3 of 4. */
static bool form_is_better(const struct form *a, const struct form *b)
{
	return a->holds != b->holds ? a->holds > b->holds : a->kind < b->kind;
}

static bool form_offer(const struct fit *f, struct forms *found, struct form form, const struct point *p, size_t n)
{
	size_t i;
	for (i = 0; i < found->count; i++) {
		const struct form *other = &found->best[i];
		if (other->kind == form.kind && other->a == form.a && other->b == form.b && other->c == form.c &&
		    other->w == form.w)
			return false;
	}
	if (!budget_step(n))
		return false;
	for (i = 0; i < n; i++)
		form.holds += form_holds(f, &form, &p[i]);
	if (form.holds <= fits_any(form.kind) && form.holds < n)
		return false;
	for (i = found->count; i > 0 && form_is_better(&form, &found->best[i - 1]); i--)
		if (i < FORMS_TRY)
			found->best[i] = found->best[i - 1];
	if (i < FORMS_TRY)
		found->best[i] = form;
	found->count += found->count < FORMS_TRY;
	return found->best[0].holds == n;
}

/* The point with this x; NULL: there is none. Points are in order. */
static const struct point *point_at(const struct point *p, size_t n, int64_t x)
{
	size_t low = 0, high = n;
	uint64_t guess = (uint64_t)x - (uint64_t)p[0].x; /* if none is missing */
	if (guess < n && p[guess].x == x)
		return &p[guess];
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (p[middle].x < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && p[low].x == x ? &p[low] : NULL;
}

/* What a grid of rows of w suggests at one point. */
static bool offer_grid(const struct fit *f, struct forms *found, int64_t w, const struct point *at,
                       const struct point *p, size_t n)
{
	const struct point *right = point_at(p, n, at->x + 1), *below = point_at(p, n, at->x + w);
	struct form form = {.kind = FORM_GRID, .w = w};
	if (!right || !below || right->x % w == 0 || !is_number(f, right->y) || !is_number(f, below->y))
		return false;
	form.a = below->y - at->y;
	form.b = right->y - at->y;
	form.c = at->y - form.a * (at->x / w) - form.b * (at->x % w);
	if (form.a == 0 && form.b == 0)
		return false;
	return form_offer(f, found, form, p, n);
}

/* A grid of rows of w whose first place is `at`: is it a function of both places on it? */
static bool offer_torus(const struct fit *f, struct forms *found, int64_t w, const struct point *at,
                        const struct point *p, size_t n)
{
	int64_t rows = f->size / w, row = at->x / w, column = at->x % w;
	const struct point *right = point_at(p, n, row * w + (column + 1) % w);
	const struct point *below = point_at(p, n, (row + 1) % rows * w + column);
	if (!right || !below || !is_number(f, at->y) || !is_number(f, right->y) || !is_number(f, below->y))
		return false;
	struct form form = {.kind = FORM_TORUS,
	                    .a = below->y - at->y,
	                    .b = right->y - at->y,
	                    .c = at->y,
	                    .w = w,
	                    .down = (rows - row) % rows,
	                    .right = (w - column) % w,
	                    .rows = rows};
	size_t i = 0;
	while (i < n && form_holds(f, &form, &p[i]))
		i++;
	if (!budget_step(i + 1) || i < n)
		return false;
	found->count = 0;
	return form_offer(f, found, form, p, n);
}

/* Only where it holds for all points, and they are enough that this is no accident. */
static bool find_torus(const struct fit *f, struct forms *found, const struct point *p, size_t n)
{
	int64_t w[DIVISORS];
	size_t divisors = torus_divisors(f->size, w, DIVISORS);
	if (n < TORUS_LEAST || n > TORUS_MOST)
		return false;
	for (size_t d = 0; d + 1 < divisors && budget_step(n); d++)
		for (size_t i = 0; i < n; i++)
			if (offer_torus(f, found, w[d], &p[i], p, n))
				return true;
	return false;
}

/* The forms that hold for most points, at best for all. Returns true if the first one does. */
static bool forms_find(const struct fit *f, struct forms *found, const struct point *p, size_t n)
{
	int64_t w[DIVISORS];
	size_t divisors = torus_divisors(f->size, w, DIVISORS), step = n / SAMPLES + 1;
	found->count = 0;
	if (form_offer(f, found, (struct form){.kind = FORM_CONSTANT, .a = p[0].y}, p, n))
		return true;
	/* What sides of grids are tried at each sample: most suggest nothing. */
	if (!budget_step(2 * (n < SAMPLES ? n : SAMPLES) * divisors))
		return false;
	for (size_t i = 0; i < n; i += step)
		if (is_number(f, p[i].y) &&
		    form_offer(f, found, (struct form){.kind = FORM_SHIFT, .a = p[i].y - p[i].x}, p, n))
			return true;
	for (size_t i = 0; i < n; i += step)
		if (is_number(f, p[i].y) &&
		    form_offer(f, found, (struct form){.kind = FORM_MIRROR, .a = p[i].x + p[i].y}, p, n))
			return true;
	for (size_t i = 0; i < n; i += step)
		if (is_number(f, p[i].y) && p[i].y >= 0 &&
		    form_offer(f, found, (struct form){.kind = FORM_XOR, .a = p[i].x ^ p[i].y}, p, n))
			return true;
	for (size_t i = 0; i < n; i += step) {
		int64_t x = p[i].x, y = p[i].y;
		for (size_t d = divisors; is_number(f, y) && d-- > 0;)
			if (y >= 0 && y / w[d] == x / w[d] &&
			    form_offer(f, found,
			               (struct form){.kind = FORM_WRAP, .w = w[d], .a = ((y - x) % w[d] + w[d]) % w[d]},
			               p, n))
				return true;
	}
	for (size_t i = 0; i < n; i += step) {
		int64_t x = p[i].x, y = p[i].y;
		if (form_offer(f, found, (struct form){.kind = FORM_CONSTANT, .a = y}, p, n))
			return true;
		if (!is_number(f, y))
			continue;
		if (i + 1 < n && is_number(f, p[i + 1].y) && (p[i + 1].y - y) % (p[i + 1].x - x) == 0) {
			int64_t a = (p[i + 1].y - y) / (p[i + 1].x - x);
			if (form_offer(f, found, (struct form){.kind = FORM_LINEAR, .a = a, .b = y - a * x}, p, n))
				return true;
		}
		for (size_t d = 0; d < divisors; d++)
			if (offer_grid(f, found, w[d], &p[i], p, n))
				return true;
	}
	return find_torus(f, found, p, n);
}

/* ---- conditions ---- */

static int64_t condition_key(const struct fit_condition *c, int64_t x)
{
	return c->h ? x / c->w % c->h : x / c->w;
}

/* Is there one of this form that is true of those for which a form does not hold, and of no others? */
static bool condition_try(struct fit_condition *c, const bool *holds, const struct point *p, size_t n)
{
	int64_t low[2] = {INT64_MAX, INT64_MAX}, high[2] = {INT64_MIN, INT64_MIN};
	/* Those for which it does not hold (0), or holds (1), are between low and high, and no others. */
	bool apart[2] = {true, true};
	size_t i;
	for (i = 0; i < n && (apart[0] || apart[1]); i++) {
		int64_t key = condition_key(c, p[i].x);
		bool in = holds[i];
		low[in] = key < low[in] ? key : low[in];
		high[in] = key > high[in] ? key : high[in];
		apart[!in] &= key < low[!in] || key > high[!in];
	}
	if (!budget_step(i))
		return false;
	for (int in = 0; in < 2; in++) { /* those in question, or all but those */
		for (i = 0; i < n && apart[in]; i++) {
			int64_t key = condition_key(c, p[i].x);
			apart[in] = holds[i] == in || key < low[in] || key > high[in];
		}
		if (!budget_step(i) || !apart[in])
			continue;
		c->from = low[in];
		c->to = high[in];
		c->inverted = in == 1;
		c->open_from = low[in] < low[!in];
		c->open_to = high[in] > high[!in];
		return true;
	}
	return false;
}

/* holds: has a form for all points whether it holds for them. */
static bool condition_find(const struct fit *f, struct fit_condition *c, const bool *holds, const struct point *p,
                           size_t n)
{
	int64_t w[DIVISORS + 1];
	size_t count = torus_divisors(f->size, w + 1, DIVISORS) + 1;
	w[0] = 1;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			*c = (struct fit_condition){.w = w[i], .h = k ? w[k] : 0};
			if (condition_try(c, holds, p, n))
				return true;
		}
	return false;
}

static const struct tree_node *compared(const struct fit *f, enum node_form operation, const struct tree_node *key,
                                        int64_t with)
{
	return node_2(f->tree, operation, key, node_number(f->tree, with));
}

static const struct tree_node *condition_make(const struct fit *f, const struct fit_condition *c)
{
	const struct tree_node *key = f->x;
	if (c->w > 1)
		key = compared(f, NODE_OVER, key, c->w);
	if (c->h)
		key = compared(f, NODE_MODULO, key, c->h);
	if (c->from == c->to)
		return compared(f, c->inverted ? NODE_UNEQUAL : NODE_EQUAL, key, c->from);
	if (c->open_from)
		return compared(f, c->inverted ? NODE_GREATER : NODE_LESS_EQUAL, key, c->to);
	if (c->open_to)
		return compared(f, c->inverted ? NODE_LESS : NODE_GREATER_EQUAL, key, c->from);
	return node_1(f->tree, NODE_IN_BRACKETS,
	              node_2(f->tree, c->inverted ? NODE_EITHER : NODE_BOTH,
	                     compared(f, c->inverted ? NODE_LESS : NODE_GREATER_EQUAL, key, c->from),
	                     compared(f, c->inverted ? NODE_GREATER : NODE_LESS_EQUAL, key, c->to)));
}

/* ---- tables ---- */

static const struct tree_node *table_make(struct fit *f, const struct point *p, size_t n)
{
	int64_t first = p[0].x, next = first;
	struct definition *table = definition_table(f->tables, f->tree, "table", (*f->table_count)++);
	for (size_t i = 0; i < n; i++) {
		for (; next < p[i].x && budget_step(1); next++)
			definition_value(f->tree, table, 0, NULL);
		const struct tree_node *leaf = form_leaf(f, p[i].y);
		definition_value(f->tree, table, leaf->number, leaf->form == NODE_NUMBER ? NULL : leaf);
		next++;
	}
	return node_2(f->tree, NODE_AT, node_use(f->tree, table), node_sum(f->tree, f->x, -first));
}

/* What is no number: all of them, one after the other. */
static const struct tree_node *choices_make(struct fit *f, const struct point *p, size_t n)
{
	const struct tree_node *all = form_leaf(f, p[n - 1].y);
	for (size_t i = n - 1; i-- > 0;)
		all = node_choice(f->tree, compared(f, NODE_EQUAL, f->x, p[i].x), form_leaf(f, p[i].y), all);
	return all;
}

static int compare_points(const void *a, const void *b)
{
	const struct point *p = a, *q = b;
	return (p->x > q->x) - (p->x < q->x);
}

bool fit_is_function(struct point *points, size_t n)
{
	if (!budget_step(n))
		return false;
	qsort(points, n, sizeof *points, compare_points);
	for (size_t i = 1; i < n; i++)
		if (points[i].x == points[i - 1].x && points[i].y != points[i - 1].y)
			return false;
	return true;
}

/* What is compared, and with what. */
static size_t condition_numbers(const struct fit_condition *c)
{
	return c->from == c->to || c->open_from || c->open_to ? 2 : 3;
}

/* Points are sorted, each once. Counts the numbers of the rule. Returns NULL if there is no form. */
static const struct tree_node *fit_part(struct fit *f, const struct point *p, size_t n, int depth, size_t *numbers,
                                        int *level);

/* A form for those points for which it holds, and something else for the others. */
static const struct tree_node *fit_split(struct fit *f, const struct form *form, const struct point *p, size_t n,
                                         int depth, size_t *numbers, bool *holds, struct point *rest)
{
	struct fit_condition c;
	size_t count = 0, own = *numbers;
	int level;
	for (size_t k = 0; k < n; k++)
		holds[k] = form_holds(f, form, &p[k]);
	if (!budget_step(2 * n) || !condition_find(f, &c, holds, p, n))
		return NULL;
	for (size_t k = 0; k < n; k++)
		if (!holds[k])
			rest[count++] = p[k];
	own += condition_numbers(&c) + form_numbers(form);
	const struct tree_node *inner = fit_part(f, rest, count, depth + 1, &own, &level);
	if (!inner)
		return NULL;
	*numbers = own;
	return node_choice(f->tree, condition_make(f, &c), inner, form_make(f, form, &level));
}

static const struct tree_node *fit_part(struct fit *f, const struct point *p, size_t n, int depth, size_t *numbers,
                                        int *level)
{
	struct forms found;
	const struct tree_node *made = NULL;
	if (forms_find(f, &found, p, n)) {
		*numbers += form_numbers(&found.best[0]);
		return form_make(f, &found.best[0], level);
	}
	/* of the forms of a rule, one holds for as many as this: here, those of most points are first */
	if (found.count == 0 || found.best[0].holds * (size_t)(SPLITS + 1 - depth) < n)
		return NULL;
	struct point *rest = depth < SPLITS ? budget_malloc(n * sizeof *rest) : NULL;
	bool *holds = rest ? budget_malloc(n * sizeof *holds) : NULL;
	for (size_t i = 0; holds && !made && i < found.count; i++)
		made = fit_split(f, &found.best[i], p, n, depth, numbers, holds, rest);
	*level = 2;
	budget_free(rest);
	budget_free(holds);
	return made;
}

/* Does a rule say no less than a table of the values? In text, a number of a rule takes about as much as two values. */
static bool is_accident(size_t numbers, size_t points)
{
	return numbers > RULE_LEAST && numbers > points / 2 + 2;
}

const struct tree_node *fit_make(struct fit *f, struct point *points, size_t n, int *level)
{
	size_t count = 0, numbers = 0;
	int own = 0;
	level = level ? level : &own;
	*level = 0;
	if (n == 0)
		return node_number(f->tree, 0);
	fit_is_function(points, n);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || points[i].x != points[count - 1].x)
			points[count++] = points[i];
	const struct tree_node *made = fit_part(f, points, count, 0, &numbers, level);
	if (made && *level > 0 && !f->plain && is_accident(numbers, count))
		made = NULL;
	if (made)
		return *level > 0 ? node_1(f->tree, NODE_IN_BRACKETS, made) : made;
	*level = f->plain ? 2 : 1;
	if (f->plain && f->strict)
		return NULL;
	return f->plain ? node_1(f->tree, NODE_IN_BRACKETS, choices_make(f, points, count))
	                : table_make(f, points, count);
}
