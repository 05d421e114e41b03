/* SPDX-License-Identifier: BSD-3-Clause
 * successors - do the successors of a rank lead through all of its events?
 */
#include "trace/read/successors.h"

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/model/cursor.h"
#include "trace/model/pattern.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

#define NOBODY     UINT32_MAX
#define WALKED_MAX 65536 /* events */

/* What is known of a site, in the rank at hand. */
struct stop {
	uint64_t visits, entered, left;
	uint32_t last; /* where its last edge leads; NOBODY: it has none */
	bool constant; /* all of its edges lead there: how many there are is not known */
	bool reaches;  /* the last site, by last edges */
};

struct successors {
	const struct trace *trace;
	uint32_t stream;
	struct stop *stops;
	struct pattern *patterns;
	struct pool own;
	bool unordered;
};

/* Can the other columns be read? */
static int read_columns(struct successors *x, uint32_t site)
{
	const struct trace_site *s = &x->trace->sites[site];
	int rv = 0;
	for (uint32_t k = 0; rv == 0 && k + 1 < s->column_count; k++) {
		struct column_cursor c = {0};
		rv = column_cursor_open(&c, x->trace, &s->columns[k], x->stream, x->patterns, &x->own);
		if (rv == 0 && c.edited)
			rv = column_cursor_skip(&c, x->stops[site].visits);
		else if (rv == 0 && !c.constant && pattern_length(c.pattern.pattern) < x->stops[site].visits)
			rv = 1;
		column_cursor_close(&c);
	}
	return rv;
}

/* Where the edges of a site lead. */
static int read_edges(struct successors *x, uint32_t site)
{
	const struct trace_site *s = &x->trace->sites[site];
	struct stop *stop = &x->stops[site];
	struct column_cursor c = {0};
	uint64_t *counts = NULL;
	int rv = column_cursor_open(&c, x->trace, &s->columns[s->column_count - 1], x->stream, x->patterns, &x->own);
	if (rv == 0 && c.constant) {
		x->unordered |= c.dict[0].start == VALUE_LOSSY;
		stop->constant = true;
		stop->last = x->unordered ? NOBODY : (uint32_t)c.dict[0].start;
	} else if (rv == 0) {
		const struct pattern *p = c.pattern.pattern;
		stop->left = pattern_length(p);
		stop->last = (uint32_t)c.dict[pattern_last(p)].start; /* sites are single values */
		counts = budget_malloc(c.count * sizeof *counts);
		rv = counts ? pattern_count(p, counts) : -1;
		for (uint32_t i = 0; rv == 0 && i < c.count; i++)
			x->stops[c.dict[i].start].entered += counts[i];
	}
	budget_free(counts);
	column_cursor_close(&c);
	return rv < 0 ? -1 : 0;
}

/* The last site: the one that is left once less than it is visited. A constant column does not say how long it is; if
 * no other site is the last one, one of these is, and where it leads to is entered once too often. All sites have last
 * edges then, and what these lead to is one circle: it is closed by the edge that there is none of. */
static uint32_t find_last(const struct successors *x)
{
	uint32_t target = NOBODY;
	for (uint32_t i = 0; i < x->trace->site_count; i++)
		if (!x->stops[i].constant && x->stops[i].left + 1 == x->stops[i].visits)
			return i;
	for (uint32_t i = 0; i < x->trace->site_count; i++)
		if (x->stops[i].entered == x->stops[i].visits + 1)
			target = i;
	uint32_t at = target, steps = 0;
	while (at != NOBODY && x->stops[at].last != target && steps++ < x->trace->site_count)
		at = x->stops[at].last;
	return at != NOBODY && x->stops[at].last == target && x->stops[at].constant ? at : NOBODY;
}

/* Follows last edges from each site; what was found for one holds for all on the way. */
static bool all_reach(struct successors *x, uint32_t last)
{
	uint32_t sites = x->trace->site_count;
	x->stops[last].reaches = true;
	for (uint32_t i = 0; i < sites; i++) {
		uint32_t at = i, steps = 0;
		if (x->stops[i].visits == 0)
			continue;
		while (!x->stops[at].reaches && steps++ < sites && x->stops[at].last != NOBODY)
			at = x->stops[at].last;
		if (!x->stops[at].reaches)
			return false;
		for (at = i; !x->stops[at].reaches; at = x->stops[at].last)
			x->stops[at].reaches = true;
	}
	return true;
}

/* Where some edges are in no order a walk ends early. Up to there it is tried, if it is not far. */
static bool is_walkable(const struct trace *t, uint32_t stream)
{
	struct walk *w = NULL;
	struct event e;
	int rv = walk_begin(&w, t, stream, NULL);
	for (uint32_t i = 0; rv == 0 && i < WALKED_MAX; i++)
		rv = walk_next(w, &e, NULL);
	walk_end(w);
	return rv >= 0;
}

static bool is_whole(struct successors *x, uint32_t first)
{
	uint32_t sites = x->trace->site_count, last;
	x->stops[first].entered++;
	for (uint32_t i = 0; i < sites; i++)
		if (x->stops[i].constant)
			x->stops[x->stops[i].last].entered += x->stops[i].left = x->stops[i].visits;
	last = find_last(x);
	if (last == NOBODY)
		return false;
	if (x->stops[last].constant) {
		x->stops[x->stops[last].last].entered--;
		x->stops[last].left--;
	}
	for (uint32_t i = 0; i < sites; i++)
		if (x->stops[i].entered != x->stops[i].visits || x->stops[i].left + (i == last) != x->stops[i].visits)
			return false;
	return all_reach(x, last);
}

int successors_check(const struct trace *t, uint32_t stream, struct error *error)
{
	struct successors x = {.trace = t,
	                       .stream = stream,
	                       .stops = budget_calloc(t->site_count + UINT64_C(1), sizeof *x.stops),
	                       .patterns = budget_calloc(t->patterns.count + UINT64_C(1), sizeof *x.patterns)};
	int64_t events = 0, first = 0, visits;
	uint64_t sum = 0;
	int rv = x.stops && x.patterns ? 0 : -1;
	bool whole = rv == 0 && rankmap_get(&t->events, stream, &events) &&
	             (events == 0 || rankmap_get(&t->first, stream, &first));
	for (uint32_t i = 0; whole && rv == 0 && events > 0 && i < t->site_count; i++) {
		x.stops[i].last = NOBODY;
		if (!rankmap_get(&t->sites[i].visits, stream, &visits) || visits == 0)
			continue; /* it was only entered */
		whole = visits >= 0;
		x.stops[i].visits = (uint64_t)visits;
		sum += (uint64_t)visits;
		rv = read_columns(&x, i);
		whole = rv == 0;
		if (whole)
			rv = read_edges(&x, i);
	}
	if (whole && rv == 0 && events > 0)
		whole = x.unordered ? is_walkable(t, stream) : sum == (uint64_t)events && is_whole(&x, (uint32_t)first);
	for (uint32_t i = 0; x.patterns && i < t->patterns.count; i++)
		pattern_free(&x.patterns[i]);
	budget_free(x.patterns);
	budget_free(x.stops);
	pool_free(&x.own);
	return whole && rv == 0
	               ? 0
	               : error_set(error, "rank %u: its calls do not follow on each other, or there is no memory",
	                           stream_rank(t, stream));
}
