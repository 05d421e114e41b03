/* SPDX-License-Identifier: BSD-3-Clause
 * cause_estimate - causes of waits in a trace that cannot be played: by what each rank computes between calls in which
 * all ranks meet
 *
 * Each site belongs to the phase that ends with the calls of one site that all ranks come to, and in which they wait
 * for others: the first one on the way from it. How long ranks waited in the calls of a phase is estimated
 * (trace/read/wait_site.h; calls with a root, too). What it was for is taken for one of these, in this order, until all
 * of it is explained:
 *
 *     uneven    the rank that computes most in the phase computes so much longer than the others
 *     moving    so much longer than the mean is the longest of as many computations as there are ranks, drawn from
 *               those before calls of a site
 *     turn      what else is waited for
 *
 * It is then booked as if it had been played (blame.h).
 */
#include <math.h>
#include <stdlib.h>

#include "insight/blame.h"
#include "insight/cause.h"
#include "insight/cause_inside.h"
#include "insight/class_times.h"
#include "trace/base/budget.h"
#include "trace/model/means.h"
#include "trace/model/mpi.h"
#include "trace/model/stream.h"
#include "trace/read/summary.h"
#include "trace/read/wait_site.h"

/* Draws of a histogram. */
#define PLACES 64
/* The longest of some draws may come to so many times of what is expected, where exactly one is long each time. */
#define MOVING_MOST 1.6
/* Waits for what moves, if it explains this part of them. */
#define MOVING_PART 0.5
/* Ranks compute in turn, if so many of them compute at a time, and no more. */
#define TURN_BUSY 1.15
/* What is uneven by chance: so many standard deviations of a sum. */
#define CHANCE 3.0
/* Calls that take so much longer than their least are no waits. */
#define WAIT_LEAST (2.0 * WAIT_LATENCY)

struct estimate {
	struct cause_finder *f;
	struct blame blame; /* parts: by site */
	size_t capacity;
	uint32_t *phase;     /* by site: the site that ends it; site_count: the end of the run */
	double *wait;        /* by site */
	double *longest;     /* by site: how much longer than the mean is the longest of each visit */
	double *chance;      /* by site: variance of what a rank computes before its calls */
	double *own, *means; /* by rank: what it computes in a phase; by site: what ranks compute before its calls */
};

/* --- how long ranks waited --- */

static bool is_blocking_collective(const struct mpi_function *m)
{
	return m->class == MPI_CLASS_COLLECTIVE && m->form == FORM_BLOCKING;
}

/* Time of calls that took longer than what they move explains, above that. */
static double above_least(const struct trace_site *s, uint64_t bytes)
{
	const struct histogram *h = &s->communicate;
	double each = (double)bytes / (double)h->count, least = (double)h->min, sum = 0;
	if (least > WAIT_LATENCY + each)
		least = WAIT_LATENCY + each;
	for (int i = 0; i < PLACES; i++) {
		double ns = histogram_at(h, (i + 0.5) / PLACES);
		sum += ns > least + WAIT_LEAST + each ? ns - least : 0;
	}
	return sum / PLACES * (double)h->count;
}

static double estimate_wait(const struct cause_finder *f, uint32_t site)
{
	const struct trace *t = f->trace;
	const struct trace_site *s = &t->sites[site];
	const struct activity *a = &f->activity.sites[site];
	const struct schema *schema = trace_schema(t, s);
	enum wait_kind kind;
	if (trace_initializes(schema) || !s->communicate.count || summary_ranks(s) < 1)
		return 0;
	bool waits = wait_site(t, s, a, &kind) > 0 || is_blocking_collective(schema->mpi);
	double ns = waits ? above_least(s, a->bytes) : 0;
	/* nobody waits longer for computation than all the others compute */
	return fmin(ns, f->computed_all * (t->size > 1 ? t->size - 1 : 0));
}

/* --- phases --- */

/* A call that all ranks come to, and that nobody leaves before the others came, or one of them. */
static bool ends_phase(const struct trace *t, uint32_t site)
{
	const struct trace_site *s = &t->sites[site];
	const struct schema *schema = trace_schema(t, s);
	if (!is_blocking_collective(schema->mpi) || summary_ranks(s) < t->size)
		return false;
	return schema->mpi->waits == WAITS_FOR_ALL || schema->mpi->function == FN_MPI_Bcast ||
	       schema->mpi->function == FN_MPI_Scatter || schema->mpi->function == FN_MPI_Scatterv;
}

