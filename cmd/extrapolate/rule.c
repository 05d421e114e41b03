/* SPDX-License-Identifier: BSD-3-Clause
 * rule - a value as a function of the number of ranks, the rank's place in a grid, and turns of loops
 *
 * Groupings are tried from plain to fine, each in every grid; the first one with which each group has a rule is taken.
 */
#include "cmd/extrapolate/rule.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/extrapolate/place.h"
#include "cmd/extrapolate/term.h"
#include "trace/base/budget.h"
#include "trace/model/value.h"

#define GROUPS 64

/* Which group a rank is in. */
struct grouping {
	enum {
		GROUP_ALL,
		GROUP_EDGES,  /* of each dimension in `mask`: is it the first, is it the last? */
		GROUP_MODULO, /* of each dimension in `mask`: modulo `of` */
		GROUP_HALVES, /* of each form: is it in the first half? */
	} kind;
	unsigned mask, of, forms;
	struct term form[2];
};

struct leaf {
	enum { LEAF_NONE, LEAF_SAME, LEAF_SUM, LEAF_SHARE, LEAF_PLACE } kind;
	bool absolute; /* minus the base */
	int64_t same;  /* of SHARE: what is divided by the term */
	union {
		struct term share;
		struct sum sum;
		struct grid_place place;
	};
};

struct value_rule {
	unsigned grid;
	struct grouping grouping;
	struct leaf leaf[GROUPS];
};

static unsigned grouping_at(const struct grouping *x, const struct world *w, const struct grid *g,
                            const struct point *p)
{
	unsigned group = 0;
	switch (x->kind) {
	case GROUP_ALL:
		break;
	case GROUP_EDGES:
		for (int i = 0; i < g->dims; i++)
			if (x->mask >> i & 1) {
				int64_t at = grid_at(g, i, p->rank);
				group = 4 * group + (at == 0) + 2 * (at == g->extent[i] - 1);
			}
		break;
	case GROUP_MODULO:
		for (int i = 0; i < g->dims; i++)
			if (x->mask >> i & 1)
				group = x->of * group + (unsigned)(grid_at(g, i, p->rank) % x->of);
		break;
	case GROUP_HALVES:
		for (unsigned i = 0; i < x->forms; i++)
			group = 2 * group + (term_value(&x->form[i], w, g, p) < (g->extent[x->form[i].a] + 1) / 2);
		break;
	}
	return group % GROUPS;
}

static bool leaf_value(const struct leaf *l, const struct world *w, const struct grid *g, const struct point *p,
                       int64_t base, int64_t *value)
{
	int64_t part;
	switch (l->kind) {
	case LEAF_NONE:
		return false;
	case LEAF_SAME:
		*value = l->same;
		return true;
	case LEAF_SUM:
		if (!sum_value(&l->sum, w, g, p, value))
			return false;
		break;
	case LEAF_SHARE:
		part = term_value(&l->share, w, g, p);
		if (part == 0 || l->same % part)
			return false;
		*value = l->same / part;
		break;
	case LEAF_PLACE:
		*value = place_value(&l->place, g, p);
		break;
	}
	if (l->absolute)
		*value -= base;
	return true;
}

bool rule_value(const struct value_rule *r, const struct world *w, const struct point *p, int64_t base, int64_t *value)
{
	const struct grid *g = &w->grid[r->grid];
	return leaf_value(&r->leaf[grouping_at(&r->grouping, w, g, p)], w, g, p, base, value);
}

bool rule_is_grouped(const struct value_rule *r)
{
	for (int k = 0; k < GROUPS; k++)
		if (r->leaf[k].kind != LEAF_NONE && r->leaf[k].kind != LEAF_SAME)
			return false;
	return true;
}

struct value_rule *rule_extent(unsigned grid, int dim)
{
	struct value_rule *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->grid = grid;
	r->leaf[0].kind = LEAF_SUM;
	r->leaf[0].sum = (struct sum){.terms = 1,
	                              .f = {{.kind = TERM_EXTENT, .a = (uint8_t)dim}},
	                              .g = {{.kind = TERM_ONE}},
	                              .c = {TERM_PARTS}};
	return r;
}

/* How hard a rule is looked for. */
enum effort { EFFORT_PLAIN, EFFORT_GROUPS, EFFORT_SIZE, EFFORT_ROUND, EFFORT_SAME };

struct fitting {
	struct sample all;
	uint32_t *which, *sorted; /* points in the order in which they are tried; by group */
	uint8_t *group;
	size_t begin[GROUPS + 1];
	enum rule_kind kind;
	unsigned first; /* grid */
	struct value_rule *rule;
};

