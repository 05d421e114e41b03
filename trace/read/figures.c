/* SPDX-License-Identifier: BSD-3-Clause
 * figures - do the figures of a trace agree with each other?
 */
#include "trace/read/figures.h"

#include <inttypes.h>

#include "trace/model/unended.h"
#include "trace/read/summary.h"
#include "trace/read/wait_site.h"

/* Half a level of the coarsest totals of single ranks (doc/trace-format.md). */
#define LEVELS 14

/* Extremes and sums are rounded, each for itself, where a trace is written. */
static bool at_most(double a, double b)
{
	return a <= b * (1 + 1e-2) + 16;
}

static bool is_between(double least, double value, double most)
{
	return at_most(least, value) && at_most(value, most);
}

static bool is_about(double a, double b)
{
	return is_between(a, b, a);
}

static bool is_of(const struct rankmap *set, uint32_t rank)
{
	int64_t unused;
	return rankmap_get(set, rank, &unused);
}

static int check_bins(const struct histogram *h, uint32_t site, const char *what, struct error *error)
{
	uint64_t count = 0;
	double sum = 0, rounding = 0; /* the mean of a bin is rounded to a part of its range */
	for (uint32_t i = 0; i < h->bin_count; i++) {
		const struct histogram_bin *b = &h->bins[i];
		count += b->count;
		sum += (double)b->sum;
		rounding += (double)b->count * ((double)(b->max - b->min) / 64 + 1);
	}
	if (h->bin_count && count != h->count)
		return error_set(error, "site %u: the bins of the time %s have %" PRIu64 " of %" PRIu64 " values", site,
		                 what, count, h->count);
	if (h->bin_count && !is_between(sum - rounding, (double)h->sum, sum + rounding))
		return error_set(error, "site %u: the bins of the time %s have %.0f of %" PRIu64 " ns", site, what, sum,
		                 h->sum);
	return 0;
}

/* of: the ranks that may have it. */
static int check_time(const struct histogram *h, const struct rankmap *of, uint32_t site, const char *what,
                      struct error *error)
{
	double mean = histogram_mean(h);
	if (!h->count)
		return 0;
	if (!is_between((double)h->min, mean, (double)h->max))
		return error_set(error, "site %u: the mean time %s, %.0f ns, is not between %" PRIu64 " and %" PRIu64,
		                 site, what, mean, h->min, h->max);
	if (h->max > h->sum)
		return error_set(error, "site %u: the longest time %s, %" PRIu64 " ns, is more than all, %" PRIu64,
		                 site, what, h->max, h->sum);
	if (!is_of(of, h->min_rank) || !is_of(of, h->max_rank))
		return error_set(error,
		                 "site %u: ranks %u and %u have the least and the most time %s, but were not there",
		                 site, h->min_rank, h->max_rank, what);
	return check_bins(h, site, what, error);
}

/* What its ranks have of the time in a site. */
static int check_ranks(const struct trace_site *s, uint32_t number, struct error *error)
{
	uint64_t ranks = summary_ranks(s);
	double mean = ranks ? (double)s->communicate.sum / (double)ranks : 0;
	if (!is_between((double)s->least, mean, (double)s->most))
		return error_set(error,
		                 "site %u: the mean of its ranks, %.0f ns, is not between %" PRIu64 " and %" PRIu64,
		                 number, mean, s->least, s->most);
	if (!at_most((double)s->communicate.max, (double)s->most))
		return error_set(error,
		                 "site %u: a call took %" PRIu64 " ns, but no rank was there for more than %" PRIu64,
		                 number, s->communicate.max, s->most);
	if (!is_of(&s->visits, s->least_rank) || !is_of(&s->visits, s->most_rank))
		return error_set(error, "site %u: ranks %u and %u have the least and the most time, but were not there",
		                 number, s->least_rank, s->most_rank);
	return 0;
}

static int check_site(const struct trace *t, uint32_t number, struct error *error)
{
	const struct trace_site *s = &t->sites[number];
	uint64_t visits = (uint64_t)rankmap_sum(&s->visits), left = 0;
	if (check_time(&s->communicate, &s->visits, number, "in it", error) != 0)
		return -1;
	if (s->communicate.count > visits)
		return error_set(error, "site %u: %" PRIu64 " times of %" PRIu64 " visits", number,
		                 s->communicate.count, visits);
	if (visits && s->communicate.count == visits && check_ranks(s, number, error) != 0)
		return -1;
	for (uint32_t k = 0; k < s->edge_count; k++) {
		left += s->edges[k].compute.count;
		if (check_time(&s->edges[k].compute, &s->visits, number, "behind it", error) != 0)
			return -1;
	}
	if (left > visits)
		return error_set(error, "site %u: %" PRIu64 " computations behind %" PRIu64 " visits", number, left,
		                 visits);
	return 0;
}

static const char *total_name(int kind)
{
	return kind == TOTAL_COMPUTE ? "computation" : kind == TOTAL_ELAPSED ? "time" : "overhead";
}