/* From the ends backwards, one call at a time: a site is in the phase that it is nearest to. */
static void find_phases(struct estimate *x)
{
	const struct trace *t = x->f->trace;
	bool more = true;
	for (uint32_t i = 0; i < t->site_count; i++)
		x->phase[i] = ends_phase(t, i) ? i : CAUSE_NOWHERE;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < t->site_count && budget_step(t->sites[i].edge_count); i++) {
			uint64_t most = 0;
			if (x->phase[i] != CAUSE_NOWHERE)
				continue;
			for (uint32_t k = 0; k < t->sites[i].edge_count; k++) {
				const struct trace_edge *e = &t->sites[i].edges[k];
				if (x->phase[e->to] == CAUSE_NOWHERE || e->compute.count <= most)
					continue;
				most = e->compute.count;
				x->phase[i] = x->phase[e->to];
				more = true;
			}
		}
	}
	for (uint32_t i = 0; i < t->site_count; i++)
		if (x->phase[i] == CAUSE_NOWHERE)
			x->phase[i] = t->site_count;
}

/* --- what ranks computed --- */

/* Visits of an edge by a rank: its part of the visits of the site that it leads to, of ranks that come from the other
 * one. */
static double edge_visits(const struct trace *t, uint32_t from, const struct trace_edge *e, uint32_t rank, double all)
{
	int64_t before, visits;
	if (all <= 0 || !rankmap_get(&t->sites[from].visits, rank, &before) || before <= 0 ||
	    !rankmap_get(&t->sites[e->to].visits, rank, &visits))
		return 0;
	return (double)e->compute.count * (double)visits / all;
}

static double all_visits(const struct trace *t, uint32_t from, const struct trace_edge *e)
{
	double all = 0;
	int64_t before, visits;
	for (uint64_t r = 0; rankmap_next(&t->sites[e->to].visits, &r, &visits) && budget_step(1); r++)
		if (rankmap_get(&t->sites[from].visits, (uint32_t)r, &before) && before > 0)
			all += (double)visits;
	return all;
}

/* The parts of an edge, one for each rank that takes it; their sum is that of the edge. */
static int add_edge(struct estimate *x, uint32_t from, const struct trace_edge *e)
{
	const struct trace *t = x->f->trace;
	double all = all_visits(t, from, e), sum = 0;
	size_t first = x->blame.part_count;
	for (uint32_t r = 0; r < t->size && budget_step(1); r++) {
		double visits = edge_visits(t, from, e, r, all);
		if (visits <= 0)
			continue;
		if (x->blame.part_count == x->capacity) {
			size_t more = x->capacity * 2 + 64;
			struct blame_part *bigger = budget_realloc(x->blame.parts, more * sizeof *bigger);
			if (!bigger)
				return -1;
			x->blame.parts = bigger;
			x->capacity = more;
		}
		double mean = class_times_mean(t, e, r, (uint64_t)ceil(visits));
		x->blame.parts[x->blame.part_count++] = (struct blame_part){.behind = from,
		                                                            .site = e->to,
		                                                            .rank = r,
		                                                            .ns = (uint64_t)(mean * visits),
		                                                            .visits = (uint64_t)ceil(visits),
		                                                            .squares = mean * mean * visits};
		sum += mean * visits;
	}
	for (size_t i = first; sum > 0 && i < x->blame.part_count; i++)
		x->blame.parts[i].ns = (uint64_t)((double)x->blame.parts[i].ns * (double)e->compute.sum / sum);
	return 0;
}

/* How much longer than the mean the longest of `n` draws is: the mean of the place's n-th power. */
static double longest_of(const struct histogram *h, double n)
{
	double sum = 0;
	for (int i = 0; i < PLACES; i++)
		sum += histogram_at(h, pow((i + 0.5) / PLACES, 1 / n)) / PLACES;
	return sum > histogram_mean(h) ? sum - histogram_mean(h) : 0;
}

