/* SPDX-License-Identifier: BSD-3-Clause
 * search - where was a rank at a time?
 */
#include "trace/read/search.h"

#include <inttypes.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/cursor.h"
#include "trace/base/index.h"
#include "trace/model/means.h"
#include "trace/model/stream.h"
#include "trace/read/timeline.h"

/* The steps that are remembered. A loop whose turn takes more steps than this, its inner loops passed over, is not
 * passed over itself. */
#define STEPS (1u << 18)
#define NONE  UINT32_MAX

/* A site as the walk sees it. */
struct place {
	struct column_cursor cursor;
	uint64_t visits, hash;
	uint32_t last; /* its last step that is remembered */
};

/* A step: the state of its site's column before it. */
struct step {
	uint32_t site, before; /* the step before at the same site */
	uint32_t token, depth;
	size_t levels; /* in search.levels */
	uint64_t left, known, visits, events;
	double time;
};

struct search {
	const struct trace *t;
	uint32_t rank;
	struct pattern *patterns;
	struct pool own;
	struct place *places;
	struct step *steps;
	struct pattern_level *levels;
	size_t level_count, level_capacity;
	uint32_t count;
	uint32_t *slots; /* by hash of the state: the last step that began in it + 1 */
	uint64_t work;   /* comparisons, so that vain ones do not become the rule */
	double stretch;
	/* the state */
	uint64_t hash, events, event;
	uint32_t site;
	double time;
};

static void search_free(struct search *s)
{
	for (uint32_t i = 0; s->places && i < s->t->site_count; i++)
		column_cursor_close(&s->places[i].cursor);
	for (uint32_t i = 0; s->patterns && i < s->t->patterns.count; i++)
		pattern_free(&s->patterns[i]);
	pool_free(&s->own);
	budget_free(s->places);
	budget_free(s->patterns);
	budget_free(s->steps);
	budget_free(s->levels);
	budget_free(s->slots);
}

static int search_init(struct search *s, const struct trace *t, uint32_t rank, double stretch, struct error *error)
{
	int64_t events, first = 0;
	*s = (struct search){.t = t, .rank = rank, .stretch = stretch};
	if (!rankmap_get(&t->events, rank, &events))
		return stream_missing(t, rank, error);
	if (events <= 0 || !rankmap_get(&t->first, rank, &first))
		return error_set(error, "rank %u has no events", rank);
	s->events = (uint64_t)events;
	s->site = (uint32_t)first;
	s->places = budget_calloc((size_t)t->site_count + 1, sizeof *s->places);
	s->patterns = budget_calloc((size_t)t->patterns.count + 1, sizeof *s->patterns);
	s->steps = budget_malloc(STEPS * sizeof *s->steps);
	s->slots = budget_calloc(2 * STEPS, sizeof *s->slots);
	if (!s->places || !s->patterns || !s->steps || !s->slots)
		return error_set(error, "no memory");
	for (uint32_t i = 0; i < t->site_count; i++)
		s->places[i].last = NONE;
	return 0;
}

/* What a place is but for numbers of turns. */
static uint64_t place_hash(uint32_t site, const struct place *p)
{
	uint64_t h = hash_mix(hash_mix(site + UINT64_C(1), p->cursor.token), p->cursor.known);
	for (size_t i = 0; i < p->cursor.pattern.depth; i++)
		h = hash_mix(hash_mix(h, p->cursor.pattern.stack[i].rule), p->cursor.pattern.stack[i].at);
	return h;
}

static int remember(struct search *s)
{
	struct place *p = &s->places[s->site];
	const struct pattern_cursor *c = &p->cursor.pattern;
	if (s->count == STEPS) { /* begin anew: what was before is forgotten */
		s->count = 0;
		s->level_count = 0;
		memset(s->slots, 0, 2 * STEPS * sizeof *s->slots);
		for (uint32_t i = 0; i < s->t->site_count; i++)
			s->places[i].last = NONE;
	}
	if (s->level_count + c->depth > s->level_capacity) {
		size_t capacity = 2 * (s->level_count + c->depth) + 1024;
		struct pattern_level *levels = budget_realloc(s->levels, capacity * sizeof *levels);
		if (!levels)
			return -1;
		s->levels = levels;
		s->level_capacity = capacity;
	}
	if (c->depth)
		memcpy(&s->levels[s->level_count], c->stack, c->depth * sizeof *c->stack);
	s->steps[s->count] = (struct step){.site = s->site,
	                                   .before = p->last,
	                                   .token = p->cursor.token,
	                                   .depth = (uint32_t)c->depth,
	                                   .levels = s->level_count,
	                                   .left = p->cursor.left,
	                                   .known = p->cursor.known,
	                                   .visits = p->visits,
	                                   .events = s->event,
	                                   .time = s->time};
	s->level_count += c->depth;
	p->last = s->count++;
	return 0;
}

