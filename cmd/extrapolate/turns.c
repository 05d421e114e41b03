/* SPDX-License-Identifier: BSD-3-Clause
 * turns - the loops of a program, and what the ranks of all sizes did at each place of it
 */
#include "cmd/extrapolate/turns.h"

#include <string.h>

#include "proxy/common_nest.h"
#include "proxy/steps.h"
#include "trace/base/budget.h"

static int no_memory(struct error *error)
{
	return error_set(error, "no memory");
}

/* ---- the nest ---- */

static int log_steps(struct turns *t, const struct rank_log *l, struct steps *steps, uint32_t *sites)
{
	uint32_t last = 0;
	for (uint32_t i = 0; i < l->count; i++) {
		if (t->local[l->site[i]] == 0) {
			t->site_of[*sites] = l->site[i];
			t->local[l->site[i]] = (*sites)++;
		}
		if (!budget_step(1) || steps_add(steps, last, t->local[l->site[i]], 1) != 0)
			return -1;
		last = t->local[l->site[i]];
	}
	return 0;
}

static bool is_plainer(const struct loop_nest *a, const struct loop_nest *b)
{
	uint32_t x = common_nest_unordered(a), y = common_nest_unordered(b);
	return x != y ? x < y : a->count < b->count;
}

/* As proxy/structure.c has it, of all sizes. */
static int choose_nest(struct turns *t, uint32_t sites, const struct steps *all, const struct step_kinds *kinds)
{
	struct loop_nest common;
	if (loop_nest_make(&t->nest, sites, all->each, all->count) != 0)
		return -1;
	if (kinds->count < 2)
		return 0;
	int rv = common_nest_make(&common, sites, kinds);
	if (rv != 0 || !is_plainer(&common, &t->nest)) {
		loop_nest_free(&common);
		return rv < 0 ? -1 : 0;
	}
	loop_nest_free(&t->nest);
	t->nest = common;
	return 0;
}

static int make_nest(struct turns *t)
{
	struct steps all = {.count = 0};
	struct step_kinds kinds = {.count = 0};
	uint32_t sites = 1;
	int rv = 0;
	for (uint32_t i = 0; i < t->source->logs && rv == 0; i++) {
		struct steps rank = {.count = 0};
		rv = log_steps(t, &t->source->events[i], &rank, &sites);
		if (rv == 0)
			rv = steps_add_all(&all, &rank);
		if (step_kinds_add(&kinds, &rank) != 0)
			rv = -1;
	}
	steps_sort(&all);
	if (rv == 0)
		rv = choose_nest(t, sites, &all, &kinds);
	steps_free(&all);
	step_kinds_free(&kinds);
	return rv;
}

/* ---- places ---- */

