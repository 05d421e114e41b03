/* SPDX-License-Identifier: BSD-3-Clause
 * place - a rank as a place in the grid, each coordinate of which follows from those of the caller
 */
#include "cmd/extrapolate/place.h"

#include "trace/base/budget.h"

#define SHIFT_MOST 8

static int64_t coordinate_value(const struct coordinate *c, int dim, const struct grid *g, const struct point *p)
{
	int64_t at = grid_at(g, c->from, p->rank), extent = g->extent[dim];
	switch (c->kind) {
	case COORDINATE_SHIFT:
		at = (at + c->by) % extent;
		return at < 0 ? at + extent : at;
	case COORDINATE_HALVES:
		return at ^ extent >> ((p->var[c->by] + 1) & 31);
	case COORDINATE_POWERS:
		return at ^ INT64_C(1) << (p->var[c->by] & 31);
	case COORDINATE_XOR:
		return at ^ c->by;
	case COORDINATE_DOWN:
		return at / c->by * c->by;
	case COORDINATE_FIRST:
		return 0;
	case COORDINATE_LAST:
		return extent - 1;
	}
	return 0;
}

int64_t place_value(const struct grid_place *l, const struct grid *g, const struct point *p)
{
	int64_t rank = 0;
	for (int i = 0; i < g->dims; i++)
		rank += coordinate_value(&l->each[i], i, g, p) * g->stride[i];
	return rank;
}

static bool coordinate_holds(const struct coordinate *c, int dim, const struct sample *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct point *p = &s->points[s->which[i]];
		const struct grid *g = &s->worlds[p->world].grid[s->grid];
		int64_t rank = s->values[s->which[i]] + p->rank;
		if (!budget_step(1) || rank < 0 || rank >= s->worlds[p->world].size ||
		    coordinate_value(c, dim, g, p) != grid_at(g, dim, rank))
			return false;
	}
	return true;
}

static bool try_coordinate(struct coordinate *c, int dim, const struct sample *s, enum coordinate_kind kind, int from,
                           int by)
{
	*c = (struct coordinate){kind, from, by};
	return coordinate_holds(c, dim, s);
}

static bool coordinate_find(struct coordinate *c, int dim, const struct sample *s)
{
	const struct point *p = &s->points[s->which[0]];
	int dims = s->worlds[p->world].grid[s->grid].dims;
	for (int by = 0; by <= SHIFT_MOST; by++)
		if (try_coordinate(c, dim, s, COORDINATE_SHIFT, dim, by) ||
		    try_coordinate(c, dim, s, COORDINATE_SHIFT, dim, -by))
			return true;
	for (int v = 0; v < p->vars; v++)
		if (try_coordinate(c, dim, s, COORDINATE_HALVES, dim, v) ||
		    try_coordinate(c, dim, s, COORDINATE_POWERS, dim, v))
			return true;
	if (try_coordinate(c, dim, s, COORDINATE_FIRST, dim, 0) || try_coordinate(c, dim, s, COORDINATE_LAST, dim, 0))
		return true;
	for (int from = 0; from < dims; from++)
		if (from != dim && try_coordinate(c, dim, s, COORDINATE_SHIFT, from, 0))
			return true;
	for (int by = 1; by <= SHIFT_MOST; by *= 2)
		if (try_coordinate(c, dim, s, COORDINATE_XOR, dim, by) ||
		    try_coordinate(c, dim, s, COORDINATE_DOWN, dim, 2 * by))
			return true;
	return false;
}

bool place_find(struct grid_place *l, const struct sample *s)
{
	const struct grid *g = &s->worlds[s->points[s->which[0]].world].grid[s->grid];
	for (size_t i = 0; i < s->count; i++)
		if (s->base[s->which[i]] != s->points[s->which[i]].rank)
			return false;
	for (int i = 0; i < g->dims; i++)
		if (!coordinate_find(&l->each[i], i, s))
			return false;
	return true;
}