/* How often what the place went through since `then` can come again: 0 if it is not just turns of one rule, or of one
 * run. *turns: how many it took, of *counter. */
static uint64_t repeats(const struct search *s, const struct step *then, struct place *p, uint64_t **counter,
                        uint64_t *turns)
{
	struct column_cursor *c = &p->cursor;
	*counter = NULL;
	if (!c->open || c->constant)
		return UINT64_MAX;
	if (then->token != c->token || then->known != c->known || then->depth != c->pattern.depth)
		return 0;
	for (size_t i = 0; i < c->pattern.depth; i++) {
		struct pattern_level *now = &c->pattern.stack[i];
		const struct pattern_level *old = &s->levels[then->levels + i];
		if (now->rule != old->rule || now->at != old->at)
			return 0;
		if (now->times == old->times)
			continue;
		if (*counter || now->times > old->times)
			return 0;
		*counter = &now->times;
		*turns = old->times - now->times;
	}
	if (c->left != then->left) {
		if (*counter || c->left > then->left)
			return 0;
		*counter = &c->left;
		*turns = then->left - c->left;
		return c->left / *turns;
	}
	return *counter ? (**counter - 1) / *turns : 0;
}

/* The walk is in the state that it was in before step `from`, but for numbers of turns: passes as many repetitions as
 * there are, not beyond `ns`. Returns whether there were any. */
static bool pass(struct search *s, uint32_t from, double ns)
{
	const struct step *first = &s->steps[from];
	uint64_t events = s->event - first->events, turns, *counter;
	double time = s->time - first->time;
	uint64_t times = (s->events - 1 - s->event) / events;
	if (ns < s->time + time)
		return false;
	if (time > 0 && (ns - s->time) / time < (double)times)
		times = (uint64_t)((ns - s->time) / time);
	/* what is at hand first: most vain attempts end here */
	uint64_t own = repeats(s, first, &s->places[s->site], &counter, &turns);
	times = own < times ? own : times;
	if (times == 0 || s->work > 64 * (uint64_t)s->count + (1u << 22))
		return false;
	for (uint32_t i = from; i < s->count && times > 0; i++) {
		const struct step *step = &s->steps[i];
		s->work++;
		if (step->before != NONE && step->before >= from)
			continue;
		uint64_t n = repeats(s, step, &s->places[step->site], &counter, &turns);
		times = n < times ? n : times;
	}
	if (times == 0)
		return false;
	for (uint32_t i = from; i < s->count; i++) {
		const struct step *step = &s->steps[i];
		struct place *p = &s->places[step->site];
		if (step->before != NONE && step->before >= from)
			continue;
		repeats(s, step, p, &counter, &turns);
		if (counter)
			*counter -= times * turns;
		p->visits += times * (p->visits - step->visits);
	}
	s->event += times * events;
	s->time += (double)times * time;
	s->work = 0;
	return true;
}

static double compute_of(const struct trace_site *s, uint32_t to)
{
	const struct trace_edge *e = trace_edge_to(s, to);
	return e ? histogram_mean(&e->compute) : 0;
}

