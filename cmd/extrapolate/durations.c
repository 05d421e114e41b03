/* SPDX-License-Identifier: BSD-3-Clause
 * durations - the times of calls and computations at another number of ranks
 */
#include "cmd/extrapolate/durations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "insight/model.h"

#define NS_MOST 1e15

static int by_sites_and_ranks(const void *a, const void *b)
{
	const struct duration_seen *x = a, *y = b;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
	       : x->to != y->to   ? (x->to > y->to) - (x->to < y->to)
	                          : (x->ranks > y->ranks) - (x->ranks < y->ranks);
}

/* By the law of these, or what the largest of them has. */
static uint64_t duration_at(const struct duration_seen *seen, size_t n, uint32_t ranks)
{
	double p[MODEL_SIZES], y[MODEL_SIZES], ns = seen[n - 1].mean;
	struct model m;
	if (n >= MODEL_LEAST && n <= MODEL_SIZES) {
		for (size_t i = 0; i < n; i++) {
			p[i] = seen[i].ranks;
			y[i] = seen[i].mean;
		}
		model_fit(&m, p, y, n, false);
		if (m.answer == MODEL_FOUND && model_at(&m.law, ranks) >= 0)
			ns = model_at(&m.law, ranks);
	}
	return (uint64_t)llround(fmin(fmax(ns, 0), NS_MOST));
}

int durations_make(struct durations *d, struct duration_seen *seen, size_t count, uint32_t ranks)
{
	*d = (struct durations){.each = calloc(count + 1, sizeof *d->each)};
	if (!d->each)
		return -1;
	if (count)
		qsort(seen, count, sizeof *seen, by_sites_and_ranks);
	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && seen[i + n].from == seen[i].from && seen[i + n].to == seen[i].to;)
			n++;
		d->each[d->count++] = (struct duration){seen[i].from, seen[i].to, duration_at(&seen[i], n, ranks)};
	}
	return 0;
}

void durations_free(struct durations *d)
{
	free(d->each);
}

static int by_sites(const void *a, const void *b)
{
	const struct duration *x = a, *y = b;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

/* 0: there was none like it. */
static uint64_t duration_of(const struct durations *d, uint32_t from, uint32_t to)
{
	struct duration key = {from, to, 0};
	const struct duration *found = d->count ? bsearch(&key, d->each, d->count, sizeof *d->each, by_sites) : NULL;
	return found ? found->ns : 0;
}

static int put_alike(struct histogram *h, uint32_t rank, uint64_t count, uint64_t each)
{
	struct histogram_bin bin = {count, each, each, each * count, (uint128)each * each * count};
	struct histogram one = {.count = count,
	                        .sum = each * count,
	                        .min = each,
	                        .max = each,
	                        .min_rank = rank,
	                        .max_rank = rank,
	                        .squares = (uint128)each * each * count,
	                        .bins = &bin,
	                        .bin_count = 1};
	return count ? histogram_add(h, &one) : 0;
}

static void total(struct trace_total *t, uint64_t ns)
{
	t->sum = t->min = t->max = ns;
	if (t->ranks)
		t->ranks[0].ns = ns;
}

static int put_duration(const struct durations *d, struct trace *t, uint32_t rank, const uint32_t *model,
                        const struct nest_edge *next, uint64_t *compute)
{
	uint64_t ns = duration_of(d, model[next->from], model[next->to]);
	struct trace_edge *e = trace_edge(&t->sites[next->from], next->to);
	*compute += next->count * ns;
	return e ? put_alike(&e->compute, rank, next->count, ns) : -1;
}

int durations_put(const struct durations *d, struct trace *t, uint32_t rank, const uint32_t *model,
                  const struct steps *next, struct error *error)
{
	uint64_t compute = 0, communicate = 0;
	int rv = 0;
	for (uint32_t i = 0; i < next->count && rv == 0; i++)
		rv = put_duration(d, t, rank, model, &next->each[i], &compute);
	for (uint32_t i = 0; i < t->site_count && rv == 0; i++) {
		struct trace_site *s = &t->sites[i];
		int64_t visits = 0;
		rankmap_get(&s->visits, rank, &visits);
		rv = put_alike(&s->communicate, rank, (uint64_t)visits, duration_of(d, model[i], UINT32_MAX));
		trace_sort_edges(s);
		s->least = s->most = s->communicate.sum;
		s->least_rank = s->most_rank = rank;
		communicate += trace_initializes(trace_schema(t, s)) ? 0 : s->communicate.sum;
	}
	total(&t->total[TOTAL_COMPUTE], compute);
	total(&t->total[TOTAL_ELAPSED], compute + communicate);
	return rv == 0 ? 0 : error_set(error, "no memory");
}
