/* SPDX-License-Identifier: BSD-3-Clause
 * term - what rules are made of: numbers that are known of each point
 */
#ifndef SPOOR_EXTRAPOLATE_TERM_H
#define SPOOR_EXTRAPOLATE_TERM_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/extrapolate/point.h"

enum term_kind {
	/* of the size */
	TERM_ONE,
	TERM_SIZE,
	TERM_EXTENT,  /* of dimension a */
	TERM_ACROSS,  /* ranks that have the same coordinate a */
	TERM_HALF,    /* of the extent, rounded up */
	TERM_LOG,     /* of the extent, base 2 */
	TERM_LOG_ALL, /* of the size */
	/* of the rank */
	TERM_RANK,
	TERM_AT, /* coordinate a */
	/* of the turn a of a loop */
	TERM_TURN,
	TERM_POWER,  /* 2^turn */
	TERM_HALVES, /* the extent of dimension b, halved turn + 1 times */
	/* (form[0] * x + form[1] * y + form[2] * turn 0 + form[3]) modulo the extent of dimension a */
	TERM_ROUND,
};

struct term {
	uint8_t kind, a, b;
	int8_t form[4];
};

/* False: a logarithm that is no whole number. */
static inline bool term_is_known(const struct term *t, const struct world *w, const struct grid *g)
{
	int64_t of = t->kind == TERM_LOG ? g->extent[t->a] : t->kind == TERM_LOG_ALL ? w->size : 1;
	return (of & (of - 1)) == 0;
}

/* The terms of kind TERM_ROUND that are tried, with factors and constants near 0. False: number n is none, or the same
 * as another one where there are no turns. */
#define TERM_ROUNDS (3 * 3 * 3 * 5)
bool term_round(struct term *t, int n, int vars);

static inline int64_t term_value(const struct term *t, const struct world *w, const struct grid *g,
                                 const struct point *p)
{
	int64_t sum;
	switch ((enum term_kind)t->kind) {
	case TERM_ONE:
		return 1;
	case TERM_SIZE:
		return w->size;
	case TERM_EXTENT:
		return g->extent[t->a];
	case TERM_ACROSS:
		return w->size / g->extent[t->a];
	case TERM_HALF:
		return (g->extent[t->a] + 1) / 2;
	case TERM_LOG:
		return grid_log(g->extent[t->a]);
	case TERM_LOG_ALL:
		return grid_log(w->size);
	case TERM_RANK:
		return p->rank;
	case TERM_AT:
		return grid_at(g, t->a, p->rank);
	case TERM_TURN:
		return p->var[t->a];
	case TERM_POWER:
		return INT64_C(1) << (p->var[t->a] & 31);
	case TERM_HALVES:
		return g->extent[t->b] >> ((p->var[t->a] + 1) & 31);
	case TERM_ROUND:
		sum = t->form[0] * grid_at(g, 0, p->rank) + t->form[2] * p->var[0] + t->form[3];
		if (g->dims > 1)
			sum += t->form[1] * grid_at(g, 1, p->rank);
		sum %= g->extent[t->a];
		return sum < 0 ? sum + g->extent[t->a] : sum;
	}
	return 0;
}

/* c * f * g, of which TERMS_MOST are added up; c in units of 1 / TERM_PARTS. */
#define TERMS_MOST 4
#define TERM_PARTS 12
struct sum {
	int terms;
	struct term f[TERMS_MOST], g[TERMS_MOST];
	int64_t c[TERMS_MOST];
};

/* False: it is no whole number, or too large. */
static inline bool sum_value(const struct sum *s, const struct world *w, const struct grid *g, const struct point *p,
                             int64_t *value)
{
	int64_t all = 0, one, other;
	for (int i = 0; i < s->terms; i++)
		if (!term_is_known(&s->f[i], w, g) ||
		    __builtin_mul_overflow(term_value(&s->f[i], w, g, p), term_value(&s->g[i], w, g, p), &one) ||
		    __builtin_mul_overflow(one, s->c[i], &other) || __builtin_add_overflow(all, other, &all))
			return false;
	*value = all / TERM_PARTS;
	return all % TERM_PARTS == 0;
}

/* Points and the values that are to be explained. */
struct sample {
	const struct world *worlds;
	const struct point *points;
	const int64_t *values, *base;
	const uint32_t *which; /* of them these */
	size_t count;
	unsigned grid;
	bool absolute; /* of values relative to base */
};

static inline int64_t sample_value(const struct sample *s, size_t i)
{
	return s->values[s->which[i]] + (s->absolute ? s->base[s->which[i]] : 0);
}

/* Finds the coefficients of the terms that are there; false: none explain all values, or there are too few points. */
bool sum_solve(struct sum *sum, const struct sample *s);
/* The simplest sum of terms of the size alone; of all; turns: those of turns as well. */
bool sum_find_of_size(struct sum *sum, const struct sample *s);
bool sum_find(struct sum *sum, const struct sample *s, bool turns);
/* With two terms that go round. */
bool sum_find_round(struct sum *sum, const struct sample *s);
/* With one such, and what it is. */
bool sum_find_with(struct sum *sum, const struct sample *s, const struct term *round);

#endif
