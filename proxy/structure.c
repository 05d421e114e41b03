/* SPDX-License-Identifier: BSD-3-Clause
 * structure - what a proxy is made of
 *
 * Each rank is walked twice: for the edges between sites, from which the nest follows, and for the columns. The second
 * walk follows the nest. For each loop it knows the child that it is in (at) and how many turns there were:
 *
 *     leave    a child has ended: how often it came is the next value of its column
 *     pass     on to a later child: those in between came 0 times
 */
#include "proxy/structure.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/common_nest.h"
#include "proxy/outstanding.h"
#include "proxy/recipe.h"
#include "proxy/steps.h"
#include "trace/base/budget.h"
#include "trace/read/walk.h"

/* Visits that are compared to see whether they are the same again and again. */
#define VISITS_LOOKED 1000

/* A rank on its way through the nest. */
struct passage {
	struct structure *s;
	struct series *series; /* by column */
	uint32_t *at;          /* of each node: its child; NEST_NONE: a turn that has just begun */
	uint64_t *turns;       /* of each node, in this turn of its parent; of a site: visits */
	uint32_t last;         /* site of the nest */
	uint32_t rank;
	uint32_t polls; /* of structure.polls: the next ones */
	struct error *error;
};

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

/* ---- the first walk: edges ---- */

/* The first walk of a rank. */
struct edge_walk {
	struct steps *steps;
	uint32_t *sites;
	uint32_t last;                   /* site of the nest */
	uint32_t vain_site;              /* of the trace */
	uint64_t vain_first, vain_count; /* the last events, which are polls there that found nothing */
};

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

/* The polls that were put off. found: one of the same site comes behind them, which found something. */
static int edges_end_polls(struct structure *s, struct edge_walk *x, uint32_t rank, bool found)
{
	uint64_t count = x->vain_count;
	x->vain_count = 0;
	if (count && found) {
		if (!budget_grow(&s->polls, s->polls_count, &s->polls_capacity, sizeof *s->polls))
			return -1;
		s->polls[s->polls_count++] = (struct event_range){rank, x->vain_first, x->vain_first + count};
		return 0;
	}
	for (; count; count--)
		if (edges_visit(s, x, x->vain_site) != 0)
			return -1;
	return 0;
}

static int edges_step(struct structure *s, struct edge_walk *x, uint32_t rank, const struct event *e)
{
	const struct recipe *recipe = recipe_of(e->schema);
	bool vain = event_is_vain(e) && recipe && recipe_polls(recipe), same = x->vain_count && x->vain_site == e->site;
	if (!(vain && same) && edges_end_polls(s, x, rank, same) != 0)
		return -1;
	if (!vain)
		return edges_visit(s, x, e->site);
	if (x->vain_count++ == 0)
		x->vain_first = e->number;
	x->vain_site = e->site;
	return 0;
}