/* Walks until the call that ends after `ns`. Returns 0 or -1. */
static int run(struct search *s, double ns, struct moment *m, struct error *error)
{
	const struct trace *t = s->t;
	for (;;) {
		const struct trace_site *site = &t->sites[s->site];
		struct place *p = &s->places[s->site];
		double call = histogram_mean(&site->communicate) *
		              (trace_initializes(trace_schema(t, site)) ? 1 : s->stretch);
		if (s->time + call > ns || s->event + 1 == s->events) {
			*m = (struct moment){.event = s->event,
			                     .site = s->site,
			                     .inside = ns >= s->time,
			                     .begin = s->time,
			                     .end = s->time + call,
			                     .total = s->time + call};
			return 0;
		}
		if (!budget_step(1))
			return error_set(error, "rank %u, event %" PRIu64 ": there are too many to read", s->rank,
			                 s->event);
		uint64_t state = hash_mix(s->hash, s->site);
		uint32_t *slot = &s->slots[state & (2 * STEPS - 1)];
		if (*slot && s->steps[*slot - 1].site == s->site && pass(s, *slot - 1, ns))
			continue;
		int64_t next;
		int rv = p->cursor.open
		                 ? 0
		                 : column_cursor_open_prefix(&p->cursor, t, &site->columns[site->column_count - 1],
		                                             s->rank, s->patterns, &s->own);
		if (rv == 0)
			rv = remember(s);
		slot = &s->slots[state & (2 * STEPS - 1)];
		if (rv == 0)
			*slot = s->count;
		if (rv == 0)
			rv = column_cursor_next(&p->cursor, &next);
		if (rv != 0)
			return error_set(error,
			                 "rank %u, event %" PRIu64
			                 ", site %u: its successors end too early, or there is no memory",
			                 s->rank, s->event, s->site);
		if (next == VALUE_LOSSY)
			return error_set(error,
			                 "rank %u: what came after event %" PRIu64
			                 " is not known: the order of calls is lossy from there on",
			                 s->rank, s->event);
		s->hash -= p->hash;
		p->hash = p->cursor.constant ? 0 : place_hash(s->site, p);
		s->hash += p->hash;
		p->visits++;
		s->event++;
		s->time += call + compute_of(site, (uint32_t)next) * s->stretch;
		s->site = (uint32_t)next;
	}
}

/* The same with the times of each event. Returns 0, -1, or 1: there are none, or not up to that time. */
static int run_exactly(struct search *s, double ns, struct moment *m, struct error *error)
{
	const struct trace *t = s->t;
	bool none;
	uint64_t begin, end;
	int64_t next;
	int rv = 1;
	struct timeline *l = timeline_open(t, s->rank, &none);
	if (!l)
		return none ? 1 : error_set(error, "no memory");
	while (budget_step(1) && timeline_next(l, s->site, &begin, &end) == 0) {
		const struct trace_site *site = &t->sites[s->site];
		struct place *p = &s->places[s->site];
		if ((double)end > ns || s->event + 1 == s->events) {
			*m = (struct moment){.event = s->event,
			                     .site = s->site,
			                     .inside = ns >= (double)begin,
			                     .begin = (double)begin,
			                     .end = (double)end,
			                     .total = (double)end};
			rv = 0;
			break;
		}
		if ((!p->cursor.open && column_cursor_open_prefix(&p->cursor, t, &site->columns[site->column_count - 1],
		                                                  s->rank, s->patterns, &s->own) != 0) ||
		    column_cursor_next(&p->cursor, &next) != 0 || next == VALUE_LOSSY)
			break;
		p->visits++;
		s->event++;
		s->site = (uint32_t)next;
	}
	timeline_close(l);
	return rv;
}

int search_time(struct moment *m, const struct trace *t, uint32_t rank, double ns, struct error *error)
{
	int rv = -1;
	struct search s;
	double stretch = 1;
	*m = (struct moment){.visits = NULL};
	if (search_init(&s, t, rank, 1, error) != 0 || (rv = run_exactly(&s, ns, m, error)) < 0)
		goto done;
	if (rv == 0)
		goto found;
	rv = -1;
	search_free(&s);
	/* how long would it be with mean times, and how long was it? */
	if (search_init(&s, t, rank, 1, error) != 0 || run(&s, 1e300, m, error) != 0)
		goto done;
	const struct trace_total *elapsed = &t->total[TOTAL_ELAPSED];
	double init = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		if (trace_initializes(trace_schema(t, &t->sites[i])) && s.places[i].visits)
			init += histogram_mean(&t->sites[i].communicate) * (double)s.places[i].visits;
	uint64_t known;
	if (trace_total_get(elapsed, rank, &known) && m->total > init)
		stretch = (double)known / (m->total - init);
	double total = init + (m->total - init) * stretch;
	search_free(&s);
	if (search_init(&s, t, rank, stretch, error) != 0 || run(&s, ns, m, error) != 0)
		goto done;
	m->total = total;
found:
	rv = -1;
	m->visits = budget_malloc(((size_t)t->site_count + 1) * sizeof *m->visits);
	if (!m->visits) {
		error_set(error, "no memory");
		goto done;
	}
	for (uint32_t i = 0; i < t->site_count; i++)
		m->visits[i] = s.places[i].visits;
	rv = 0;
done:
	search_free(&s);
	return rv;
}
