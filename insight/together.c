/* SPDX-License-Identifier: BSD-3-Clause
 * together - did the ranks compute for long in the same visits of an edge, or each in others?
 */
#include "insight/together.h"

#include <math.h>

#include "trace/base/index.h"
#include "trace/read/summary.h"

/* More of them would tell no more. */
#define RANKS_MOST  16
#define VISITS_MOST 256
/* What varies by less than this part of its mean, or takes less than this part of all time, changes no replay. */
#define VARIES 0.05
#define PART   1e-3
/* Another way must be nearer by this part of the mean. */
#define SURE 0.01
/* Calls between the computation and the one that waits for it. */
#define PATH_MOST 64
/* In calls that wait for messages, the least time of a site may be a wait as well. */
#define LATENCY 50000.0

static const struct trace_edge *most_frequent(const struct trace_site *s)
{
	const struct trace_edge *best = NULL;
	for (uint32_t i = 0; i < s->edge_count; i++)
		if (!best || s->edges[i].compute.count > best->compute.count)
			best = &s->edges[i];
	return best;
}

/* ---- what is drawn ---- */

struct drawing {
	const struct trace *trace;
	const struct trace_site *from;
	const struct trace_edge *edge;
	struct pattern *patterns;
	uint64_t seed;
};

/* The first one that came back from the site. */
static uint32_t first_rank(const struct trace_site *s)
{
	uint64_t rank = 0;
	int64_t visits = 0;
	while (rankmap_next(&s->visits, &rank, &visits) && visits == 0)
		rank++;
	return (uint32_t)rank;
}

static struct class_times *draw_way(const struct drawing *d, enum together way, uint32_t rank)
{
	uint64_t seed = hash_four(d->seed, way == TOGETHER_NOT ? rank + UINT64_C(1) : 0,
	                          (uint64_t)(d->from - d->trace->sites), d->edge->to);
	return way == TOGETHER_CLASSES
	               ? class_times_create_like(d->trace, d->edge, rank, first_rank(d->from), seed, d->patterns)
	               : class_times_create(d->trace, d->edge, rank, seed, d->patterns);
}

/* For whom the rank waits: all, or its neighbours. */
static double longest_of(const double *ns, uint32_t ranks, uint32_t rank, bool all)
{
	double longest = ns[rank];
	for (uint32_t i = 0; i < ranks; i++)
		if (all || i == (rank + 1) % ranks || rank == (i + 1) % ranks)
			longest = ns[i] > longest ? ns[i] : longest;
	return longest;
}

/* Some of the ranks that come from the site, the one that computes most among them. Returns how many. */
static uint32_t some_ranks(const struct drawing *d, uint32_t ranks[RANKS_MOST])
{
	const uint64_t all = summary_ranks(d->from), step = all > RANKS_MOST ? all / RANKS_MOST : 1;
	uint32_t count = 0;
	int64_t visits;
	uint64_t n = 0;
	for (uint64_t r = 0; count < RANKS_MOST && rankmap_next(&d->from->visits, &r, &visits); r++) {
		if (visits > 0 && (n % step == 0 || r == d->trace->total[TOTAL_COMPUTE].max_rank))
			ranks[count++] = (uint32_t)r;
		n += visits > 0;
	}
	return count;
}

/* ns of one rank and visit. */
static double drawn_wait(const struct drawing *d, enum together way, bool all)
{
	struct class_times *times[RANKS_MOST];
	uint32_t ranks[RANKS_MOST], n = some_ranks(d, ranks);
	double ns[RANKS_MOST], sum = 0;
	const uint64_t from = summary_ranks(d->from); /* any number, if there is no memory */
	uint64_t visits = d->edge->compute.count / (from < UINT64_MAX ? from + 1 : from) + 1;
	visits = visits < VISITS_MOST ? visits : VISITS_MOST;
	for (uint32_t i = 0; i < n; i++)
		times[i] = draw_way(d, way, ranks[i]);
	for (uint64_t v = 0; v < visits; v++) {
		for (uint32_t i = 0; i < n; i++)
			ns[i] = times[i] ? class_times_next(times[i], UINT64_MAX, 1) : 0;
		for (uint32_t i = 0; i < n; i++)
			sum += longest_of(ns, n, i, all) - ns[i];
	}
	for (uint32_t i = 0; i < n; i++)
		class_times_destroy(times[i]);
	return n ? sum / n / (double)visits : 0;
}