static int walk_edges(struct structure *s, uint32_t rank, struct steps *steps, uint32_t *sites, struct error *error)
{
	struct edge_walk x = {.steps = steps, .sites = sites};
	struct walk *w = NULL;
	struct event e;
	int step;
	if (walk_begin(&w, s->trace, rank, error) != 0)
		return -1;
	while ((step = structure_event(s, w, rank, &e, error)) == 0)
		if (edges_step(s, &x, rank, &e) != 0)
			break;
	if (step == 0 || (step > 0 && edges_end_polls(s, &x, rank, false) != 0))
		step = error_set(error, "no memory");
	walk_end(w);
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
	struct steps all = {NULL};
	struct step_kinds kinds = {NULL};
	uint32_t sites = 1;
	int rv = 0;
	s->sites = budget_calloc(s->trace->site_count + UINT64_C(1), sizeof *s->sites);
	s->local = budget_calloc(s->trace->site_count + UINT64_C(1), sizeof *s->local);
	if (!s->sites || !s->local)
		return error_set(error, "no memory");
	for (uint32_t r = 0; r < s->ranks && rv == 0; r++) {
		struct steps rank = {NULL};
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

/* ---- columns ---- */

static int make_columns(struct structure *s)
{
	const struct loop_nest *nest = &s->nest;
	s->times = budget_calloc(nest->count + UINT64_C(1), sizeof *s->times);
	s->choice = budget_calloc(nest->count + UINT64_C(1), sizeof *s->choice);
	if (!s->times || !s->choice)
		return -1;
	for (uint32_t i = 0; i < nest->count; i++) {
		s->times[i] = s->column_count++;
		s->choice[i] = nest->nodes[i].any_order ? s->column_count++ : COLUMN_NONE;
	}
	for (uint32_t i = 1; i < nest->sites; i++) {
		s->sites[i].first = s->column_count;
		s->column_count += (uint32_t)trace_schema(s->trace, &s->trace->sites[s->sites[i].site])->count;
		s->sites[i].base = budget_calloc(s->ranks, sizeof *s->sites[i].base);
		s->sites[i].requests_in_order = true;
		if (!s->sites[i].base)
			return -1;
	}
	s->columns = budget_calloc(s->column_count + UINT64_C(1), sizeof *s->columns);
	if (!s->columns)
		return -1;
	for (uint32_t c = 0; c < s->column_count; c++) {
		s->columns[c].of_rank = budget_malloc(s->ranks * sizeof(uint32_t));
		if (!s->columns[c].of_rank)
			return -1;
		memset(s->columns[c].of_rank, 0xff, s->ranks * sizeof(uint32_t));
		s->columns[c].numbers = true;
	}
	for (uint32_t i = 1; i < nest->sites; i++) {
		const struct schema *schema = trace_schema(s->trace, &s->trace->sites[s->sites[i].site]);
		for (size_t k = 0; k < schema->count; k++)
			s->columns[s->sites[i].first + k].numbers =
				!schema->column[k].vector && schema->column[k].kind != 's';
	}
	return 0;
}

static int keep_series(struct structure *s, uint32_t column, uint32_t rank, bool numbers, struct series *series)
{
	size_t bytes;
	if (series->count == 0)
		return 0;
	struct runs *r = series_runs(series, numbers, &bytes);
	series_free(series);
	if (!r)
		return -1;
	uint32_t number = pool_intern(&s->runs, r, bytes);
	budget_free(r);
	s->columns[column].of_rank[rank] = number;
	return number == UINT32_MAX ? -1 : 0;
}

/* ---- the second walk ---- */

static int passage_leave(struct passage *p, uint32_t child)
{
	return series_append(&p->series[p->s->times[child]], (int64_t)p->turns[child]);
}

/* A turn goes on with `child`, or ends if that is NEST_NONE. */
static int passage_pass(struct passage *p, uint32_t node, uint32_t child)
{
	const struct nest_node *nodes = p->s->nest.nodes;
	uint32_t at = p->at[node];
	if (at != NEST_NONE && passage_leave(p, at) != 0)
		return -1;
	p->at[node] = child;
	if (nodes[node].any_order)
		return 0;
	for (uint32_t c = at == NEST_NONE ? nodes[node].first : nodes[at].next; c != child; c = nodes[c].next)
		if (c == NEST_NONE || series_append(&p->series[p->s->times[c]], 0) != 0)
			return -1;
	return 0;
}

static uint32_t ordinal_of(const struct loop_nest *nest, uint32_t child)
{
	uint32_t n = 0;
	for (uint32_t c = nest->nodes[nest->nodes[child].parent].first; c != child; c = nest->nodes[c].next)
		n++;
	return n;
}

/* Enters `child` of a node, and all nodes down to the site. */
static int passage_enter(struct passage *p, uint32_t node, uint32_t site)
{
	const struct loop_nest *nest = &p->s->nest;
	uint32_t path[64], depth = 0;
	for (uint32_t n = site; n != node; n = nest->nodes[n].parent)
		path[depth++] = n;
	while (depth-- > 0) {
		uint32_t child = path[depth];
		if (passage_pass(p, node, child) != 0)
			return -1;
		if (nest->nodes[node].any_order &&
		    series_append(&p->series[p->s->choice[node]], ordinal_of(nest, child)) != 0)
			return -1;
		p->turns[child] = 1;
		p->at[child] = NEST_NONE;
		node = child;
	}
	return 0;
}

static int passage_step(struct passage *p, uint32_t site)
{
	const struct loop_nest *nest = &p->s->nest;
	uint32_t last = p->last;
	p->last = site;
	if (last == site) {
		p->turns[site]++;
		return 0;
	}
	uint32_t meet = loop_nest_meet(nest, last, site);
	for (uint32_t n = nest->nodes[last].parent; n != meet; n = nest->nodes[n].parent)
		if (passage_pass(p, n, NEST_NONE) != 0)
			return -1;
	if (loop_nest_turns(nest, meet, last, site)) {
		if (passage_pass(p, meet, NEST_NONE) != 0)
			return -1;
		p->turns[meet]++;
	}
	return passage_enter(p, meet, site);
}

/* Names of constants come from the trace, and go into the program: nothing but names may. */
static int check_value(struct passage *p, int64_t v)
{
	const char *text = value_is_constant(v) ? trace_constant_name(p->s->trace, v) : "-";
	if (strcmp(text, "-") == 0 ||
	    (strncmp(text, "MPI", 3) == 0 && text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_|0123456789")] == '\0'))
		return 0;
	return error_set(p->error, "'%s' is no constant of MPI", text);
}

static int64_t keep_vector(struct passage *p, const struct event *e, const struct schema_column *column, int64_t v)
{
	struct structure *s = p->s;
	const struct pool_item *item = event_vector(s->trace, e, v);
	int64_t *copy = budget_malloc(item->size + sizeof *copy), number;
	if (!copy)
		return -1;
	memcpy(copy, item->bytes, item->size);
	for (size_t i = 0; i < item->size / sizeof *copy; i++) {
		if (check_value(p, copy[i]) != 0) {
			budget_free(copy);
			return -1;
		}
		copy[i] += column->kind != 'p' || value_is_constant(copy[i]) ? 0 : e->base;
	}
	number = pool_intern(&s->vectors, copy, item->size);
	budget_free(copy);
	return number == UINT32_MAX ? -1 : number;
}

static int passage_values(struct passage *p, const struct event *e, bool first)
{
	struct structure *s = p->s;
	struct proxy_site *site = &s->sites[s->local[e->site]];
	const struct recipe *recipe = recipe_of(e->schema);
	site->base[p->rank] = first || site->base[p->rank] == e->base ? e->base : BASE_VARIES;
	for (size_t i = 0; recipe && i < e->schema->count; i++) {
		const struct schema_column *column = &e->schema->column[i];
		int64_t v = e->values[i];
		if (!recipe_uses(recipe, column))
			continue;
		if (check_value(p, v) != 0)
			return -1;
		if (column->vector && !value_is_constant(v) && v != VALUE_LOSSY) {
			v = keep_vector(p, e, column, v);
			if (v < 0)
				return -1;
		}
		if (series_append(&p->series[site->first + i], v) != 0)
			return -1;
	}
	return 0;
}

static int passage_end(struct passage *p)
{
	const struct loop_nest *nest = &p->s->nest;
	for (uint32_t n = nest->nodes[p->last].parent; n != NEST_NONE; n = nest->nodes[n].parent)
		if (passage_pass(p, n, NEST_NONE) != 0)
			return -1;
	for (uint32_t c = 0; c < p->s->column_count; c++)
		if (keep_series(p->s, c, p->rank, p->s->columns[c].numbers, &p->series[c]) != 0)
			return -1;
	return 0;
}

static bool passage_leaves_out(struct passage *p, uint64_t number)
{
	const struct structure *s = p->s;
	while (p->polls < s->polls_count && s->polls[p->polls].rank == p->rank && s->polls[p->polls].end <= number)
		p->polls++;
	return p->polls < s->polls_count && s->polls[p->polls].rank == p->rank && s->polls[p->polls].first <= number;
}

static int walk_values(struct passage *p, bool *visited, struct error *error)
{
	struct structure *s = p->s;
	struct walk *w = NULL;
	struct event e;
	struct outstanding requests = {0};
	int step;
	if (walk_begin(&w, s->trace, p->rank, error) != 0)
		return -1;
	memset(visited, 0, s->nest.sites);
	memset(p->at, 0xff, s->nest.count * sizeof *p->at);
	p->last = 0;
	if (passage_enter(p, s->nest.sites, 0) != 0)
		goto memory;
	while ((step = structure_event(s, w, p->rank, &e, error)) == 0) {
		uint32_t site = s->local[e.site];
		if (passage_leaves_out(p, e.number))
			continue;
		if (passage_step(p, site) != 0 || passage_values(p, &e, !visited[site]) != 0)
			goto memory;
		outstanding_pass(&requests, s->trace, &e, &s->sites[site].requests_in_order);
		visited[site] = true;
	}
	walk_end(w);
	if (step > 0 && passage_end(p) != 0)
		return error_set(error, "no memory");
	return step < 0 ? -1 : 0;
memory:
	walk_end(w);
	return error_set(error, "no memory");
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
	struct passage p = {.s = s, .error = error};
	bool *visited = budget_calloc(s->nest.count, 1);
	int rv = make_columns(s);
	p.series = budget_calloc(s->column_count + UINT64_C(1), sizeof *p.series);
	p.at = budget_calloc(s->nest.count, sizeof *p.at);
	p.turns = budget_calloc(s->nest.count, sizeof *p.turns);
	if (rv != 0 || !visited || !p.series || !p.at || !p.turns)
		rv = error_set(error, "no memory");
	for (p.rank = 0; rv == 0 && p.rank < s->ranks; p.rank++)
		rv = walk_values(&p, visited, error);
	for (uint32_t c = 0; p.series && c < s->column_count; c++)
		series_free(&p.series[c]);
	budget_free(p.series);
	budget_free(p.at);
	budget_free(p.turns);
	budget_free(visited);
	return rv;
}

void structure_free(struct structure *s)
{
	for (uint32_t i = 0; s->sites && i < s->nest.sites; i++)
		budget_free(s->sites[i].base);
	for (uint32_t c = 0; s->columns && c < s->column_count; c++)
		budget_free(s->columns[c].of_rank);
	budget_free(s->sites);
	budget_free(s->polls);
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
		for (uint64_t v = turns; v < (uint64_t)n; v++)
			if (runs_value(r, v) != runs_value(r, v % turns))
				return false;
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