static void sum_site(struct estimate *x, uint32_t site)
{
	const struct trace *t = x->f->trace;
	double ranks = (double)summary_ranks(&t->sites[site]);
	for (uint32_t i = 0; i < t->site_count && ranks > 1 && budget_step(1); i++) {
		const struct trace_edge *e = trace_edge_to(&t->sites[i], site);
		if (!e || !e->compute.count)
			continue;
		double deviation = histogram_deviation(&e->compute);
		x->longest[site] += longest_of(&e->compute, ranks) * (double)e->compute.count;
		x->chance[site] += deviation * deviation * (double)e->compute.count / ranks;
	}
}

static int find_computation(struct estimate *x)
{
	const struct trace *t = x->f->trace;
	for (uint32_t site = 0; site < t->site_count; site++) {
		for (uint32_t i = 0; i < t->site_count && budget_step(1); i++) {
			const struct trace_edge *e = trace_edge_to(&t->sites[i], site);
			if (e && e->compute.count && !trace_initializes(trace_schema(t, &t->sites[site])) &&
			    add_edge(x, i, e) != 0)
				return -1;
		}
		sum_site(x, site);
	}
	return 0;
}

/* --- what they waited for --- */

/* A phase: what ranks compute in it, how long they wait. */
struct phase {
	uint32_t end;
	double wait, most, sum, chance, longest;
	uint32_t longest_site;
};

static void sum_phase(struct estimate *x, struct phase *p)
{
	const struct trace *t = x->f->trace;
	for (uint32_t r = 0; r < t->size; r++)
		x->own[r] = 0;
	for (uint32_t i = 0; i < t->site_count; i++) {
		x->means[i] = 0;
		if (x->phase[i] != p->end)
			continue;
		p->wait += x->wait[i];
		p->chance += x->chance[i];
		if (x->longest[i] > x->longest[p->longest_site] || x->phase[p->longest_site] != p->end)
			p->longest_site = i;
		p->longest += x->longest[i];
	}
	for (size_t i = 0; i < x->blame.part_count; i++) {
		const struct blame_part *part = &x->blame.parts[i];
		if (x->phase[part->site] != p->end)
			continue;
		x->own[part->rank] += (double)part->ns;
		x->means[part->site] += (double)part->ns / t->size;
	}
	for (uint32_t r = 0; r < t->size; r++) {
		p->most = fmax(p->most, x->own[r]);
		p->sum += x->own[r];
	}
}

/* What a rank computes before the calls of a site: parts from i on. *end: the next site, or rank. */
static double rank_before(const struct estimate *x, size_t i, size_t *end)
{
	const struct blame_part *p = x->blame.parts;
	double ns = 0;
	for (*end = i; *end < x->blame.part_count && p[*end].site == p[i].site && p[*end].rank == p[i].rank; ++*end)
		ns += (double)p[*end].ns;
	return ns;
}

/* On what ranks that compute more than the mean do more than the mean. */
static void book_uneven(struct estimate *x, const struct phase *p, double ns)
{
	double mean = p->sum / x->f->trace->size, sum = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0, end; i < x->blame.part_count; i = end) {
			const struct blame_part *first = &x->blame.parts[i];
			double own = rank_before(x, i, &end), more = own - x->means[first->site];
			if (x->phase[first->site] != p->end || x->own[first->rank] <= mean || more <= 0)
				continue;
			more *= x->own[first->rank] - mean;
			if (pass == 0)
				sum += more;
			for (size_t k = i; pass == 1 && k < end; k++)
				x->blame.parts[k].uneven_ns += ns * more / sum * (double)x->blame.parts[k].ns / own;
		}
}

/* On all that is computed in the phase, or before calls of one site. A length of more than all visits have says that
 * only the longest ones are waited for (book_place). */
static void book_rest(struct estimate *x, const struct phase *p, double ns, uint32_t site)
{
	double sum = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < x->blame.part_count; i++) {
			struct blame_part *part = &x->blame.parts[i];
			if (x->phase[part->site] != p->end || (site != CAUSE_NOWHERE && part->site != site) ||
			    !part->ns)
				continue;
			if (pass == 0)
				sum += (double)part->ns;
			else
				part->turn_ns += ns * (double)part->ns / sum;
			part->length_ns = site == CAUSE_NOWHERE ? 0 : 4 * part->squares / (double)part->ns;
		}
}

