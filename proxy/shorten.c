/* SPDX-License-Identifier: BSD-3-Clause
 * shorten - fewer turns of a program's loops
 *
 * All ranks are walked once for the outermost loops, once more for those inside the ones that cannot be shortened, and
 * so on. At the beginning of each turn the sums of balance.h are noted, so that several numbers of turns to leave out
 * are tried in one walk.
 *
 * If none can be shortened, there may be a call that all ranks make equally often, though what they do between does not
 * look like a loop: it is taken for the end of a turn.
 */
#include "proxy/shorten.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "proxy/balance.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

#define ATTEMPTS 8    /* each with one turn more that is left */
#define NEAR     0.05 /* of the factor: else loops inside are tried first */
#define FEW      4    /* turns of a run: not worth it; they may be dimensions, or sides */
#define ENDS     8    /* calls that are tried as ends of turns */

enum state { STATE_NONE, STATE_TRIED, STATE_COARSE, STATE_SHORT, STATE_FAILED };

struct loop {
	enum state state;
	unsigned more; /* turns that are left beyond what the factor says */
	/* of the walk; kept: and then with `more` */
	uint64_t turns, kept, shape, passes; /* of the first rank that passes it */
	bool seen, uneven;
	struct {
		struct balance_sums sums;
		bool bad;
	} attempt[ATTEMPTS];
	/* of the rank */
	uint64_t runs, own_turns, own_kept, own_shape;
};

struct turn {
	uint64_t number; /* of its first event */
	struct balance_sums sums;
};

struct shortening {
	struct structure structure;
	struct balance balance;
	double factor;
	struct loop *loops; /* by node; behind them that of `last` */
	uint32_t last;      /* the site that ends a turn; 0: turns are those of the nest */
	uint32_t *of;       /* of each site: the loop that is tried and it is in; NEST_NONE */
	struct turn *turns; /* of the run that a rank is in */
	uint32_t count, capacity;
	struct shortened *ranges; /* NULL: they are not asked for yet */
	struct error *error;
};

/* What is rounded away in one run is made up for in the next ones: 10 10 10 become 3 2 3. */
static uint64_t kept_of(const struct shortening *x, const struct loop *l, uint64_t turns)
{
	double n = round(x->factor * (double)(l->own_turns + turns)) - (double)l->own_kept;
	double least = x->last ? 2 : 1; /* the last one goes on to the end of the program */
	return n < least ? (uint64_t)least : n > (double)turns ? turns : (uint64_t)n;
}

/* The turns [*from, *to) are left out of so many; *to may be behind the last one. False: none. */
static bool turns_left_out(uint64_t turns, uint64_t kept, uint64_t *from, uint64_t *to)
{
	*from = kept > 1 ? kept - 1 : 1;
	*to = kept > 1 ? turns - 1 : turns;
	return *from < *to;
}

static void add_difference(struct balance_sums *sums, const struct balance_sums *a, const struct balance_sums *b,
                           uint64_t factor)
{
	sums->messages += factor * (b->messages - a->messages);
	sums->arrivals += factor * (b->arrivals - a->arrivals);
	sums->collectives += factor * (b->collectives - a->collectives);
	sums->any += b->any - a->any;
	sums->unknown += b->unknown - a->unknown;
}

static int leave_out(struct shortening *x, uint32_t rank, uint64_t first, uint64_t end)
{
	struct shortened *s = x->ranges;
	if (!budget_grow(&s->ranges, s->count, &s->capacity, sizeof *s->ranges))
		return error_set(x->error, "no memory");
	s->ranges[s->count++] = (struct event_range){rank, first, end};
	return 0;
}

/* A run of a loop ends in front of an event. Different runs must not make up for each other. */
static int end_run(struct shortening *x, uint32_t rank, uint32_t node, uint64_t number, const struct balance_sums *sums)
{
	struct loop *l = &x->loops[node];
	uint64_t n = x->count, kept = kept_of(x, l, n), from, to, factor = hash_mix(0x72756e, l->runs) | 1;
	l->runs++;
	l->own_turns += n;
	l->own_kept += kept;
	l->own_shape = hash_mix(l->own_shape, n);
	x->count = 0;
	if (x->ranges) {
		if (l->state != STATE_SHORT || !turns_left_out(n, kept + l->more, &from, &to))
			return 0;
		return leave_out(x, rank, x->turns[from].number, to < n ? x->turns[to].number : number);
	}
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		if (!turns_left_out(n, kept + i, &from, &to))
			continue;
		const struct balance_sums *a = &x->turns[from].sums, *b = to < n ? &x->turns[to].sums : sums;
		add_difference(&l->attempt[i].sums, a, b, factor);
		l->attempt[i].bad |= a->own != b->own;
	}
	return 0;
}

