/* SPDX-License-Identifier: BSD-3-Clause
 * times - how long ranks compute between two calls
 */
#include "insight/times.h"

#include "insight/together.h"
#include "trace/base/budget.h"
#include "trace/read/own_time.h"
#include "trace/read/summary.h"
#include "trace/read/timeline.h"

struct times {
	const struct trace *trace;
	bool exact;
	uint64_t seed;
	struct pattern *patterns; /* parsed when first used */
	enum together **ways;     /* by site, by edge: found out when it is first used */
	double unplaced;          /* ns before a call that no edge leads to */
};

struct rank_times {
	struct times *all;
	uint32_t rank;
	struct rank_site {
		uint64_t visits;
		struct class_times **edges; /* by edge, when it is first used */
	} * sites;
	struct timeline *exact; /* NULL: times are drawn */
	uint64_t exact_end;     /* of the last event, ns */
	struct own_time own;
	uint32_t last; /* site of the last call, or UINT32_MAX */
	double factor; /* of what is drawn (class_times_factor) */
};

struct times *times_create(const struct trace *t, bool exact, uint64_t seed)
{
	struct times *a = budget_calloc(1, sizeof *a);
	if (!a)
		return NULL;
	*a = (struct times){.trace = t, .exact = exact, .seed = seed, .unplaced = summary_unplaced_mean(t)};
	a->patterns = budget_calloc((size_t)t->patterns.count + 1, sizeof *a->patterns);
	a->ways = budget_calloc((size_t)t->site_count + 1, sizeof *a->ways);
	if (!a->patterns || !a->ways) {
		times_destroy(a);
		return NULL;
	}
	return a;
}

void times_destroy(struct times *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; a->patterns && i < a->trace->patterns.count; i++)
		pattern_free(&a->patterns[i]);
	for (uint32_t i = 0; a->ways && i < a->trace->site_count; i++)
		budget_free(a->ways[i]);
	budget_free(a->patterns);
	budget_free(a->ways);
	budget_free(a);
}

/* NULL: no memory. */
static enum together *way_of(struct times *a, uint32_t from, uint32_t edge)
{
	const uint32_t count = a->trace->sites[from].edge_count;
	if (!a->ways[from] && (a->ways[from] = budget_malloc(count * sizeof **a->ways)))
		for (uint32_t i = 0; i < count; i++)
			a->ways[from][i] = TOGETHER_WAYS;
	return a->ways[from] ? &a->ways[from][edge] : NULL;
}

/* NULL: no memory. */
static struct class_times *edge_times(struct rank_times *r, uint32_t from, const struct trace_edge *e)
{
	struct times *a = r->all;
	const struct trace_site *s = &a->trace->sites[from];
	struct rank_site *site = &r->sites[from];
	uint32_t number = (uint32_t)(e - s->edges);
	enum together *way = way_of(a, from, number);
	if (!site->edges)
		site->edges = budget_calloc(s->edge_count, sizeof *site->edges);
	if (!site->edges || !way)
		return NULL;
	if (!site->edges[number])
		site->edges[number] = together_drawn(a->trace, s, e, r->rank, a->seed, a->patterns, way);
	return site->edges[number];
}

void rank_times_prepare(struct rank_times *r)
{
	const struct trace *t = r->all->trace;
	int64_t visits;
	for (uint32_t i = 0; i < t->site_count && !r->exact; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++) {
			const struct trace_edge *e = &t->sites[i].edges[k];
			if (e->compute.count && rankmap_get(&t->sites[i].visits, r->rank, &visits) &&
			    rankmap_get(&t->sites[e->to].visits, r->rank, &visits))
				edge_times(r, i, e);
		}
}

struct rank_times *rank_times_create(struct times *a, uint32_t rank)
{
	bool none;
	struct rank_times *r = budget_calloc(1, sizeof *r);
	if (!r)
		return NULL;
	*r = (struct rank_times){.all = a, .rank = rank, .last = UINT32_MAX, .factor = 1};
	r->sites = budget_calloc((size_t)a->trace->site_count + 1, sizeof *r->sites);
	if (!r->sites) {
		rank_times_destroy(r);
		return NULL;
	}
	if (a->exact)
		r->exact = timeline_open(a->trace, rank, &none);
	own_time_begin(&r->own, a->trace, rank);
	if (!r->exact)
		r->factor = class_times_factor(a->trace, rank);
	return r;
}

void rank_times_destroy(struct rank_times *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; r->sites && i < r->all->trace->site_count; i++) {
		for (uint32_t k = 0; r->sites[i].edges && k < r->all->trace->sites[i].edge_count; k++)
			class_times_destroy(r->sites[i].edges[k]);
		budget_free(r->sites[i].edges);
	}
	timeline_close(r->exact);
	budget_free(r->sites);
	budget_free(r);
}

static double draw_time(struct rank_times *r, uint32_t to)
{
	const struct trace_edge *e = trace_edge_to(&r->all->trace->sites[r->last], to);
	if (!e || e->compute.count == 0)
		return r->all->unplaced;
	struct class_times *times = edge_times(r, r->last, e);
	return times ? class_times_next(times, r->sites[to].visits, r->factor) : histogram_mean(&e->compute);
}

double rank_times_before(struct rank_times *r, uint32_t site)
{
	uint64_t begin, end;
	double ns = 0;
	if (r->exact && timeline_next(r->exact, site, &begin, &end) != 0) {
		timeline_close(r->exact);
		r->exact = NULL;
	}
	if (r->last != UINT32_MAX)
		ns = r->exact ? own_time_without(&r->own, (double)(begin - r->exact_end)) : draw_time(r, site);
	r->exact_end = r->exact ? end : 0;
	r->last = site;
	r->sites[site].visits++;
	return ns;
}