static void book_phase(struct estimate *x, uint32_t end, double waits)
{
	const struct trace *t = x->f->trace;
	struct phase p = {.end = end};
	sum_phase(x, &p);
	p.wait *= waits;
	double uneven = p.most * t->size - p.sum, moving = fmax(0, p.longest - uneven);
	if (uneven < CHANCE * sqrt(p.chance) * t->size && p.longest > 2 * uneven) {
		uneven = 0;
		moving = p.longest;
	}
	uneven = fmin(uneven, p.wait);
	if (uneven > 0)
		book_uneven(x, &p, uneven);
	double rest = p.wait - uneven, busy = p.wait + p.sum > 0 ? p.sum * t->size / (p.wait + p.sum) : 0;
	if (rest <= 0 || p.sum <= 0)
		return;
	moving = busy <= TURN_BUSY ? 0 : fmin(rest, MOVING_MOST * moving);
	moving = moving > MOVING_PART * rest ? rest : moving;
	/* each place has either */
	book_rest(x, &p, rest, moving > rest / 2 ? p.longest_site : CAUSE_NOWHERE);
}

static int by_site_rank(const void *a, const void *b)
{
	const struct blame_part *x = a, *y = b;
	if (x->site != y->site)
		return x->site > y->site ? 1 : -1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? 1 : -1;
	return (x->behind > y->behind) - (x->behind < y->behind);
}

/* Where most of it is waited: in the phase. */
static int note_waits(struct estimate *x)
{
	const struct trace *t = x->f->trace;
	x->blame.waits = budget_calloc((size_t)t->site_count + 1, sizeof *x->blame.waits);
	if (!x->blame.waits)
		return -1;
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct blame_wait w = {i, CAUSE_NOWHERE, 0};
		for (uint32_t k = 0; k < t->site_count && budget_step(1); k++)
			if (x->phase[k] == x->phase[i] && x->wait[k] > w.ns) {
				w.ns = x->wait[k];
				w.wait_site = k;
			}
		x->blame.waits[x->blame.wait_count++] = w;
	}
	return 0;
}

static bool estimate_room(struct estimate *x)
{
	const size_t sites = (size_t)x->f->trace->site_count + 1;
	x->phase = budget_calloc(sites, sizeof *x->phase);
	x->wait = budget_calloc(sites, sizeof *x->wait);
	x->longest = budget_calloc(sites, sizeof *x->longest);
	x->chance = budget_calloc(sites, sizeof *x->chance);
	x->means = budget_calloc(sites, sizeof *x->means);
	x->own = budget_calloc((size_t)x->f->trace->size + 1, sizeof *x->own);
	return x->phase && x->wait && x->longest && x->chance && x->means && x->own;
}

static int estimate_all(struct estimate *x)
{
	struct cause_finder *f = x->f;
	const struct trace *t = f->trace;
	double sum = 0;
	if (find_computation(x) != 0)
		return -1;
	if (x->blame.part_count)
		qsort(x->blame.parts, x->blame.part_count, sizeof *x->blame.parts, by_site_rank);
	find_phases(x);
	for (uint32_t i = 0; i < t->site_count; i++) {
		f->waited[i] = x->wait[i] = estimate_wait(f, i);
		sum += x->wait[i];
	}
	for (uint32_t i = 0; i <= t->site_count; i++) /* at their ends ranks wait as they do before */
		if (i == t->site_count || x->phase[i] == i)
			book_phase(x, i, sum > 0 ? 1 + f->ends_ns / sum : 1);
	cause_computed(f, &x->blame);
	f->busy = t->total[TOTAL_ELAPSED].max ? f->computed_all / (double)t->total[TOTAL_ELAPSED].max : 0;
	return note_waits(x) == 0 ? cause_places(f, &x->blame) : -1;
}

int cause_estimate(struct cause_finder *f)
{
	struct estimate x = {.f = f};
	int rv = estimate_room(&x) ? estimate_all(&x) : -1;
	blame_free(&x.blame);
	budget_free(x.phase);
	budget_free(x.wait);
	budget_free(x.longest);
	budget_free(x.chance);
	budget_free(x.means);
	budget_free(x.own);
	return rv == 0 ? 0 : error_set(f->error, "no memory");
}
