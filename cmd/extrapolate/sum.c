/* SPDX-License-Identifier: BSD-3-Clause
 * sum - sums of terms that explain values
 *
 * Terms are tried from few and simple to many. The coefficients follow from as many points as there are terms; all
 * others must agree, and there must be one more at least that says something new.
 */
#include <math.h>
#include <string.h>

#include "cmd/extrapolate/term.h"
#include "trace/base/budget.h"

#define TERM_LIST   64
#define COEFFICIENT 1e12 /* more is no rule */

struct system {
	double row[TERMS_MOST][TERMS_MOST + 1], seen[TERMS_MOST][TERMS_MOST];
	int pivot[TERMS_MOST], rank;
};

static void system_row(const struct sum *sum, const struct sample *s, size_t i, double *row)
{
	const struct point *p = &s->points[s->which[i]];
	const struct world *w = &s->worlds[p->world];
	for (int k = 0; k < sum->terms; k++)
		row[k] = (double)term_value(&sum->f[k], w, &w->grid[s->grid], p) *
		         (double)term_value(&sum->g[k], w, &w->grid[s->grid], p);
	row[sum->terms] = (double)sample_value(s, i);
}

/* Takes a row that none of those before imply. */
static void system_add(struct system *x, int terms, const double *row)
{
	double left[TERMS_MOST + 1];
	memcpy(left, row, sizeof left);
	for (int k = 0; k < x->rank; k++) {
		double times = left[x->pivot[k]] / x->row[k][x->pivot[k]];
		for (int j = 0; j <= terms; j++)
			left[j] -= times * x->row[k][j];
	}
	int best = 0;
	for (int j = 1; j < terms; j++)
		best = fabs(left[j]) > fabs(left[best]) ? j : best;
	if (fabs(left[best]) < 1e-6)
		return;
	memcpy(x->row[x->rank], left, sizeof left);
	memcpy(x->seen[x->rank], row, (size_t)terms * sizeof *row);
	x->pivot[x->rank++] = best;
}

static bool coefficients(const struct system *x, struct sum *sum)
{
	double value[TERMS_MOST];
	for (int k = sum->terms - 1; k >= 0; k--) {
		double right = x->row[k][sum->terms];
		for (int j = k + 1; j < sum->terms; j++)
			right -= x->row[k][x->pivot[j]] * value[x->pivot[j]];
		value[x->pivot[k]] = right / x->row[k][x->pivot[k]];
	}
	for (int k = 0; k < sum->terms; k++) {
		double parts = value[k] * TERM_PARTS;
		if (!(fabs(parts) < COEFFICIENT) || fabs(parts - round(parts)) > 1e-4 || round(parts) == 0)
			return false;
		sum->c[k] = llround(parts);
		/* what depends on the place, or on a turn, does so in whole numbers */
		if (sum->f[k].kind >= TERM_RANK && sum->c[k] % TERM_PARTS)
			return false;
	}
	return true;
}

static bool is_new(const struct system *x, int terms, const double *row)
{
	for (int k = 0; k < x->rank; k++)
		if (!memcmp(x->seen[k], row, (size_t)terms * sizeof *row))
			return false;
	return true;
}

bool sum_solve(struct sum *sum, const struct sample *s)
{
	struct system x = {.rank = 0};
	double row[TERMS_MOST + 1];
	size_t i = 0;
	bool more = false;
	for (; i < s->count && x.rank < sum->terms; i++) {
		system_row(sum, s, i, row);
		system_add(&x, sum->terms, row);
	}
	if (x.rank < sum->terms || !coefficients(&x, sum))
		return false;
	for (i = 0; i < s->count; i++) {
		if (!budget_step(1))
			return false;
		const struct point *p = &s->points[s->which[i]];
		const struct world *w = &s->worlds[p->world];
		int64_t value;
		if (!sum_value(sum, w, &w->grid[s->grid], p, &value) || value != sample_value(s, i))
			return false;
		system_row(sum, s, i, row);
		more |= !more && is_new(&x, sum->terms, row);
	}
	return more;
}

static const struct term one = {.kind = TERM_ONE};

struct term_list {
	struct term each[TERM_LIST];
	int count;
};

static void list_add(struct term_list *l, enum term_kind kind, int a, int b)
{
	if (l->count < TERM_LIST)
		l->each[l->count++] = (struct term){.kind = (uint8_t)kind, .a = (uint8_t)a, .b = (uint8_t)b};
}

/* Is it an exact logarithm at all sizes? */
static bool is_log(const struct sample *s, const struct term *t)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct world *w = &s->worlds[s->points[s->which[i]].world];
		if (!term_is_known(t, w, &w->grid[s->grid]))
			return false;
	}
	return true;
}

static struct term_list terms_of_size(const struct sample *s)
{
	const struct grid *g = &s->worlds[s->points[s->which[0]].world].grid[s->grid];
	static const enum term_kind kinds[] = {TERM_EXTENT, TERM_ACROSS, TERM_HALF, TERM_LOG};
	struct term_list l = {.count = 0};
	list_add(&l, TERM_SIZE, 0, 0);
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int i = 0; i < g->dims; i++)
			list_add(&l, kinds[k], i, 0);
	list_add(&l, TERM_LOG_ALL, 0, 0);
	struct term_list known = {.count = 0};
	for (int i = 0; i < l.count; i++)
		if (is_log(s, &l.each[i]))
			known.each[known.count++] = l.each[i];
	return known;
}