static bool all_same(const struct sample *s, bool absolute)
{
	const int64_t first = s->values[s->which[0]] + (absolute ? s->base[s->which[0]] : 0);
	for (size_t i = 1; i < s->count; i++)
		if (s->values[s->which[i]] + (absolute ? s->base[s->which[i]] : 0) != first)
			return false;
	return true;
}

static bool any_constant(const struct sample *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (value_is_constant(s->values[s->which[i]]))
			return true;
	return false;
}

static bool find_sum(struct leaf *l, struct sample *s, enum effort effort, const struct grouping *x)
{
	if (effort == EFFORT_SIZE)
		return sum_find_of_size(&l->sum, s);
	if (effort == EFFORT_ROUND)
		return sum_find_round(&l->sum, s);
	if (x->kind == GROUP_HALVES)
		return sum_find_with(&l->sum, s, &x->form[0]);
	return sum_find(&l->sum, s, effort == EFFORT_PLAIN);
}

static bool one_world(const struct sample *s)
{
	for (size_t i = 1; i < s->count; i++)
		if (s->points[s->which[i]].world != s->points[s->which[0]].world)
			return false;
	return true;
}

/* The same whole at all sizes, shared out by the ranks, or by those of a dimension. */
static bool share_find(struct leaf *l, const struct sample *s, const struct term *t)
{
	bool sizes = false;
	for (size_t i = 0; i < s->count && budget_step(1); i++) {
		const struct point *p = &s->points[s->which[i]];
		const struct world *w = &s->worlds[p->world];
		int64_t whole;
		if (__builtin_mul_overflow(s->values[s->which[i]], term_value(t, w, &w->grid[s->grid], p), &whole) ||
		    (i > 0 && whole != l->same))
			return false;
		l->same = whole;
		sizes |= p->world != s->points[s->which[0]].world;
	}
	l->share = *t;
	return sizes;
}

static bool share_find_any(struct leaf *l, const struct sample *s)
{
	const struct grid *g = &s->worlds[s->points[s->which[0]].world].grid[s->grid];
	*l = (struct leaf){.kind = LEAF_SHARE};
	if (share_find(l, s, &(struct term){.kind = TERM_SIZE}))
		return true;
	for (int i = 0; i < g->dims; i++)
		if (share_find(l, s, &(struct term){.kind = TERM_EXTENT, .a = (uint8_t)i}) ||
		    share_find(l, s, &(struct term){.kind = TERM_ACROSS, .a = (uint8_t)i}))
			return true;
	return false;
}

/* A rule for the values of one group. */
static bool leaf_find(struct leaf *l, const struct fitting *f, struct sample *s, enum effort effort)
{
	const bool same = all_same(s, false);
	const bool number = f->kind != RULE_LABEL && effort != EFFORT_SAME && !any_constant(s);
	*l = (struct leaf){.kind = LEAF_PLACE, .absolute = true};
	/* the distance to another rank that is the same at one size may be another one at the next */
	if (number && f->kind == RULE_PEER && (!same || one_world(s)) && effort != EFFORT_ROUND &&
	    place_find(&l->place, s))
		return true;
	*l = (struct leaf){.kind = LEAF_SAME, .same = s->values[s->which[0]]};
	if (same || !number)
		return same;
	if (effort != EFFORT_ROUND && share_find_any(l, s))
		return true;
	for (int absolute = 0; absolute < 1 + (f->kind == RULE_PEER); absolute++) {
		*l = (struct leaf){.kind = LEAF_SUM, .absolute = absolute};
		s->absolute = absolute;
		if (find_sum(l, s, effort, &f->rule->grouping))
			return true;
	}
	return false;
}

static void sort_groups(struct fitting *f)
{
	size_t count[GROUPS + 1] = {0};
	budget_step(f->all.count);
	for (size_t i = 0; i < f->all.count; i++) {
		const struct point *p = &f->all.points[f->which[i]];
		const struct world *w = &f->all.worlds[p->world];
		f->group[i] = (uint8_t)grouping_at(&f->rule->grouping, w, &w->grid[f->rule->grid], p);
		count[f->group[i] + 1]++;
	}
	for (int k = 0; k < GROUPS; k++)
		count[k + 1] += count[k];
	memcpy(f->begin, count, sizeof count);
	for (size_t i = 0; i < f->all.count; i++)
		f->sorted[count[f->group[i]]++] = f->which[i];
}