static int check_total(const struct trace *t, int kind, struct error *error)
{
	const struct trace_total *one = &t->total[kind];
	double mean = one->count ? (double)one->sum / (double)one->count : 0, sum = 0;
	if (!one->count)
		return 0;
	if (!is_between((double)one->min, mean, (double)one->max))
		return error_set(error, "the mean %s of the ranks, %.0f ns, is not between %" PRIu64 " and %" PRIu64,
		                 total_name(kind), mean, one->min, one->max);
	if (!is_of(&t->events, one->min_rank) || !is_of(&t->events, one->max_rank))
		return error_set(error, "ranks %u and %u have the least and the most %s, but are not in the trace",
		                 one->min_rank, one->max_rank, total_name(kind));
	for (uint64_t i = 0; one->ranks && i < one->count; i++)
		sum += (double)one->ranks[i].ns;
	double rounding = (double)one->count * ((double)(one->max - one->min) / LEVELS + (double)one->max / 1024);
	if (one->ranks && !is_between(sum - rounding, (double)one->sum, sum + rounding))
		return error_set(error, "the %s of the ranks is %.0f ns by each, and %" PRIu64 " ns by all",
		                 total_name(kind), sum, one->sum);
	return 0;
}

static int check_totals(const struct trace *t, struct error *error)
{
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE], *elapsed = &t->total[TOTAL_ELAPSED];
	double calls = 0, edges = 0;
	for (int i = 0; i < TRACE_TOTALS; i++)
		if (check_total(t, i, error) != 0)
			return -1;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		bool starts = trace_initializes(trace_schema(t, s));
		calls += starts ? 0 : (double)s->communicate.sum;
		if (elapsed->count && !starts && !at_most((double)s->communicate.max, (double)elapsed->max))
			return error_set(error,
			                 "site %u: a call took %" PRIu64 " ns, but no rank took more than %" PRIu64, i,
			                 s->communicate.max, elapsed->max);
		for (uint32_t k = 0; k < s->edge_count; k++)
			edges += (double)s->edges[k].compute.sum;
	}
	double all = (double)compute->sum + calls;
	if (elapsed->count && !is_about(all, (double)elapsed->sum))
		return error_set(error, "all ranks took %" PRIu64 " ns, but computation and calls are %.0f ns",
		                 elapsed->sum, all);
	if (compute->count && !at_most(edges, (double)compute->sum))
		return error_set(error, "all ranks computed for %" PRIu64 " ns, but %.0f ns are between sites",
		                 compute->sum, edges);
	if (elapsed->count && !at_most((double)compute->max, (double)elapsed->max))
		return error_set(error, "a rank computed for %" PRIu64 " ns, but none took more than %" PRIu64,
		                 compute->max, elapsed->max);
	return 0;
}

static int check_unended(const struct trace *t, struct error *error)
{
	uint64_t ranks = 0;
	for (uint32_t i = 0; i < t->unended_count; i++) {
		const struct trace_unended *u = &t->unended[i];
		uint64_t n = rankmap_size(&u->ranks), rank = 0;
		int64_t unused;
		ranks += n;
		if (!is_between((double)u->min, (double)u->sum / (double)n, (double)u->max))
			return error_set(
				error, "site %u: the mean of what did not end is not between %" PRIu64 " and %" PRIu64,
				u->site, u->min, u->max);
		for (; rankmap_next(&u->ranks, &rank, &unused); rank++)
			if (!is_of(&t->events, (uint32_t)rank) || u->call != is_of(&t->in_flight, (uint32_t)rank))
				return error_set(error, "rank %" PRIu64 ": is it in a call that did not end, or not?",
				                 rank);
	}
	if (ranks > rankmap_size(&t->events))
		return error_set(error, "%" PRIu64 " ranks did not end of %" PRIu64, ranks, rankmap_size(&t->events));
	return 0;
}

/* What is passed on, and what is waited for. */
static int check_activity(const struct trace *t, const struct site_activity *v, struct error *error)
{
	struct summary s;
	uint64_t sized = 0, wait;
	enum wait_kind unused;
	summary_make(&s, t, v);
	for (int i = 0; i < ACTIVITY_SIZES; i++)
		sized += s.sizes[i];
	if (sized + s.unsized < s.messages || sized > s.messages)
		return error_set(error,
		                 "%" PRIu64 " messages, but %" PRIu64 " of known size and %" PRIu64 " of another",
		                 s.messages, sized, s.unsized);
	if (s.load_balance > 1.01 || s.communication_efficiency > 1.01)
		return error_set(error, "load balance %.3f, communication efficiency %.3f", s.load_balance,
		                 s.communication_efficiency);
	for (uint32_t i = 0; i < t->site_count; i++)
		if ((wait = wait_site(t, &t->sites[i], &v->sites[i], &unused)) > t->sites[i].communicate.sum)
			return error_set(error, "site %u: ranks waited for %" PRIu64 " ns of %" PRIu64, i, wait,
			                 t->sites[i].communicate.sum);
	return 0;
}

int figures_check(const struct trace *t, struct error *error)
{
	struct site_activity activity;
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
	if (check_totals(t, error) != 0 || check_unended(t, error) != 0)
		return -1;
	int rv = site_activity_make(&activity, t) == 0 ? check_activity(t, &activity, error)
	                                               : error_set(error, "no memory");
	site_activity_free(&activity);
	return rv;
}