/* Does a step from one site to another one begin a turn of a loop that both are in? */
static bool turn_begins(const struct shortening *x, uint32_t node, uint32_t from, uint32_t to)
{
	const struct loop_nest *nest = &x->structure.nest;
	if (node < nest->sites)
		return true;
	return from != to && loop_nest_meet(nest, from, to) == node && loop_nest_turns(nest, node, from, to);
}

static int begin_turn(struct shortening *x, uint64_t number, const struct balance_sums *sums)
{
	if (!budget_grow(&x->turns, x->count, &x->capacity, sizeof *x->turns))
		return error_set(x->error, "no memory");
	x->turns[x->count++] = (struct turn){number, *sums};
	return 0;
}

static int step_to(struct shortening *x, uint32_t rank, uint32_t last, uint32_t site, uint64_t number,
                   const struct balance_sums *sums)
{
	if (x->last)
		return last == x->last ? begin_turn(x, number, sums) : 0;
	uint32_t before = last ? x->of[last] : NEST_NONE, now = x->of[site];
	if (before != now && before != NEST_NONE && end_run(x, rank, before, number, sums) != 0)
		return -1;
	if (now == NEST_NONE || (before == now && !turn_begins(x, now, last, site)))
		return 0;
	return begin_turn(x, number, sums);
}

static int walk_rank(struct shortening *x, uint32_t rank)
{
	struct structure *s = &x->structure;
	struct balance_sums sums = {0};
	struct walk *w = NULL;
	struct event e;
	uint32_t last = 0, polls = 0;
	uint64_t end = 0;
	int step;
	if (walk_begin(&w, s->trace, rank, x->error) != 0)
		return -1;
	if (!x->ranges && balance_rank(&x->balance, rank) != 0) {
		walk_end(w);
		return error_set(x->error, "no memory");
	}
	while ((step = structure_event(s, w, rank, &e, x->error)) == 0) {
		end = e.number + 1;
		while (polls < s->polls_count && (s->polls[polls].rank < rank ||
		                                  (s->polls[polls].rank == rank && s->polls[polls].end <= e.number)))
			polls++;
		if (polls < s->polls_count && s->polls[polls].rank == rank && s->polls[polls].first <= e.number)
			continue;
		uint32_t site = s->local[e.site];
		if (step_to(x, rank, last, site, e.number, &sums) != 0)
			break;
		last = site;
		if (!x->ranges && balance_event(&x->balance, &e, &sums) != 0) {
			error_set(x->error, "no memory");
			break;
		}
	}
	walk_end(w);
	if (step <= 0)
		return -1;
	uint32_t node = x->last ? x->structure.nest.count : last ? x->of[last] : NEST_NONE;
	return node != NEST_NONE ? end_run(x, rank, node, end, &sums) : 0;
}

/* What the rank said of the loops that are tried. */
static void end_rank(struct shortening *x)
{
	for (uint32_t i = 1; i <= x->structure.nest.count; i++) {
		struct loop *l = &x->loops[i];
		if (l->runs && !l->seen) {
			l->turns = l->own_turns;
			l->kept = l->own_kept;
			l->passes = l->runs;
			l->shape = l->own_shape;
		}
		l->uneven |= l->runs && l->seen && l->own_shape != l->shape;
		l->seen |= l->runs > 0;
		l->runs = l->own_turns = l->own_kept = l->own_shape = 0;
	}
}

static int walk_all(struct shortening *x, enum state wanted)
{
	const struct loop_nest *nest = &x->structure.nest;
	for (uint32_t i = 1; i < nest->sites; i++) {
		x->of[i] = NEST_NONE;
		for (uint32_t n = i; n != NEST_NONE && n != nest->sites; n = nest->nodes[n].parent)
			if (x->loops[n].state == wanted)
				x->of[i] = n;
	}
	for (uint32_t r = 0; r < x->structure.ranks; r++) {
		if (walk_rank(x, r) != 0)
			return -1;
		end_rank(x);
	}
	return 0;
}

/* ---- which loops ---- */

static bool attempt_holds(const struct loop *l, unsigned i)
{
	const struct balance_sums *s = &l->attempt[i].sums;
	return !l->attempt[i].bad && s->unknown == 0 && s->collectives == 0 && s->arrivals == 0 &&
	       (s->any || s->messages == 0);
}

