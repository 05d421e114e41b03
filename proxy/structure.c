/* SPDX-License-Identifier: BSD-3-Clause
 * structure - what a proxy is made of
 *
 * Each rank is walked twice: for the edges between sites, from which the nest follows, and for the columns
 * (structure_columns.c).
 */
#include "proxy/structure.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/chains.h"
#include "proxy/common_nest.h"
#include "proxy/recipe.h"
#include "proxy/steps.h"
#include "trace/base/budget.h"
#include "trace/read/walk.h"

/* Visits that are compared to see whether they are the same again and again. */
#define VISITS_LOOKED 1000

static bool is_left_out(struct structure *s, uint32_t rank, uint64_t number)
{
	const struct taken_events *x = &s->taken;
	if (number == 0)
		s->left_out = 0;
	while (s->left_out < x->left_out_count &&
	       (x->left_out[s->left_out].rank < rank ||
	        (x->left_out[s->left_out].rank == rank && x->left_out[s->left_out].end <= number)))
		s->left_out++;
	return s->left_out < x->left_out_count && x->left_out[s->left_out].rank == rank &&
	       x->left_out[s->left_out].first <= number;
}

int structure_event(struct structure *s, struct walk *w, uint32_t rank, struct event *e, struct error *error)
{
	int step;
	while ((step = walk_next(w, e, error)) == 0 && is_left_out(s, rank, e->number))
		;
	return step == 0 && s->taken.ends && e->number >= s->taken.ends[rank] ? 1 : step;
}

bool structure_leaps(const struct structure *s)
{
	return !s->taken.ends && s->taken.left_out_count == 0;
}

/* ---- the first walk: edges ---- */

/* To leave turns out takes as long as to walk an event of so many steps there are. */
#define STEPS_PAY 64

/* Where the walk was at its last mark (walk_repeats). */
struct edge_mark {
	uint64_t *times; /* of each step */
	uint32_t count, capacity;
	uint64_t event; /* so many were walked */
	uint32_t last;
	bool polled; /* since then a poll found nothing: of these each is kept */
};

/* The first walk of a rank. */
struct edge_walk {
	struct steps *steps;
	uint32_t *sites;
	uint32_t last;                   /* site of the nest */
	uint64_t vain_first, vain_count; /* the last events, which are polls that found nothing */
	struct detour_walk detour;
	struct edge_mark mark;
};

static int edges_mark(struct edge_walk *x, uint64_t event)
{
	struct edge_mark *m = &x->mark;
	m->count = 0;
	for (uint32_t i = 0; i < x->steps->count; i++) {
		if (!budget_grow(&m->times, m->count, &m->capacity, sizeof *m->times))
			return -1;
		m->times[m->count++] = x->steps->each[i].count;
	}
	m->last = x->last;
	m->event = event;
	m->polled = false;
	return 0;
}

/* So many turns more of what came since the mark. */
static void edges_leap(struct edge_walk *x, uint64_t turns)
{
	for (uint32_t i = 0; i < x->steps->count; i++)
		x->steps->each[i].count +=
			turns * (x->steps->each[i].count - (i < x->mark.count ? x->mark.times[i] : 0));
}

/* After each event. Returns 0, or -1 on no memory. */
static int edges_repeat(const struct structure *s, struct edge_walk *x, struct walk *w, uint64_t event)
{
	bool marked;
	uint64_t turns = structure_leaps(s) ? walk_repeats(w, &marked) : (marked = false, 0);
	bool pays = turns * (event - x->mark.event) > x->steps->count / STEPS_PAY;
	if (turns > 0 && pays && x->last == x->mark.last && !x->mark.polled) {
		edges_leap(x, turns);
		walk_leap(w, turns);
		event += turns * (event - x->mark.event);
		marked = true;
	}
	return marked ? edges_mark(x, event) : 0;
}

static int edges_visit(struct structure *s, struct edge_walk *x, uint32_t site)
{
	uint32_t last = x->last;
	if (s->local[site] == 0) {
		s->local[site] = *x->sites;
		s->sites[(*x->sites)++].site = site;
	}
	x->last = s->local[site];
	return steps_add(x->steps, last, x->last, 1);
}

static int edges_end_polls(struct structure *s, struct edge_walk *x, uint32_t rank)
{
	if (x->vain_count == 0)
		return 0;
	if (!budget_grow(&s->polls, s->polls_count, &s->polls_capacity, sizeof *s->polls))
		return -1;
	s->polls[s->polls_count++] = (struct event_range){rank, x->vain_first, x->vain_first + x->vain_count};
	x->vain_count = 0;
	return 0;
}

static int edges_step(struct structure *s, struct edge_walk *x, uint32_t rank, const struct event *e)
{
	const struct recipe *recipe = recipe_of(e->schema);
	if (event_is_vain(e) && recipe && recipe_polls(recipe)) {
		x->mark.polled = true;
		if (x->vain_count && x->vain_first + x->vain_count != e->number && edges_end_polls(s, x, rank) != 0)
			return -1;
		if (x->vain_count++ == 0)
			x->vain_first = e->number;
		detours_poll(s->trace, &x->detour, e->site);
		return 0;
	}
	if (edges_end_polls(s, x, rank) != 0 || detours_call(&s->detours, s->trace, &x->detour, e->site) != 0)
		return -1;
	return edges_visit(s, x, e->site);
}

