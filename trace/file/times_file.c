/* SPDX-License-Identifier: BSD-3-Clause
 * times_file - the chunk with the times of a trace
 */
#include "trace/file/times_file.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/file/histogram_file.h"
#include "trace/model/packed.h"
#include "trace/model/packed_histogram.h"
#include "trace/model/stream.h"

/* The form of parts: integers as they are. */

static void put_site_times(struct writer *w, const struct trace_site *s)
{
	histogram_pack(w, &s->communicate);
	writer_uint(w, s->least);
	writer_uint(w, s->most);
	writer_uint(w, s->least_rank);
	writer_uint(w, s->most_rank);
	writer_uint(w, s->edge_count);
	for (uint32_t k = 0; k < s->edge_count; k++) {
		writer_uint(w, s->edges[k].to);
		histogram_pack(w, &s->edges[k].compute);
	}
}

static void put_parts(struct writer *w, const struct trace *t)
{
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		const struct trace_total *total = &t->total[i];
		writer_uint(w, total->count);
		if (total->count == 0)
			continue;
		writer_uint(w, total->sum);
		writer_uint(w, total->min);
		writer_uint(w, total->max - total->min);
		writer_uint(w, total->min_rank);
		writer_uint(w, total->max_rank);
		for (uint64_t k = 0; total->ranks && k < total->count; k++) {
			writer_uint(w, total->ranks[k].rank);
			writer_uint(w, total->ranks[k].ns - total->min);
		}
	}
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site room;
		const struct trace_site *s = packed_look_times(t, i, &room);
		w->failed |= !s;
		if (!s)
			return;
		put_site_times(w, s);
		packed_leave(t, &room);
	}
}

static int get_edges(const struct trace *t, struct trace_site *s, uint64_t edges)
{
	if (edges > t->site_count)
		return -1;
	s->edges = budget_calloc(edges ? edges : 1, sizeof *s->edges);
	s->edge_capacity = (uint32_t)edges;
	return s->edges ? 0 : -1;
}

static int get_site_times(struct reader *r, const struct trace *t, struct trace_site *s)
{
	if (histogram_unpack(r, &s->communicate) != 0)
		return -1;
	s->least = reader_uint(r);
	s->most = reader_uint(r);
	s->least_rank = histogram_unpack_rank(r);
	s->most_rank = histogram_unpack_rank(r);
	size_t edges = reader_count(r);
	if (r->bad || get_edges(t, s, edges) != 0)
		return -1;
	while (s->edge_count < edges) {
		struct trace_edge *e = &s->edges[s->edge_count++];
		e->to = histogram_unpack_rank(r);
		if (e->to >= t->site_count || histogram_unpack(r, &e->compute) != 0)
			return -1;
	}
	return 0;
}

static int get_parts(struct reader *r, struct trace *t)
{
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		struct trace_total *total = &t->total[i];
		total->count = reader_uint(r);
		if (total->count == 0)
			continue;
		total->sum = reader_uint(r);
		total->min = reader_uint(r);
		total->max = total->min + reader_uint(r);
		total->min_rank = histogram_unpack_rank(r);
		total->max_rank = histogram_unpack_rank(r);
		if (total->count > TOTALS_MAX)
			continue;
		total->ranks = budget_calloc(total->count, sizeof *total->ranks);
		for (uint64_t k = 0; total->ranks && k < total->count; k++)
			total->ranks[k] = (struct trace_rank_ns){histogram_unpack_rank(r), total->min + reader_uint(r)};
		if (!total->ranks || r->bad)
			return -1;
	}
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site room, *s = packed_open_times(t, i, &room);
		int rv = s ? get_site_times(r, t, s) : -1;
		if (!s || packed_close_times(t, i, s) != 0 || rv != 0)
			return -1;
	}
	return 0;
}

/* The compact form. What totals are rounded to. */

enum {
	DIGITS_SHARE = 6, /* least and most of a rank: what they are less or more than the mean */
	LEVELS_TIME = 32,
	LEVELS_OVERHEAD = 8, /* totals of ranks: between the least and the most */
	FINEST = 1024,       /* but no finer than this fraction of the most */
	SHARE_CALL = 8,
	SHARE_COMPUTE =
		32, /* of all time, for all bins: replays compute for as long as the bins say, and wait for messages */
};