static void try_children(struct shortening *x, uint32_t node)
{
	const struct nest_node *nodes = x->structure.nest.nodes;
	for (uint32_t c = nodes[node].first; c != NEST_NONE; c = nodes[c].next)
		if (c)
			x->loops[c].state = STATE_TRIED;
}

/* Takes the first attempt that holds. */
static bool can_be_shortened(struct loop *l)
{
	for (l->more = 0; l->more < ATTEMPTS && !attempt_holds(l, l->more); l->more++)
		;
	l->kept += l->more < ATTEMPTS ? l->more * l->passes : 0;
	return l->seen && !l->uneven && l->more < ATTEMPTS && l->kept < l->turns && l->turns >= FEW * l->passes;
}

static void decide(struct shortening *x, uint32_t node)
{
	struct loop *l = &x->loops[node];
	bool inner = node > x->structure.nest.sites && !x->structure.nest.nodes[node].any_order;
	l->state = STATE_FAILED;
	if (can_be_shortened(l)) {
		double left = (double)l->kept / (double)l->turns;
		l->state = fabs(left / x->factor - 1) < NEAR || !inner ? STATE_SHORT : STATE_COARSE;
	}
	if (l->state != STATE_SHORT && inner)
		try_children(x, node);
}

static bool any_is_tried(const struct shortening *x)
{
	for (uint32_t i = 1; i < x->structure.nest.count; i++)
		if (x->loops[i].state == STATE_TRIED)
			return true;
	return false;
}

static bool has_short(const struct shortening *x, uint32_t node)
{
	const struct nest_node *nodes = x->structure.nest.nodes;
	for (uint32_t c = nodes[node].first; c != NEST_NONE; c = nodes[c].next)
		if (x->loops[c].state == STATE_SHORT || (c > x->structure.nest.sites && has_short(x, c)))
			return true;
	return false;
}

/* Loops that are not near enough, in which there are no others; the innermost first. */
static void take_coarse(struct shortening *x)
{
	const struct nest_node *nodes = x->structure.nest.nodes;
	uint32_t deepest = 0, count = x->structure.nest.count;
	for (uint32_t i = 1; i < count; i++)
		deepest = nodes[i].depth > deepest ? nodes[i].depth : deepest;
	for (uint32_t depth = deepest; depth > 0; depth--)
		for (uint32_t i = 1; i < count; i++)
			if (nodes[i].depth == depth && x->loops[i].state == STATE_COARSE && !has_short(x, i))
				x->loops[i].state = STATE_SHORT;
}

static uint32_t first_site(const struct shortening *x, uint32_t node)
{
	while (node >= x->structure.nest.sites)
		node = x->structure.nest.nodes[node].first;
	return node;
}

static void describe(const struct shortening *x, FILE *out)
{
	const struct trace *t = x->structure.trace;
	for (uint32_t i = 1; i <= x->structure.nest.count; i++) {
		const struct loop *l = &x->loops[i];
		if (l->state != STATE_SHORT)
			continue;
		uint32_t site = x->last ? x->last : first_site(x, i);
		const struct schema *s = trace_schema(t, &t->sites[x->structure.sites[site].site]);
		double left = (double)l->kept / (double)l->turns;
		double off = 100 * (left / x->factor - 1);
		fprintf(out, "the loop %s %.*s: %" PRIu64 " turns -> %" PRIu64 ", %.1f %% %s than %g\n",
		        x->last ? "that ends with" : "of", (int)s->function_length, s->function, l->turns, l->kept,
		        fabs(off), off < 0 ? "less" : "more", x->factor);
	}
}

static int choose_loops(struct shortening *x)
{
	const struct loop_nest *nest = &x->structure.nest;
	try_children(x, nest->sites);
	while (any_is_tried(x)) {
		if (walk_all(x, STATE_TRIED) != 0)
			return -1;
		uint32_t *tried = budget_calloc(nest->count, sizeof *tried), count = 0;
		if (!tried)
			return error_set(x->error, "no memory");
		for (uint32_t i = 1; i < nest->count; i++)
			if (x->loops[i].state == STATE_TRIED)
				tried[count++] = i;
		for (uint32_t i = 0; i < count; i++)
			decide(x, tried[i]);
		budget_free(tried);
	}
	take_coarse(x);
	return 0;
}

/* ---- turns that end with a call ---- */

/* How often all ranks make a call; 0: not equally often. */
static uint64_t visits_of_all(const struct shortening *x, uint32_t site)
{
	const struct rankmap *visits = &x->structure.trace->sites[x->structure.sites[site].site].visits;
	int64_t n;
	return rankmap_size(visits) == x->structure.ranks && rankmap_constant(visits, &n) && n >= FEW ? (uint64_t)n : 0;
}