static int walk_edges(struct structure *s, uint32_t rank, struct steps *steps, uint32_t *sites, struct error *error)
{
	struct edge_walk x = {.steps = steps, .sites = sites, .detour = {.from = SITE_NONE, .poll = SITE_NONE}};
	struct walk *w = NULL;
	struct event e;
	int step;
	if (walk_begin(&w, s->trace, rank, error) != 0)
		return -1;
	while ((step = structure_event(s, w, rank, &e, error)) == 0)
		if (edges_step(s, &x, rank, &e) != 0 || edges_repeat(s, &x, w, e.number) != 0)
			break;
	if (step == 0 || (step > 0 && edges_end_polls(s, &x, rank) != 0))
		step = error_set(error, "no memory");
	walk_end(w);
	budget_free(x.mark.times);
	return step < 0 ? -1 : 0;
}

/* Has a nest more order, or as much in fewer loops? */
static bool is_plainer(const struct loop_nest *a, const struct loop_nest *b)
{
	uint32_t x = common_nest_unordered(a), y = common_nest_unordered(b);
	return x != y ? x < y : a->count < b->count;
}

/* The nest of all ranks together; or what those of each kind have in common, where that is plainer. */
static int choose_nest(struct structure *s, uint32_t sites, const struct steps *all, const struct step_kinds *kinds)
{
	struct loop_nest common;
	if (loop_nest_make(&s->nest, sites, all->each, all->count) != 0)
		return -1;
	if (kinds->count < 2)
		return 0;
	int rv = common_nest_make(&common, sites, kinds);
	if (rv != 0 || !is_plainer(&common, &s->nest)) {
		loop_nest_free(&common);
		return rv < 0 ? -1 : 0;
	}
	loop_nest_free(&s->nest);
	s->nest = common;
	return 0;
}

static int make_nest(struct structure *s, struct error *error)
{
	struct steps all = {.count = 0};
	struct step_kinds kinds = {.count = 0};
	uint32_t sites = 1;
	int rv = 0;
	s->sites = budget_calloc(s->trace->site_count + UINT64_C(1), sizeof *s->sites);
	s->local = budget_calloc(s->trace->site_count + UINT64_C(1), sizeof *s->local);
	if (!s->sites || !s->local)
		return error_set(error, "no memory");
	for (uint32_t r = 0; r < s->ranks && rv == 0; r++) {
		struct steps rank = {.count = 0};
		rv = walk_edges(s, r, &rank, &sites, error);
		if (rv == 0 && steps_add_all(&all, &rank) != 0)
			rv = error_set(error, "no memory");
		if (step_kinds_add(&kinds, &rank) != 0)
			rv = error_set(error, "no memory");
	}
	steps_sort(&all);
	if (rv == 0 && choose_nest(s, sites, &all, &kinds) != 0)
		rv = error_set(error, "no memory");
	s->edges = all.each;
	s->edge_count = all.count;
	step_kinds_free(&kinds);
	return rv;
}

int structure_loops(struct structure *s, const struct trace *t, const struct taken_events *taken, struct error *error)
{
	*s = (struct structure){.trace = t, .ranks = t->size, .taken = *taken};
	return make_nest(s, error);
}

int structure_make(struct structure *s, const struct trace *t, const struct taken_events *taken, struct error *error)
{
	if (structure_loops(s, t, taken, error) != 0)
		return -1;
	if (chains_make(&s->nest, s->edges, s->edge_count) != 0)
		return error_set(error, "no memory");
	return structure_columns(s, error);
}

void structure_free(struct structure *s)
{
	for (uint32_t i = 0; s->sites && i < s->nest.sites; i++)
		budget_free(s->sites[i].base);
	for (uint32_t c = 0; s->columns && c < s->column_count; c++)
		budget_free(s->columns[c].of_rank);
	budget_free(s->sites);
	budget_free(s->polls);
	detours_free(&s->detours);
	budget_free(s->edges);
	budget_free(s->local);
	budget_free(s->columns);
	budget_free(s->times);
	budget_free(s->choice);
	pool_free(&s->runs);
	pool_free(&s->vectors);
	loop_nest_free(&s->nest);
}

bool structure_is_periodic(const struct structure *s, uint32_t column, uint64_t turns, const struct rankmap *visits)
{
	for (uint32_t rank = 0; rank < s->ranks; rank++) {
		const struct runs *r = structure_runs(s, column, rank);
		int64_t n = INT64_MAX;
		if (!r || runs_are_periodic(r, turns))
			continue;
		if (!visits || !rankmap_get(visits, rank, &n) || n > VISITS_LOOKED || !budget_step((uint64_t)n))
			return false;
		struct runs_walk walk = {.runs = r}, before = walk;
		for (uint64_t v = 0; v < (uint64_t)n; v++) {
			int64_t value = runs_next(&walk);
			if (v % turns == 0)
				before = (struct runs_walk){.runs = r};
			if (v >= turns && value != runs_next(&before))
				return false;
		}
	}
	return true;
}

bool structure_is_single(const struct structure *s, uint32_t node)
{
	for (uint32_t n = s->nest.nodes[node].parent; n != NEST_NONE && n != s->nest.sites; n = s->nest.nodes[n].parent)
		for (uint32_t r = 0; r < s->ranks; r++) {
			const struct runs *x = structure_runs(s, s->times[n], r);
			if (x && (x->count > 1 || x->each[0].stride != 0 || x->each[0].start > 1))
				return false;
		}
	return true;
}
