/* SPDX-License-Identifier: BSD-3-Clause
 * structure_columns - the columns of what a proxy is made of
 *
 * The second walk of each rank follows the nest. For each loop it knows the child that it is in (at) and how many turns
 * there were:
 *
 *     leave    a child has ended: how often it came is the next value of its column
 *     pass     on to a later child: those in between came 0 times
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/outstanding.h"
#include "proxy/pins.h"
#include "proxy/recipe.h"
#include "proxy/structure.h"
#include "trace/base/budget.h"
#include "trace/read/walk.h"

/* Where a rank was at the last mark of its walk (walk_repeats). */
struct passage_mark {
	uint64_t *turns;  /* of each node */
	uint64_t *counts; /* of each column: values */
	uint64_t event;   /* so many were walked */
	uint32_t last;
	int64_t outstanding;
	bool single; /* since then an event came that is like no other: a poll, or a message from anyone */
};

/* A rank on its way through the nest. */
struct passage {
	struct structure *s;
	struct series *series; /* by column */
	uint32_t *at;          /* of each node: its child; NEST_NONE: a turn that has just begun */
	uint64_t *turns;       /* of each node, in this turn of its parent; of a site: visits */
	uint32_t last;         /* site of the nest */
	uint32_t rank;
	uint32_t polls; /* of structure.polls: the next ones */
	struct pins pins;
	struct passage_mark mark;
	bool lengthened; /* the loop that is to have more turns has them */
	struct error *error;
};

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
		const struct recipe *recipe = recipe_of(schema);
		for (size_t k = 0; k < schema->count; k++) {
			struct proxy_column *column = &s->columns[s->sites[i].first + k];
			column->numbers = !schema->column[k].vector && schema->column[k].kind != 's';
			column->used = recipe && recipe_uses(recipe, &schema->column[k]);
		}
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

/* MPI_ANY_SOURCE, or whose message it was. */
static int64_t pinned(struct passage *p, const struct event *e, int64_t v)
{
	if (!trace_is_constant(p->s->trace, v, CONST_MPI_ANY_SOURCE))
		return v;
	int64_t source = pins_source(&p->pins, e->number);
	p->mark.single = true;
	return source == ACT_ANY ? v : source - e->base;
}

static int passage_values(struct passage *p, const struct event *e, bool first)
{
	struct structure *s = p->s;
	struct proxy_site *site = &s->sites[s->local[e->site]];
	site->base[p->rank] = first || site->base[p->rank] == e->base ? e->base : BASE_VARIES;
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *column = &e->schema->column[i];
		int64_t v = column->vector ? e->values[i] : pinned(p, e, e->values[i]);
		if (!s->columns[site->first + i].used)
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
	for (uint32_t c = 0; c < p->s->column_count; c++) {
		if (keep_series(p->s, c, p->rank, p->s->columns[c].numbers, &p->series[c]) != 0)
			return -1;
	}
	return 0;
}

/* ---- turns that are alike ---- */

/* To leave turns out takes as long as to walk an event of so many columns there are. */
#define COLUMNS_PAY 64

static void passage_mark(struct passage *p, const struct outstanding *requests, uint64_t event)
{
	struct passage_mark *m = &p->mark;
	memcpy(m->turns, p->turns, p->s->nest.count * sizeof *m->turns);
	for (uint32_t c = 0; c < p->s->column_count; c++)
		m->counts[c] = p->series[c].count;
	m->event = event;
	m->last = p->last;
	m->outstanding = requests->count;
	m->single = false;
}

/* The loop whose turns are alike since the mark: the outermost one around the rank that had turns since. What is in it
 * has been so often as at the mark. NEST_NONE: it has not, and its turns are not alike yet. */
static uint32_t passage_loop(const struct passage *p)
{
	const struct nest_node *nodes = p->s->nest.nodes;
	uint32_t loop = NEST_NONE, inside = 0;
	for (uint32_t n = p->last; n != NEST_NONE; n = nodes[n].parent)
		if (p->turns[n] != p->mark.turns[n]) {
			inside++;
			loop = n;
		}
	return inside == 1 && p->turns[loop] > p->mark.turns[loop] ? loop : NEST_NONE;
}

/* Of what came since the mark, how often it comes more where its loop is to have more turns. */
static uint64_t turns_more(struct passage *p, uint32_t loop)
{
	const struct taken_events *taken = &p->s->taken;
	uint64_t each = p->turns[loop] - p->mark.turns[loop];
	if (!taken->turns_more || loop != taken->loop || p->lengthened || taken->turns_more % each)
		return 0;
	p->lengthened = true;
	return taken->turns_more / each;
}

/* Does a column say the same again, or the same for ever? Without memory, it does. */
static bool has_rule(const struct structure *s, uint32_t column, const struct series *x)
{
	size_t bytes;
	struct runs *r = x->count ? series_runs(x, s->columns[column].numbers, &bytes) : NULL;
	bool has = !r || r->lead < r->count || (r->count == 1 && r->each[0].stride == 0);
	budget_free(r);
	return has;
}