/* Contexts. Those of communicate and of compute times are apart. */
enum {
	AT_FLAG,
	AT_COUNT,
	AT_TOTAL,
	AT_LEAST,
	AT_MOST,
	AT_LEVEL, /* AT_LEVEL + kind of total */
	AT_EDGES = AT_LEVEL + TRACE_TOTALS,
	AT_TO,
	AT_SHARE_LEAST,
	AT_SHARE_MOST,
	AT_TIME,
	AT_END = AT_TIME + 2 * HISTOGRAM_CONTEXTS,
};
_Static_assert(AT_END <= ENTROPY_CONTEXTS, "contexts");

static unsigned level_count(unsigned kind, uint64_t least, uint64_t most)
{
	uint64_t finest = most / FINEST + 1, levels = (most - least) / finest,
		 limit = kind == TOTAL_OVERHEAD ? LEVELS_OVERHEAD : LEVELS_TIME;
	return (unsigned)(levels < 1 ? most > least : levels < limit ? levels : limit - 1);
}

static void put_totals(struct entropy_writer *e, const struct trace *t)
{
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		const struct trace_total *total = &t->total[i];
		unsigned bits = histogram_bits(rankmap_empty(&t->events) ? 0 : rankmap_last(&t->events) + UINT64_C(1));
		entropy_put_number(e, AT_COUNT, HISTOGRAM_DIGITS, total->count);
		if (total->count == 0)
			continue;
		uint64_t range = total->max - total->min;
		entropy_put_number(e, AT_TOTAL, HISTOGRAM_DIGITS, total->sum);
		entropy_put_number(e, AT_LEAST, HISTOGRAM_DIGITS, total->min);
		entropy_put_number(e, AT_MOST, HISTOGRAM_DIGITS, range);
		entropy_put_bits(e, bits, total->min_rank);
		entropy_put_bits(e, bits, total->max_rank);
		unsigned levels = level_count(i, total->min, total->max);
		/* only if they are those of the events, which the reader knows */
		bool each = total->ranks && total->count == rankmap_size(&t->events);
		entropy_put_symbol(e, AT_FLAG, 1, each);
		for (uint64_t k = 0; each && levels && k < total->count; k++)
			entropy_put_symbol(
				e, AT_LEVEL + i, histogram_bits(levels + 1U),
				(unsigned)(((uint128)(total->ranks[k].ns - total->min) * levels * 2 + range) / range /
			                   2));
	}
}

static int get_totals(struct entropy_reader *e, struct trace *t)
{
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		struct trace_total *total = &t->total[i];
		unsigned bits = histogram_bits(rankmap_empty(&t->events) ? 0 : rankmap_last(&t->events) + UINT64_C(1));
		total->count = entropy_number(e, AT_COUNT, HISTOGRAM_DIGITS);
		if (total->count == 0)
			continue;
		total->sum = entropy_number(e, AT_TOTAL, HISTOGRAM_DIGITS);
		total->min = entropy_number(e, AT_LEAST, HISTOGRAM_DIGITS);
		uint64_t range = entropy_number(e, AT_MOST, HISTOGRAM_DIGITS), rank = 0;
		int64_t unused;
		if (__builtin_add_overflow(total->min, range, &total->max))
			return -1;
		total->min_rank = (uint32_t)entropy_bits(e, bits);
		total->max_rank = (uint32_t)entropy_bits(e, bits);
		unsigned levels = level_count(i, total->min, total->max);
		if (!entropy_symbol(e, AT_FLAG, 1))
			continue;
		if (total->count > TOTALS_MAX || total->count != rankmap_size(&t->events) ||
		    !(total->ranks = budget_calloc(total->count, sizeof *total->ranks)))
			return -1;
		for (uint64_t k = 0; k < total->count && rankmap_next(&t->events, &rank, &unused); k++, rank++) {
			unsigned level = levels ? entropy_symbol(e, AT_LEVEL + i, histogram_bits(levels + 1U)) : 0;
			uint64_t more =
				levels ? (uint64_t)(((uint128)range * (level < levels ? level : levels) * 2 + levels) /
			                            levels / 2)
				       : 0;
			total->ranks[k] = (struct trace_rank_ns){(uint32_t)rank, total->min + more};
		}
	}
	return 0;
}