/* ---- what was recorded, and what is nearest to it ---- */

/* The wait in all calls of a site that waits for all, but those to which ranks come from another site than this one.
 * What ranks wait for that come from elsewhere, such as from MPI_Init, is as much as they compute there for different
 * times. */
static double wait_for_all(const struct drawing *d, uint32_t from, uint32_t to)
{
	const struct trace *t = d->trace;
	const struct histogram *h = &t->sites[to].communicate;
	double sum = (double)h->sum - (double)h->count * summary_without_wait(&t->sites[to]);
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct drawing other = *d;
		other.from = &t->sites[i];
		other.edge = i == from ? NULL : trace_edge_to(other.from, to);
		if (other.edge &&
		    (double)other.edge->compute.count * histogram_deviation(&other.edge->compute) > SURE * sum)
			sum -= (double)other.edge->compute.count * drawn_wait(&other, TOGETHER_NOT, true);
	}
	return sum > 0 ? sum : 0;
}

/* The wait in the calls that follow a computation, ns of one rank and visit, up to one that waits for all or to another
 * computation that is half as long. *all: there is one that waits for all. */
static double recorded_wait(const struct drawing *d, bool *all)
{
	const struct trace *t = d->trace;
	const struct trace_edge *e = d->edge, *next = e;
	uint32_t from = (uint32_t)(d->from - t->sites);
	double sum = 0;
	*all = false;
	for (int n = 0; n < PATH_MOST && next && !*all; n++) {
		const struct trace_site *s = &t->sites[next->to];
		const struct mpi_function *f = trace_schema(t, s)->mpi;
		const struct histogram *h = &s->communicate;
		*all = f->waits == WAITS_FOR_ALL;
		if (h->count && *all)
			sum += wait_for_all(d, from, next->to);
		else if (h->count && f->waits != WAITS_NOT)
			sum += (double)h->sum - (double)h->count * fmin((double)h->min, LATENCY);
		from = next->to;
		next = most_frequent(s);
		if (next && 2 * next->compute.sum > e->compute.sum)
			break;
	}
	return sum / (double)e->compute.count;
}

/* How far a way is from what was recorded. A call that takes longer than others, but without a wait, is taken for one.
 * So what is drawn is more likely too much than too little. */
static double distance(double drawn, double recorded)
{
	return drawn > recorded ? 2 * (drawn - recorded) : recorded - drawn;
}

static enum together find_way(const struct drawing *d)
{
	const struct trace_edge *e = d->edge;
	const struct histogram *h = &e->compute;
	enum together best = TOGETHER_NOT;
	bool all;
	if (h->count == 0 || histogram_deviation(h) < VARIES * histogram_mean(h) ||
	    (double)h->sum < PART * (double)d->trace->total[TOTAL_ELAPSED].sum)
		return best;
	double recorded = recorded_wait(d, &all), least = distance(drawn_wait(d, best, all), recorded);
	for (int way = TOGETHER_PLACE; way < TOGETHER_WAYS; way++) {
		double off = distance(drawn_wait(d, (enum together)way, all), recorded);
		if (off + SURE * histogram_mean(h) < least) {
			best = (enum together)way;
			least = off;
		}
	}
	return best;
}

struct class_times *together_drawn(const struct trace *t, const struct trace_site *from, const struct trace_edge *e,
                                   uint32_t rank, uint64_t seed, struct pattern *patterns, enum together *way)
{
	struct drawing d = {.trace = t, .from = from, .edge = e, .patterns = patterns, .seed = seed};
	if (*way == TOGETHER_WAYS)
		*way = find_way(&d);
	return draw_way(&d, *way, rank);
}

struct class_times *together_times(const struct trace *t, const struct trace_site *from, const struct trace_edge *e,
                                   uint32_t rank, uint64_t seed, struct pattern *patterns)
{
	enum together way = TOGETHER_WAYS;
	return together_drawn(t, from, e, rank, seed, patterns, &way);
}