static uint64_t mix(uint64_t x, uint64_t y)
{
	x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) + y + 1;
	x = (x ^ (x >> 32)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

bool turns_enter(const struct turns *t, struct turns_at *at, uint32_t node, uint32_t turn)
{
	if (t->fixed[node]) {
		if (turn > 0)
			at->fixed = mix(mix(at->fixed, node), turn);
		return true;
	}
	at->fixed = mix(at->fixed, node);
	if (at->vars == POINT_VARS)
		return false;
	at->var[at->vars++] = (int32_t)turn;
	return true;
}

static uint64_t slot_key(enum slot_kind kind, uint32_t node, const struct turns_at *at)
{
	return mix(mix(at->fixed, kind), node);
}

struct slot_looked {
	const struct turns *turns;
	uint64_t key;
};

static bool is_slot(const void *context, uint32_t item)
{
	const struct slot_looked *l = context;
	return l->turns->slots[item].key == l->key;
}

struct slot *turns_slot(const struct turns *t, enum slot_kind kind, uint32_t node, const struct turns_at *at)
{
	struct slot_looked looked = {t, slot_key(kind, node, at)};
	uint32_t i = index_find(&t->index, looked.key, is_slot, &looked);
	return i == INDEX_NONE ? NULL : &t->slots[i];
}

static int add_point(struct turns *t, enum slot_kind kind, uint32_t node, const struct turns_at *at,
                     const struct point *rank, int64_t value)
{
	struct slot *s = turns_slot(t, kind, node, at);
	if (!s) {
		if (!budget_grow(&t->slots, t->slot_count, &t->slot_room, sizeof *t->slots))
			return -1;
		s = &t->slots[t->slot_count];
		*s = (struct slot){.kind = kind, .node = node, .key = slot_key(kind, node, at)};
		if (index_add(&t->index, s->key, t->slot_count) != 0)
			return -1;
		t->slot_count++;
	}
	if (!budget_grow(&s->points, s->count, &s->point_room, sizeof *s->points) ||
	    !budget_grow(&s->values, s->count, &s->value_room, sizeof *s->values))
		return -1;
	struct point *p = &s->points[s->count];
	*p = (struct point){.world = rank->world, .rank = rank->rank, .vars = at->vars};
	memcpy(p->var, at->var, sizeof p->var);
	s->values[s->count++] = value;
	return 0;
}

/* ---- the walk through the turns of a rank ---- */

struct passing {
	struct turns *t;
	const struct rank_log *log;
	struct point rank;
	uint32_t at;    /* the next event */
	uint32_t *most; /* of each node, the most times; NULL: slots are filled */
	int failed;     /* -1: no memory; 1: too many loops */
};

static bool is_inside(const struct loop_nest *nest, uint32_t node, uint32_t site)
{
	uint32_t n = site;
	while (nest->nodes[n].depth > nest->nodes[node].depth)
		n = nest->nodes[n].parent;
	return n == node;
}

static bool comes(const struct passing *x, uint32_t node)
{
	if (x->failed || x->at == x->log->count)
		return false;
	uint32_t site = x->t->local[x->log->site[x->at]];
	return node < x->t->nest.sites ? site == node : is_inside(&x->t->nest, node, site);
}

static void note(struct passing *x, enum slot_kind kind, uint32_t node, const struct turns_at *at, int64_t value)
{
	if (!x->most && !x->failed)
		x->failed = add_point(x->t, kind, node, at, &x->rank, value);
}

static void pass_turn(struct passing *x, uint32_t node, const struct turns_at *at);

static void pass_child(struct passing *x, uint32_t node, const struct turns_at *at)
{
	uint32_t times = 0;
	for (; comes(x, node); times++) {
		struct turns_at in = *at;
		if (!x->most && !turns_enter(x->t, &in, node, times))
			x->failed = 1;
		if (node < x->t->nest.sites)
			note(x, SLOT_VISIT, node, &in, (int64_t)x->log->at[x->at++]);
		else
			pass_turn(x, node, &in);
	}
	if (x->most && times > x->most[node])
		x->most[node] = times;
	note(x, SLOT_TIMES, node, at, times);
}

static void pass_turn(struct passing *x, uint32_t node, const struct turns_at *at)
{
	const struct nest_node *nodes = x->t->nest.nodes;
	if (nodes[node].any_order) {
		uint32_t site = x->t->local[x->log->site[x->at]];
		note(x, SLOT_CHOICE, node, at, nodes[site].place);
		pass_child(x, site, at);
		return;
	}
	uint32_t before = x->at;
	for (uint32_t c = nodes[node].first; c != NEST_NONE; c = nodes[c].next)
		pass_child(x, c, at);
	if (x->at == before && node != x->t->nest.sites)
		x->failed = 2; /* it cannot be: a turn has an event */
}

static int pass_ranks(struct turns *t, uint32_t world, uint32_t *most)
{
	const struct event_source *s = t->source;
	uint32_t first = s->first[world], count = s->worlds[world].size;
	for (uint32_t r = 0; r < count; r++) {
		struct passing x = {
			.t = t, .log = &s->events[first + r], .rank = {.world = world, .rank = r}, .most = most};
		const struct turns_at begin = {.fixed = 0};
		pass_turn(&x, t->nest.sites, &begin);
		if (x.failed)
			return x.failed;
		if (x.at < x.log->count)
			return 2;
	}
	return 0;
}

/* ---- which loops are fixed ---- */

static int find_fixed(struct turns *t)
{
	uint32_t n = t->nest.count, *most = budget_calloc(n, sizeof *most), *usual = budget_calloc(n, sizeof *usual);
	t->fixed = budget_calloc(n, sizeof *t->fixed);
	int rv = most && usual && t->fixed ? 0 : -1;
	for (uint32_t i = 0; i < n && rv == 0; i++)
		t->fixed[i] = true;
	for (uint32_t w = 0; w < t->source->count && rv == 0; w++) {
		memset(most, 0, n * sizeof *most);
		rv = pass_ranks(t, w, most);
		for (uint32_t i = 0; i < n && rv == 0; i++) {
			t->fixed[i] &= most[i] == 0 || usual[i] == 0 || most[i] == usual[i];
			usual[i] = most[i] ? most[i] : usual[i];
		}
	}
	budget_free(most);
	budget_free(usual);
	return rv;
}

static int add_rows(struct turns *t)
{
	const struct event_source *s = t->source;
	for (uint32_t w = 0; w < s->count; w++)
		for (uint32_t r = 0; r < s->worlds[w].size; r++) {
			const struct rank_log *l = &s->rows[s->first[w] + r];
			const struct point rank = {.world = w, .rank = r};
			uint32_t row = 0;
			for (uint32_t i = 0; i < l->count; i++) {
				row = i && l->site[i] == l->site[i - 1] ? row + 1 : 0;
				struct turns_at at = {.fixed = row};
				if (add_point(t, SLOT_ROW, l->site[i], &at, &rank, (int64_t)l->at[i]) != 0)
					return -1;
			}
		}
	return 0;
}

static void empty_slots(struct turns *t)
{
	for (uint32_t i = 0; i < t->slot_count; i++) {
		budget_free(t->slots[i].points);
		budget_free(t->slots[i].values);
	}
	t->slot_count = 0;
	index_free(&t->index);
	t->index = (struct index){0};
}

static int failure(int rv, struct error *error)
{
	return rv == 0   ? 0
	       : rv == 1 ? error_set(error, "more than %d loops inside of each other depend on the number of ranks",
	                             POINT_VARS)
	       : rv == 2 ? error_set(error, "the ranks' loops have nothing in common")
	                 : no_memory(error);
}

int turns_fill(struct turns *t, struct error *error)
{
	int rv = 0;
	empty_slots(t);
	for (uint32_t w = 0; w < t->source->count && rv == 0; w++)
		rv = pass_ranks(t, w, NULL);
	return failure(rv == 0 ? add_rows(t) : rv, error);
}

int turns_make(struct turns *t, const struct event_source *source, struct error *error)
{
	*t = (struct turns){.source = source};
	t->local = budget_calloc(source->model.site_count + UINT64_C(1), sizeof *t->local);
	t->site_of = budget_calloc(source->model.site_count + UINT64_C(2), sizeof *t->site_of);
	if (!t->local || !t->site_of || make_nest(t) != 0)
		return no_memory(error);
	int rv = find_fixed(t);
	return rv == 0 ? turns_fill(t, error) : failure(rv, error);
}

void turns_free(struct turns *t)
{
	empty_slots(t);
	budget_free(t->slots);
	budget_free(t->local);
	budget_free(t->site_of);
	budget_free(t->fixed);
	loop_nest_free(&t->nest);
}