/* Least and most of what a rank spent in a site. Where each rank was there once, they are minimum and maximum. */
static void put_share(struct entropy_writer *e, const struct histogram_place *p, const struct histogram_visits *v,
                      const struct trace_site *s)
{
	if (v->ranks < 2 || v->sum == v->ranks || s->communicate.count == 0)
		return;
	uint64_t mean = s->communicate.sum / v->ranks;
	entropy_put_number(e, AT_SHARE_LEAST, DIGITS_SHARE, mean > s->least ? mean - s->least : 0);
	entropy_put_number(e, AT_SHARE_MOST, DIGITS_SHARE, s->most > mean ? s->most - mean : 0);
	histogram_put_rank(e, p, s->least_rank);
	histogram_put_rank(e, p, s->most_rank);
}

/* They were rounded towards the mean, the longest call away from it. */
static void agree_with_calls(const struct histogram_visits *v, struct trace_site *s)
{
	const struct histogram *t = &s->communicate;
	if (s->most < t->max)
		s->most = t->max;
	uint64_t others = t->sum > s->most ? (t->sum - s->most) / (v->ranks - 1) : 0;
	if (s->least > others && t->count == v->sum)
		s->least = others;
}

static void get_share(struct entropy_reader *e, const struct histogram_place *p, const struct histogram_visits *v,
                      struct trace_site *s)
{
	const struct histogram *t = &s->communicate;
	if (v->ranks < 2 || v->sum == v->ranks || t->count == 0) {
		bool one = v->ranks < 2;
		s->least = one ? t->sum : t->min;
		s->most = one ? t->sum : t->max;
		s->least_rank = one ? v->first : t->min_rank;
		s->most_rank = one ? v->first : t->max_rank;
		return;
	}
	uint64_t mean = t->sum / v->ranks, less = entropy_number(e, AT_SHARE_LEAST, DIGITS_SHARE);
	s->least = less < mean ? mean - less : 0;
	s->most = mean + entropy_number(e, AT_SHARE_MOST, DIGITS_SHARE);
	agree_with_calls(v, s);
	s->least_rank = histogram_rank(e, p);
	s->most_rank = histogram_rank(e, p);
}

/* Of what ranks did more than once: what a program begins with is most of a short run, and nothing of a long one.
 * Returns 0, or -1 on no memory. */
static int all_time(const struct trace *t, const struct histogram_visits *visits, uint64_t *sum)
{
	*sum = 0;
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site room;
		const struct trace_site *s = packed_look_times(t, i, &room);
		if (!s)
			return -1;
		if (s->communicate.count > visits[i].ranks)
			*sum += histogram_sum(&s->communicate);
		for (uint32_t k = 0; k < s->edge_count; k++)
			if (s->edges[k].compute.count > visits[i].ranks)
				*sum += histogram_sum(&s->edges[k].compute);
		packed_leave(t, &room);
	}
	return 0;
}

/* Where the times of a site's calls are, and those of an edge. */
static struct histogram_place calls_place(const struct trace *t, const struct histogram_visits *visits, uint32_t i,
                                          uint64_t all)
{
	struct histogram_place p = histogram_place(t, &visits[i], &visits[i], AT_TIME);
	p.all = all;
	p.share = SHARE_CALL;
	return p;
}

static struct histogram_place edge_place(const struct trace *t, const struct histogram_visits *visits, uint32_t i,
                                         uint32_t to, uint64_t all)
{
	struct histogram_place p = histogram_place(t, &visits[i], &visits[to], AT_TIME + HISTOGRAM_CONTEXTS);
	p.all = all;
	p.share = SHARE_COMPUTE;
	return p;
}

