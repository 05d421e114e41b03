/* SPDX-License-Identifier: BSD-3-Clause
 * cause_estimate - causes of waits in a trace that cannot be played: by the sums of sites and ranks
 *
 * How long ranks waited in the calls of a site is estimated (trace/read/wait_site.h). Of that, as much is uneven work
 * as the ranks' totals of computation differ, wherever that was; what is left is booked by the kind of the call.
 */
#include <stdlib.h>

#include "insight/cause.h"
#include "insight/cause_inside.h"
#include "trace/base/budget.h"
#include "trace/model/means.h"
#include "trace/model/mpi.h"
#include "trace/model/stream.h"
#include "trace/read/wait_site.h"

/* Calls that follow each other are looked at so far back for computation. */
#define BACK   4
#define PLACES 16
#define OWN    0.1

/* Computation before calls of a site: between the call before and it, and before the calls that lead there. */
static double computed_before(const struct trace *t, uint32_t site, unsigned back)
{
	double sum = 0;
	for (uint32_t i = 0; i < t->site_count && budget_step(1); i++) {
		const struct trace_edge *e = trace_edge_to(&t->sites[i], site);
		if (!e)
			continue;
		sum += (double)e->compute.sum;
		if (i != site && back > 1 && t->sites[i].communicate.count)
			sum += computed_before(t, i, back - 1) * (double)e->compute.count /
			       (double)t->sites[i].communicate.count;
	}
	return sum;
}

/* Nobody waits longer for computation than all the others compute. */
static double estimate_wait(const struct cause_finder *f, uint32_t site, enum wait_kind *kind)
{
	const struct trace *t = f->trace;
	const struct trace_site *s = &t->sites[site];
	double ns = (double)wait_site(t, s, &f->activity.sites[site], kind), most = f->computed_all;
	if (ns > 0 && (*kind == WAIT_COLLECTIVE || trace_schema(t, s)->at[PARAMETER_DEST] >= 0))
		most = computed_before(t, site, BACK);
	most *= t->size > 1 ? t->size - 1 : 0;
	return ns < most ? ns : most;
}

/* --- uneven work over the run --- */

static int name_ranks(struct cause *c, const struct trace *t)
{
	const struct trace_total *total = &t->total[TOTAL_COMPUTE];
	double mean = (double)total->sum / (double)total->count, longer = 0;
	uint64_t ns;
	c->ranks = budget_malloc((size_t)t->size * sizeof *c->ranks);
	for (uint32_t r = 0; c->ranks && r < t->size; r++)
		if (trace_total_get(total, r, &ns) && (double)ns > (mean + (double)total->max) / 2) {
			c->ranks[c->rank_count++] = r;
			longer += (double)ns;
		}
	if (c->ranks && c->rank_count == 0) {
		c->ranks[c->rank_count++] = stream_rank(t, total->max_rank);
		longer = (double)total->max;
	}
	if (c->ranks) {
		double others = (double)total->count - c->rank_count;
		c->ranks_ns = longer / c->rank_count;
		c->others_ns = others > 0 ? ((double)total->sum - longer) / others : 0;
	}
	return c->ranks ? 0 : -1;
}

/* How much longer than the others this part of the ranks may compute on an edge: the longest times are theirs. */
static double most_more(const struct histogram *h, double part)
{
	double longest = 0;
	for (int i = 0; i < PLACES; i++)
		longest += histogram_at(h, 1 - part * (i + 0.5) / PLACES) / PLACES;
	double more = longest - histogram_mean(h);
	return more > 0 ? more * part * (double)h->count : 0;
}

/* Before which calls may these ranks compute longer than the others? */
static void find_place(struct cause *c, const struct trace *t)
{
	double most = 0, part = (double)c->rank_count / t->size;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++) {
			const struct trace_edge *e = &t->sites[i].edges[k];
			int64_t visits;
			bool own = rankmap_size_not_zero(&t->sites[e->to].visits) == 1 && c->rank_count == 1 &&
			           rankmap_get(&t->sites[e->to].visits, c->ranks[0], &visits);
			double more = own ? (double)e->compute.sum : most_more(&e->compute, part);
			if (more <= most || !e->compute.count)
				continue;
			most = more;
			c->behind = i;
			c->site = e->to;
			c->kind = own ? CAUSE_SERIAL : CAUSE_IMBALANCE;
		}
	if (c->rank_count == 1 && c->others_ns < OWN * c->ranks_ns)
		c->kind = CAUSE_SERIAL;
}

int cause_estimate(struct cause_finder *f)
{
	const struct trace *t = f->trace;
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE];
	struct cause c = {
		.kind = CAUSE_IMBALANCE, .behind = CAUSE_NOWHERE, .site = CAUSE_NOWHERE, .wait_site = CAUSE_NOWHERE};
	double sum = f->ends_ns, most = 0,
	       uneven = (double)compute->max * (double)compute->count - (double)compute->sum;
	enum wait_kind kind;
	for (uint32_t i = 0; i < t->site_count; i++) {
		f->waited[i] = trace_initializes(trace_schema(t, &t->sites[i])) ? 0 : estimate_wait(f, i, &kind);
		sum += f->waited[i];
		if (f->waited[i] > most) {
			most = f->waited[i];
			c.wait_site = i;
		}
	}
	uneven = uneven < sum ? uneven : sum;
	if (uneven > 0) {
		c.ns = uneven;
		if (name_ranks(&c, t) != 0)
			return error_set(f->error, "no memory");
		find_place(&c, t);
		cause_add(f, &c);
	}
	for (uint32_t i = 0; i < t->site_count && sum > 0; i++) {
		if (f->waited[i] <= 0)
			continue;
		wait_site(t, &t->sites[i], &f->activity.sites[i], &kind);
		c = (struct cause){.kind = kind == WAIT_COLLECTIVE ? CAUSE_MOVING : CAUSE_SERIALISED,
		                   .ns = f->waited[i] * (1 - uneven / sum),
		                   .behind = CAUSE_NOWHERE,
		                   .site = i,
		                   .wait_site = i};
		c.busy = compute->count ? (double)compute->sum / (double)t->total[TOTAL_ELAPSED].max : 0;
		cause_add(f, &c);
	}
	return 0;
}