/* In each group all values are the same; or where they are not, they are numbers that have one rule together. */
static bool find_together(struct fitting *f, enum effort effort)
{
	struct value_rule *r = f->rule;
	struct sample s = f->all;
	uint32_t *rest = f->sorted + f->all.count;
	size_t n = 0;
	struct leaf shared;
	bool varies[GROUPS] = {false};
	for (int k = 0; k < GROUPS; k++) {
		s.which = f->sorted + f->begin[k];
		s.count = f->begin[k + 1] - f->begin[k];
		r->leaf[k] = (struct leaf){.kind = s.count ? LEAF_SAME : LEAF_NONE};
		if (s.count == 0)
			continue;
		r->leaf[k].same = s.values[s.which[0]];
		/* numbers that are the same here may follow the others' rule */
		varies[k] = !any_constant(&s) && f->kind != RULE_LABEL;
		if (!varies[k] && !all_same(&s, false))
			return false;
	}
	for (size_t i = 0; i < f->all.count; i++)
		if (varies[f->group[i]])
			rest[n++] = f->which[i];
	if (n == 0)
		return true;
	s.which = rest;
	s.count = n;
	if (!leaf_find(&shared, f, &s, effort))
		return false;
	for (int k = 0; k < GROUPS; k++)
		if (varies[k])
			r->leaf[k] = shared;
	return true;
}

/* A term of the place, and in each group a constant more. */
static bool find_beside(struct fitting *f, const struct term *t)
{
	const unsigned grid = f->rule->grid;
	for (int k = 0; k < GROUPS; k++) {
		struct leaf *l = &f->rule->leaf[k];
		*l = (struct leaf){.kind = f->begin[k] < f->begin[k + 1] ? LEAF_SUM : LEAF_NONE};
		l->sum = (struct sum){.terms = 2, .f = {*t}, .c = {TERM_PARTS, 0}};
		for (size_t i = f->begin[k]; i < f->begin[k + 1]; i++) {
			const struct point *p = &f->all.points[f->sorted[i]];
			const struct world *w = &f->all.worlds[p->world];
			int64_t more = f->all.values[f->sorted[i]] - term_value(t, w, &w->grid[grid], p);
			if (i == f->begin[k])
				l->sum.c[1] = more * TERM_PARTS;
			if (more > (INT64_C(1) << 40) || more < -(INT64_C(1) << 40) || l->sum.c[1] != more * TERM_PARTS)
				return false;
		}
	}
	return true;
}

static bool find_beside_any(struct fitting *f)
{
	const int dims = f->all.worlds[0].grid[f->rule->grid].dims;
	for (int i = 0; i < dims; i++)
		if (find_beside(f, &(struct term){.kind = TERM_AT, .a = (uint8_t)i}))
			return true;
	return find_beside(f, &(struct term){.kind = TERM_RANK});
}

static bool all_same_in_groups(struct fitting *f)
{
	for (int k = 0; k < GROUPS; k++) {
		struct sample s = f->all;
		s.which = f->sorted + f->begin[k];
		s.count = f->begin[k + 1] - f->begin[k];
		f->rule->leaf[k] = (struct leaf){.kind = s.count ? LEAF_SAME : LEAF_NONE};
		if (s.count)
			f->rule->leaf[k].same = s.values[s.which[0]];
		if (s.count && (!all_same(&s, false) || (f->kind == RULE_PEER && !any_constant(&s) && one_world(&s))))
			return false;
	}
	return true;
}

static bool find_apart(struct fitting *f, enum effort effort)
{
	for (int k = 0; k < GROUPS; k++) {
		struct sample s = f->all;
		s.which = f->sorted + f->begin[k];
		s.count = f->begin[k + 1] - f->begin[k];
		f->rule->leaf[k].kind = LEAF_NONE;
		if (s.count > 0 && !leaf_find(&f->rule->leaf[k], f, &s, effort))
			return false;
	}
	return true;
}

/* With this grouping in this grid. */
static bool find_grouped(struct fitting *f, unsigned grid, const struct grouping *x, enum effort effort)
{
	f->rule->grid = f->all.grid = grid;
	f->rule->grouping = *x;
	sort_groups(f);
	if (x->kind != GROUP_ALL && effort != EFFORT_GROUPS)
		return find_apart(f, effort);
	if (x->kind != GROUP_ALL && all_same_in_groups(f))
		return true;
	if (find_together(f, effort))
		return true;
	if (x->kind == GROUP_ALL)
		return false;
	return (f->kind == RULE_NUMBER && !any_constant(&f->all) && find_beside_any(f)) || find_apart(f, EFFORT_SIZE);
}