static struct term_list terms_of_place(const struct sample *s, bool turns)
{
	const struct point *p = &s->points[s->which[0]];
	const struct grid *g = &s->worlds[p->world].grid[s->grid];
	struct term_list l = {.count = 0};
	list_add(&l, TERM_RANK, 0, 0);
	for (int i = 0; i < g->dims && g->dims > 1; i++)
		list_add(&l, TERM_AT, i, 0);
	for (int v = 0; turns && v < p->vars; v++) {
		list_add(&l, TERM_TURN, v, 0);
		list_add(&l, TERM_POWER, v, 0);
		for (int i = 0; i < g->dims; i++)
			list_add(&l, TERM_HALVES, v, i);
	}
	return l;
}

/* Are the terms, in this order, what the values are made of? */
static bool try_terms(struct sum *sum, const struct sample *s, int n, const struct term *const f[],
                      const struct term *const g[])
{
	sum->terms = n;
	for (int i = 0; i < n; i++) {
		sum->f[i] = *f[i];
		sum->g[i] = *g[i];
	}
	return sum_solve(sum, s);
}

static bool find_of_size(struct sum *sum, const struct sample *s, const struct term_list *sizes)
{
	for (int with = 0; with < 2; with++)
		for (int i = 0; i < sizes->count; i++)
			if (try_terms(sum, s, 1 + with, (const struct term *const[]){&sizes->each[i], &one},
			              (const struct term *const[]){&one, &one}))
				return true;
	return false;
}

/* One term of the place, times one of the size or not; with one of the size, and 1, or not. */
static bool find_of_place(struct sum *sum, const struct sample *s, const struct term_list *sizes,
                          const struct term_list *places)
{
	for (int more = 0; more < 3; more++)
		for (int i = 0; i < places->count; i++)
			for (int m = -1; m < sizes->count; m++) {
				const struct term *times = m < 0 ? &one : &sizes->each[m];
				if (m >= 0 && times->kind != TERM_EXTENT && times->kind != TERM_ACROSS)
					continue;
				if (more < 2) {
					if (try_terms(sum, s, 1 + more,
					              (const struct term *const[]){&places->each[i], &one},
					              (const struct term *const[]){times, &one}))
						return true;
					continue;
				}
				for (int k = 0; k < 2 * sizes->count; k++)
					if (try_terms(sum, s, 2 + k % 2,
					              (const struct term *const[]){&places->each[i],
					                                           &sizes->each[k / 2], &one},
					              (const struct term *const[]){times, &one, &one}))
						return true;
			}
	return false;
}

/* Two terms of the place, each times one of the size or not. */
static bool find_of_two(struct sum *sum, const struct sample *s, const struct term_list *sizes,
                        const struct term_list *places)
{
	for (int more = 0; more < 2; more++)
		for (int i = 0; i < places->count; i++)
			for (int k = 0; k < places->count; k++)
				for (int m = -1; m < sizes->count; m++) {
					const struct term *times = m < 0 ? &one : &sizes->each[m];
					if (i == k || (m >= 0 && times->kind != TERM_EXTENT))
						continue;
					if (try_terms(sum, s, 2 + more,
					              (const struct term *const[]){&places->each[i], &places->each[k],
					                                           &one},
					              (const struct term *const[]){&one, times, &one}))
						return true;
				}
	return false;
}

bool sum_find_of_size(struct sum *sum, const struct sample *s)
{
	struct term_list sizes = terms_of_size(s);
	return find_of_size(sum, s, &sizes);
}

bool sum_find(struct sum *sum, const struct sample *s, bool turns)
{
	struct term_list sizes = terms_of_size(s), places = terms_of_place(s, turns);
	return find_of_size(sum, s, &sizes) || find_of_place(sum, s, &sizes, &places) ||
	       find_of_two(sum, s, &sizes, &places);
}

bool sum_find_with(struct sum *sum, const struct sample *s, const struct term *round)
{
	struct term_list sizes = terms_of_size(s), places = {.each = {*round}, .count = 1};
	if (find_of_place(sum, s, &sizes, &places))
		return true;
	for (int i = 0; i < sizes.count; i++)
		for (int k = i + 1; k < sizes.count; k++)
			if (try_terms(sum, s, 4,
			              (const struct term *const[]){round, &sizes.each[i], &sizes.each[k], &one},
			              (const struct term *const[]){&one, &one, &one, &one}))
				return true;
	return false;
}

bool term_round(struct term *t, int n, int vars)
{
	*t = (struct term){.kind = TERM_ROUND};
	for (int i = 0; i < 3; i++, n /= 3)
		t->form[i] = (int8_t)(n % 3 == 2 ? -1 : n % 3);
	t->form[3] = (int8_t)(n % 2 ? -(n + 1) / 2 : n / 2);
	return (t->form[0] || t->form[1] || t->form[2]) && (vars > 0 || t->form[2] == 0);
}

bool sum_find_round(struct sum *sum, const struct sample *s)
{
	const struct term size = {.kind = TERM_SIZE}, extent = {.kind = TERM_EXTENT};
	int vars = s->points[s->which[0]].vars;
	for (int more = 0; more < 2; more++)
		for (int i = 0; i < TERM_ROUNDS; i++)
			for (int k = 0; k < TERM_ROUNDS; k++) {
				struct term a, b;
				if (!term_round(&a, i, vars) || !term_round(&b, k, vars) || i == k)
					continue;
				if (try_terms(sum, s, 3 + more, (const struct term *const[]){&a, &b, &one, &size},
				              (const struct term *const[]){&one, &extent, &one, &one}))
					return true;
			}
	return false;
}