/* The site with the most visits, but no more than those of `before`, and behind it; 0: none. */
static uint32_t next_end(const struct shortening *x, uint32_t before)
{
	uint64_t most = 0, limit = before ? visits_of_all(x, before) : UINT64_MAX;
	uint32_t best = 0;
	for (uint32_t i = 1; i < x->structure.nest.sites; i++) {
		uint64_t n = visits_of_all(x, i);
		if (n > most && (n < limit || (n == limit && i > before))) {
			most = n;
			best = i;
		}
	}
	return best;
}

static int choose_end(struct shortening *x)
{
	struct loop *l = &x->loops[x->structure.nest.count];
	if (has_short(x, x->structure.nest.sites))
		return 0;
	for (int i = 0; i < ENDS && (x->last = next_end(x, x->last)) != 0; i++) {
		*l = (struct loop){.state = STATE_TRIED};
		if (walk_all(x, STATE_TRIED) != 0)
			return -1;
		if (can_be_shortened(l)) {
			l->state = STATE_SHORT;
			return 0;
		}
	}
	*l = (struct loop){.state = STATE_NONE};
	x->last = 0;
	return 0;
}

/* ---- what is computed ---- */

/* In numbers of the trace, and in order; NULL: no memory. */
static struct work_left *edges_of(const struct structure *s, size_t *count)
{
	struct work_left *edges = budget_calloc(s->edge_count + UINT64_C(1), sizeof *edges);
	*count = 0;
	for (uint32_t i = 0; edges && i < s->edge_count; i++)
		if (s->edges[i].from)
			edges[(*count)++] = (struct work_left){.from = s->sites[s->edges[i].from].site,
			                                       .to = s->sites[s->edges[i].to].site,
			                                       .count = s->edges[i].count};
	if (edges)
		qsort(edges, *count, sizeof *edges, work_left_compare);
	return edges;
}

static double edge_mean(const struct trace *t, const struct work_left *e)
{
	const struct trace_edge *edge = trace_edge_to(&t->sites[e->from], e->to);
	return edge ? histogram_mean(&edge->compute) : 0;
}

int shorten_work(const struct shortened *x, const struct structure *s, struct work_options *work)
{
	size_t count;
	struct work_left *left = edges_of(s, &count);
	double whole = 0, kept = 0;
	if (!left)
		return -1;
	for (size_t i = 0; i < x->whole_count; i++)
		whole += edge_mean(s->trace, &x->whole[i]) * (double)x->whole[i].count;
	for (size_t i = 0; i < count; i++) {
		const struct work_left *was =
			bsearch(&left[i], x->whole, x->whole_count, sizeof *left, work_left_compare);
		left[i].factor = was ? work->scale * (double)was->count / (double)left[i].count : 1;
		kept += edge_mean(s->trace, &left[i]) * (double)left[i].count * left[i].factor;
	}
	work->scale = kept > 0 ? work->scale * whole / kept : work->scale;
	work->left = left;
	work->left_count = count;
	return 0;
}

int shorten_loops(struct shortened *ranges, const struct trace *t, const struct taken_events *taken, double factor,
                  FILE *out, struct error *error)
{
	struct shortening x = {.factor = factor, .error = error};
	*ranges = (struct shortened){.count = 0};
	int rv = structure_loops(&x.structure, t, taken, error);
	if (rv == 0)
		rv = balance_begin(&x.balance, t, error);
	if (rv == 0) {
		x.loops = budget_calloc(x.structure.nest.count + UINT64_C(1), sizeof *x.loops);
		x.of = budget_calloc(x.structure.nest.sites + UINT64_C(1), sizeof *x.of);
		rv = x.loops && x.of ? choose_loops(&x) : error_set(error, "no memory");
		if (rv == 0)
			rv = choose_end(&x);
	}
	if (rv == 0) {
		x.ranges = ranges;
		describe(&x, out);
		rv = walk_all(&x, STATE_SHORT);
	}
	if (rv == 0) {
		ranges->whole = edges_of(&x.structure, &ranges->whole_count);
		rv = ranges->whole ? 0 : error_set(error, "no memory");
	}
	budget_free(x.turns);
	budget_free(x.loops);
	budget_free(x.of);
	balance_end(&x.balance);
	structure_free(&x.structure);
	return rv;
}

void shorten_free(struct shortened *x)
{
	budget_free(x->ranges);
	budget_free(x->whole);
}