/* The grids, the first one first. */
static unsigned grid_number(const struct fitting *f, unsigned i)
{
	return i == 0 ? f->first : i <= f->first ? i - 1 : i;
}

static bool find_by_dimensions(struct fitting *f, struct grouping x)
{
	for (int bits = 1; bits <= GRID_DIMS; bits++)
		for (unsigned grid = 0; grid < GRIDS; grid++)
			for (x.mask = 1; x.mask < 1U << f->all.worlds[0].grid[grid_number(f, grid)].dims; x.mask++)
				if (__builtin_popcount(x.mask) == bits &&
				    find_grouped(f, grid_number(f, grid), &x, EFFORT_GROUPS))
					return true;
	return false;
}

static bool next_form(struct term *t, int *at, int vars)
{
	while (*at < TERM_ROUNDS)
		if (term_round(t, (*at)++, vars))
			return true;
	return false;
}

/* Has each group one value? Most groupings are told by a few points not to be it. */
static bool same_in_groups(const struct fitting *f, unsigned grid, const struct grouping *x)
{
	int64_t value[GROUPS];
	bool any[GROUPS] = {false};
	for (size_t i = 0; i < f->all.count; i++) {
		const struct point *p = &f->all.points[f->which[i]];
		const struct world *w = &f->all.worlds[p->world];
		unsigned group = grouping_at(x, w, &w->grid[grid], p);
		if (!budget_step(1))
			return false;
		if (any[group] && value[group] != f->all.values[f->which[i]])
			return false;
		any[group] = true;
		value[group] = f->all.values[f->which[i]];
	}
	return true;
}

/* In each half of one form a sum with it; or of two forms the same value. */
static bool find_by_halves(struct fitting *f)
{
	int vars = f->all.points[0].vars, i = 0;
	struct grouping x = {.kind = GROUP_HALVES, .forms = 1};
	while (next_form(&x.form[0], &i, vars))
		if (find_grouped(f, 1, &x, EFFORT_PLAIN))
			return true;
	x.forms = 2;
	for (i = 0; next_form(&x.form[0], &i, vars);)
		for (int k = i; next_form(&x.form[1], &k, vars);)
			if (same_in_groups(f, 1, &x) && find_grouped(f, 1, &x, EFFORT_SAME))
				return true;
	return false;
}

static bool find_rule(struct fitting *f)
{
	const struct grouping all = {.kind = GROUP_ALL}, edges = {.kind = GROUP_EDGES};
	for (unsigned grid = 0; grid < GRIDS; grid++)
		if (find_grouped(f, grid_number(f, grid), &all, EFFORT_PLAIN))
			return true;
	if (find_by_dimensions(f, edges))
		return true;
	for (unsigned of = 2; of <= 4; of *= 2)
		if (find_by_dimensions(f, (struct grouping){.kind = GROUP_MODULO, .of = of}))
			return true;
	if (f->kind == RULE_LABEL || any_constant(&f->all))
		return false;
	return find_grouped(f, 1, &all, EFFORT_ROUND) || find_by_halves(f);
}

/* So that a few of them are of several sizes, and of different ranks. */
static void shuffle(uint32_t *which, size_t n)
{
	uint64_t state = 1;
	for (size_t i = 0; i < n; i++)
		which[i] = (uint32_t)i;
	for (size_t i = n; i > 1; i--) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		size_t k = (state >> 33) % i;
		uint32_t swap = which[i - 1];
		which[i - 1] = which[k];
		which[k] = swap;
	}
}

struct value_rule *rule_fit(const struct world *worlds, unsigned first, const struct point *points,
                            const int64_t *values, const int64_t *base, size_t n, enum rule_kind kind, bool *failed)
{
	struct fitting f = {.all = {worlds, points, values, base, NULL, n, 0, false},
	                    .kind = kind,
	                    .first = first,
	                    .rule = calloc(1, sizeof *f.rule)};
	f.which = budget_malloc(3 * (n + 1) * sizeof *f.which);
	f.group = budget_malloc(n);
	*failed = !f.rule || !f.which || !f.group;
	bool found = false;
	if (!*failed) {
		f.sorted = f.which + n;
		f.all.which = f.which;
		shuffle(f.which, n);
		found = find_rule(&f);
	}
	budget_free(f.which);
	budget_free(f.group);
	if (found)
		return f.rule;
	free(f.rule);
	return NULL;
}