static void put_compact_site(struct entropy_writer *e, const struct trace *t, const struct histogram_visits *visits,
                             uint32_t i, uint64_t all, const struct trace_site *s)
{
	struct histogram_place here = calls_place(t, visits, i, all);
	histogram_put(e, &here, &s->communicate, visits[i].sum);
	put_share(e, &here, &visits[i], s);
	entropy_put_number(e, AT_EDGES, HISTOGRAM_DIGITS, s->edge_count);
	uint64_t left = visits[i].sum;
	for (uint32_t k = 0; k < s->edge_count; k++) {
		const struct trace_edge *edge = &s->edges[k];
		struct histogram_place there = edge_place(t, visits, i, edge->to, all);
		if (k > 0 && edge->to <= edge[-1].to)
			e->out->failed = true; /* not in canonical order */
		entropy_put_number(e, AT_TO, HISTOGRAM_DIGITS,
		                   k == 0 ? zigzag((int64_t)edge->to - i - 1)
		                          : edge->to - s->edges[k - 1].to - UINT64_C(1));
		histogram_put(e, &there, &edge->compute, k + 1 == s->edge_count ? left : 0);
		left -= edge->compute.count;
	}
}

static void put_compact(struct writer *w, const struct trace *t)
{
	uint64_t all;
	struct entropy_writer *e = budget_malloc(sizeof *e);
	struct histogram_visits *visits = histogram_visits_new(t);
	if (!e || !visits || all_time(t, visits, &all) != 0) {
		w->failed = true;
		goto done;
	}
	entropy_begin(e, w);
	put_totals(e, t);
	for (uint32_t i = 0; i < t->site_count && !w->failed; i++) {
		struct trace_site room;
		const struct trace_site *s = packed_look_times(t, i, &room);
		w->failed |= !s;
		if (!s)
			break;
		put_compact_site(e, t, visits, i, all, s);
		packed_leave(t, &room);
	}
	entropy_end(e);
done:
	budget_free(e);
	histogram_visits_free(visits, t);
}

/* *edges: how many there may be yet, in all. */
static int get_compact_site(struct entropy_reader *e, const struct reader *r, const struct trace *t,
                            const struct histogram_visits *visits, uint32_t i, uint64_t *edges, struct trace_site *s)
{
	struct histogram_place here = calls_place(t, visits, i, 0);
	if (histogram_get(e, &here, &s->communicate, visits[i].sum) != 0)
		return -1;
	get_share(e, &here, &visits[i], s);
	uint64_t n = entropy_number(e, AT_EDGES, HISTOGRAM_DIGITS), left = visits[i].sum;
	if (r->bad || n > *edges || get_edges(t, s, n) != 0)
		return -1;
	*edges -= n;
	for (uint64_t k = 0; k < n; k++) {
		uint64_t number = entropy_number(e, AT_TO, HISTOGRAM_DIGITS);
		struct trace_edge *edge = &s->edges[s->edge_count++];
		number = k == 0 ? (uint64_t)unzigzag(number) + i + 1 : edge[-1].to + UINT64_C(1) + number;
		if (r->bad || number >= t->site_count)
			return -1;
		edge->to = (uint32_t)number;
		struct histogram_place there = edge_place(t, visits, i, edge->to, 0);
		if (histogram_get(e, &there, &edge->compute, k + 1 == n ? left : 0) != 0)
			return -1;
		left -= edge->compute.count;
	}
	return 0;
}

static int get_compact(struct reader *r, struct trace *t)
{
	int rv = -1;
	uint64_t edges = (uint64_t)(r->end - r->at) + 8; /* no edge takes less than a byte */
	struct entropy_reader *e = budget_malloc(sizeof *e);
	struct histogram_visits *visits = histogram_visits_new(t);
	if (!e || !visits)
		goto done;
	entropy_open(e, r);
	if (get_totals(e, t) != 0)
		goto done;
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site room, *s = packed_open_times(t, i, &room);
		int bad = s ? get_compact_site(e, r, t, visits, i, &edges, s) : -1;
		if (!s || packed_close_times(t, i, s) != 0 || bad)
			goto done;
	}
	entropy_close(e);
	rv = 0;
done:
	budget_free(e);
	histogram_visits_free(visits, t);
	return rv;
}

void times_put(struct writer *w, const struct trace *t, bool final)
{
	writer_uint(w, t->bins);
	if (final)
		put_compact(w, t);
	else
		put_parts(w, t);
}

int times_get(struct reader *r, struct trace *t, bool final)
{
	uint64_t k = reader_uint(r);
	if (r->bad || k > HISTOGRAM_BINS_MAX)
		return -1;
	t->bins = (uint32_t)k;
	int rv = final ? get_compact(r, t) : get_parts(r, t);
	return rv != 0 || r->bad || r->at != r->end ? -1 : 0;
}
