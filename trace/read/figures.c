/* SPDX-License-Identifier: BSD-3-Clause
 * figures - do the figures of a trace agree with each other?
 */
#include "trace/read/figures.h"

#include <inttypes.h>

/* Extremes and sums are rounded, each for itself, where a trace is written. */
static bool at_most(double a, double b)
{
	return a <= b * (1 + 1e-2) + 16;
}

static int check_time(const struct histogram *h, uint32_t site, const char *what, struct error *error)
{
	uint64_t count = 0;
	double mean = histogram_mean(h);
	if (h->count && !(at_most((double)h->min, mean) && at_most(mean, (double)h->max)))
		return error_set(error, "site %u: the mean time %s, %.0f ns, is not between %" PRIu64 " and %" PRIu64,
		                 site, what, mean, h->min, h->max);
	for (uint32_t i = 0; i < h->bin_count; i++)
		count += h->bins[i].count;
	if (h->bin_count && count != h->count)
		return error_set(error, "site %u: the bins of the time %s have %" PRIu64 " of %" PRIu64 " values", site,
		                 what, count, h->count);
	return 0;
}

static int check_site(const struct trace *t, uint32_t number, struct error *error)
{
	const struct trace_site *s = &t->sites[number];
	uint64_t visits = (uint64_t)rankmap_sum(&s->visits), ranks = rankmap_size(&s->visits);
	double mean = ranks ? (double)s->communicate.sum / (double)ranks : 0;
	if (check_time(&s->communicate, number, "in it", error) != 0)
		return -1;
	if (s->communicate.count > visits)
		return error_set(error, "site %u: %" PRIu64 " times of %" PRIu64 " visits", number,
		                 s->communicate.count, visits);
	if (s->communicate.count == visits && !(at_most((double)s->least, mean) && at_most(mean, (double)s->most)))
		return error_set(error,
		                 "site %u: the mean of its ranks, %.0f ns, is not between %" PRIu64 " and %" PRIu64,
		                 number, mean, s->least, s->most);
	for (uint32_t k = 0; k < s->edge_count; k++)
		if (check_time(&s->edges[k].compute, number, "behind it", error) != 0)
			return -1;
	return 0;
}

static int check_totals(const struct trace *t, struct error *error)
{
	static const char *const names[TRACE_TOTALS] = {
		[TOTAL_COMPUTE] = "computation", [TOTAL_ELAPSED] = "time", [TOTAL_OVERHEAD] = "overhead"};
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE], *elapsed = &t->total[TOTAL_ELAPSED];
	double calls = 0, edges = 0;
	for (int i = 0; i < TRACE_TOTALS; i++) {
		const struct trace_total *one = &t->total[i];
		double mean = one->count ? (double)one->sum / (double)one->count : 0;
		if (one->count && !(at_most((double)one->min, mean) && at_most(mean, (double)one->max)))
			return error_set(error,
			                 "the mean %s of the ranks, %.0f ns, is not between %" PRIu64 " and %" PRIu64,
			                 names[i], mean, one->min, one->max);
	}
	for (uint32_t i = 0; i < t->site_count; i++) {
		calls += trace_initializes(trace_schema(t, &t->sites[i])) ? 0 : (double)t->sites[i].communicate.sum;
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			edges += (double)t->sites[i].edges[k].compute.sum;
	}
	double all = (double)compute->sum + calls;
	if (elapsed->count && !(at_most(all, (double)elapsed->sum) && at_most((double)elapsed->sum, all)))
		return error_set(error, "all ranks took %" PRIu64 " ns, but computation and calls are %.0f ns",
		                 elapsed->sum, all);
	if (compute->count && !at_most(edges, (double)compute->sum))
		return error_set(error, "all ranks computed for %" PRIu64 " ns, but %.0f ns are between sites",
		                 compute->sum, edges);
	return 0;
}

uint64_t figures_all(uint64_t parts, uint64_t streams, uint64_t wall)
{
	uint64_t all;
	if (__builtin_mul_overflow(streams, wall, &all))
		all = UINT64_MAX;
	return all > parts ? all : parts;
}

int figures_check(const struct trace *t, struct error *error)
{
	uint64_t visits = 0, events = (uint64_t)rankmap_sum(&t->events);
	uint64_t calls = events + (uint64_t)rankmap_sum(&t->lost);
	for (uint32_t i = 0; i < t->site_count; i++) {
		visits += (uint64_t)rankmap_sum(&t->sites[i].visits);
		if (check_site(t, i, error) != 0)
			return -1;
	}
	/* a call that is only counted may have found no memory for a site that counts it, either */
	if (visits > calls || visits < events)
		return error_set(error, "the sites have %" PRIu64 " visits, the ranks made %" PRIu64 " calls", visits,
		                 calls);
	return check_totals(t, error);
}