/* A loop that should have more turns has not. */
static int not_lengthened(const struct passage *p)
{
	const struct structure *s = p->s;
	for (uint32_t i = 1; i < s->nest.sites; i++) {
		const struct schema *schema = trace_schema(s->trace, &s->trace->sites[s->sites[i].site]);
		uint32_t n = i;
		while (n != NEST_NONE && n != s->taken.loop)
			n = s->nest.nodes[n].parent;
		for (uint32_t k = 0; k < schema->count && n != NEST_NONE; k++)
			if (!has_rule(s, s->sites[i].first + k, &p->series[s->sites[i].first + k]))
				return error_set(
					p->error,
					"its loop cannot have more turns: %.*s of %.*s has no rule on rank %" PRIu32,
					(int)schema->column[k].length, schema->column[k].name,
					(int)schema->function_length, schema->function, p->rank);
	}
	return error_set(p->error,
	                 "its loop cannot have more turns: on rank %" PRIu32
	                 ", those behind the first 64 calls are not alike, or too few to see it",
	                 p->rank);
}

/* So many turns more of what came since the mark, if they are alike. Returns 1, 0 if they are not, -1 on no memory. */
static int passage_leap(struct passage *p, const struct outstanding *requests, uint64_t turns)
{
	const struct passage_mark *m = &p->mark;
	uint32_t loop =
		m->single || p->last != m->last || requests->count != m->outstanding ? NEST_NONE : passage_loop(p);
	if (loop == NEST_NONE)
		return 0;
	turns += turns_more(p, loop);
	for (uint32_t c = 0; c < p->s->column_count; c++)
		if (series_repeat(&p->series[c], m->counts[c], turns) != 0)
			return -1;
	p->turns[loop] += turns * (p->turns[loop] - m->turns[loop]);
	return 1;
}

/* After each event. Returns 0, or -1 on no memory. */
static int passage_repeat(struct passage *p, const struct outstanding *requests, struct walk *w, uint64_t event)
{
	bool marked;
	uint64_t turns = structure_leaps(p->s) ? walk_repeats(w, &marked) : (marked = false, 0);
	bool pays = turns * (event - p->mark.event) > p->s->column_count / COLUMNS_PAY ||
	            (p->s->taken.turns_more && !p->lengthened);
	int leapt = turns > 0 && pays ? passage_leap(p, requests, turns) : 0;
	if (leapt > 0) {
		walk_leap(w, turns);
		event += turns * (event - p->mark.event);
	}
	if (marked || leapt > 0)
		passage_mark(p, requests, event);
	return leapt < 0 ? -1 : 0;
}

static bool passage_leaves_out(struct passage *p, uint64_t number)
{
	const struct structure *s = p->s;
	while (p->polls < s->polls_count && s->polls[p->polls].rank == p->rank && s->polls[p->polls].end <= number)
		p->polls++;
	return p->polls < s->polls_count && s->polls[p->polls].rank == p->rank && s->polls[p->polls].first <= number;
}

static int passage_event(struct passage *p, const struct event *e, struct outstanding *requests, bool *visited)
{
	struct structure *s = p->s;
	uint32_t site = s->local[e->site];
	if (passage_step(p, site) != 0 || passage_values(p, e, !visited[site]) != 0)
		return -1;
	outstanding_pass(requests, s->trace, e, &s->sites[site].requests_in_order);
	visited[site] = true;
	return 0;
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
	p->lengthened = false;
	if (passage_enter(p, s->nest.sites, 0) != 0)
		goto memory;
	while ((step = structure_event(s, w, p->rank, &e, error)) == 0) {
		if (passage_leaves_out(p, e.number))
			p->mark.single = true;
		else if (passage_event(p, &e, &requests, visited) != 0)
			goto memory;
		if (passage_repeat(p, &requests, w, e.number) != 0)
			goto memory;
	}
	walk_end(w);
	if (step > 0 && s->taken.turns_more && !p->lengthened)
		return not_lengthened(p);
	if (step > 0 && passage_end(p) != 0)
		return error_set(error, "no memory");
	return step < 0 ? -1 : 0;
memory:
	walk_end(w);
	return error_set(error, "no memory");
}

int structure_columns(struct structure *s, struct error *error)
{
	struct passage p = {.s = s, .error = error};
	bool *visited = budget_calloc(s->nest.count, 1);
	int rv = make_columns(s);
	p.series = budget_calloc(s->column_count + UINT64_C(1), sizeof *p.series);
	p.at = budget_calloc(s->nest.count, sizeof *p.at);
	p.turns = budget_calloc(s->nest.count, sizeof *p.turns);
	p.mark.turns = budget_calloc(s->nest.count, sizeof *p.mark.turns);
	p.mark.counts = budget_calloc(s->column_count + UINT64_C(1), sizeof *p.mark.counts);
	if (rv != 0 || !visited || !p.series || !p.at || !p.turns || !p.mark.turns || !p.mark.counts)
		rv = error_set(error, "no memory");
	if (rv == 0)
		rv = pins_begin(&p.pins, s->trace, error);
	for (p.rank = 0; rv == 0 && p.rank < s->ranks; p.rank++) {
		rv = pins_rank(&p.pins, p.rank, error);
		rv = rv == 0 ? walk_values(&p, visited, error) : rv;
	}
	for (uint32_t c = 0; p.series && c < s->column_count; c++)
		series_free(&p.series[c]);
	pins_end(&p.pins);
	budget_free(p.series);
	budget_free(p.at);
	budget_free(p.turns);
	budget_free(p.mark.turns);
	budget_free(p.mark.counts);
	budget_free(visited);
	return rv;
}
