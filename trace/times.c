/* SPDX-License-Identifier: BSD-3-Clause
 * times - the chunk with the times of a trace
 */
#include "trace/times.h"

#include <stdlib.h>
#include <string.h>

#include "trace/entropy.h"

/* Only then nothing can be added. Further streams have numbers above the ranks'. */
bool times_complete(const struct trace *t)
{
	uint64_t ranks = 0, rank = 0;
	int64_t unused;
	if (rankmap_size(&t->events) < t->size)
		return false;
	while (rankmap_next(&t->events, &rank, &unused) && rank == ranks && rank < t->size)
		rank = ++ranks;
	return ranks == t->size;
}

/* The form of parts: integers as they are. */

static void put_wide(struct writer *w, uint128 v)
{
	writer_uint(w, (uint64_t)v);
	writer_uint(w, (uint64_t)(v >> 64));
}

static uint128 get_wide(struct reader *r)
{
	uint64_t low = reader_uint(r);
	return (uint128)reader_uint(r) << 64 | low;
}

static void put_whole(struct writer *w, const struct trace_time *t)
{
	writer_uint(w, t->count);
	if (t->count == 0)
		return;
	writer_uint(w, t->sum);
	writer_uint(w, t->min);
	writer_uint(w, t->max - t->min);
	writer_uint(w, t->min_rank);
	writer_uint(w, t->max_rank);
	writer_uint(w, t->min_visit);
	writer_uint(w, t->max_visit);
	put_wide(w, t->squares);
	writer_uint(w, t->bin_count);
	for (uint32_t i = 0; i < t->bin_count; i++) {
		const struct time_bin *b = &t->bins[i];
		writer_uint(w, b->count);
		writer_uint(w, b->min);
		writer_uint(w, b->max - b->min);
		writer_uint(w, b->sum);
		put_wide(w, b->squares);
	}
}

static uint32_t get_rank(struct reader *r)
{
	uint64_t rank = reader_uint(r);
	return rank < UINT32_MAX ? (uint32_t)rank : UINT32_MAX;
}

static int get_whole(struct reader *r, struct trace_time *t)
{
	t->count = reader_uint(r);
	if (t->count == 0)
		return 0;
	t->sum = reader_uint(r);
	t->min = reader_uint(r);
	t->max = t->min + reader_uint(r);
	t->min_rank = get_rank(r);
	t->max_rank = get_rank(r);
	t->min_visit = reader_uint(r);
	t->max_visit = reader_uint(r);
	t->squares = get_wide(r);
	size_t n = reader_count(r);
	if (r->bad || n > 64 * TIME_PER_OCTAVE)
		return -1;
	t->bins = n ? calloc(n, sizeof *t->bins) : NULL;
	if (n && !t->bins)
		return -1;
	while (t->bin_count < n) {
		struct time_bin *b = &t->bins[t->bin_count++];
		b->count = reader_uint(r);
		b->min = reader_uint(r);
		b->max = b->min + reader_uint(r);
		b->sum = reader_uint(r);
		b->squares = get_wide(r);
		if (b->count == 0)
			return -1;
	}
	return 0;
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
		const struct trace_site *s = &t->sites[i];
		put_whole(w, &s->communicate);
		writer_uint(w, s->least);
		writer_uint(w, s->most);
		writer_uint(w, s->least_rank);
		writer_uint(w, s->most_rank);
		writer_uint(w, s->edge_count);
		for (uint32_t k = 0; k < s->edge_count; k++) {
			writer_uint(w, s->edges[k].to);
			put_whole(w, &s->edges[k].compute);
		}
	}
}

static int get_edges(struct trace *t, struct trace_site *s, uint64_t edges)
{
	if (edges > t->site_count)
		return -1;
	s->edges = calloc(edges ? edges : 1, sizeof *s->edges);
	s->edge_capacity = (uint32_t)edges;
	return s->edges ? 0 : -1;
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
		total->min_rank = get_rank(r);
		total->max_rank = get_rank(r);
		if (total->count > TOTALS_MAX)
			continue;
		total->ranks = calloc(total->count, sizeof *total->ranks);
		for (uint64_t k = 0; total->ranks && k < total->count; k++)
			total->ranks[k] = (struct trace_rank_ns){get_rank(r), total->min + reader_uint(r)};
		if (!total->ranks || r->bad)
			return -1;
	}
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site *s = &t->sites[i];
		if (get_whole(r, &s->communicate) != 0)
			return -1;
		s->least = reader_uint(r);
		s->most = reader_uint(r);
		s->least_rank = get_rank(r);
		s->most_rank = get_rank(r);
		size_t edges = reader_count(r);
		if (r->bad || get_edges(t, s, edges) != 0)
			return -1;
		while (s->edge_count < edges) {
			struct trace_edge *e = &s->edges[s->edge_count++];
			e->to = get_rank(r);
			if (e->to >= t->site_count || get_whole(r, &e->compute) != 0)
				return -1;
		}
	}
	return 0;
}

int times_get_sums(struct reader *r, struct trace *t)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site *s = &t->sites[i];
		uint64_t edges = 0;
		for (uint64_t k = 0; k <= edges; k++) {
			struct trace_time *time = &s->communicate;
			if (k > 0) {
				s->edges[k - 1].to = get_rank(r);
				time = &s->edges[k - 1].compute;
				if (s->edges[k - 1].to >= t->site_count)
					return -1;
				s->edge_count++;
			}
			time->count = reader_uint(r);
			if (time->count) {
				time->sum = reader_uint(r);
				time->min = reader_uint(r);
				time->max = time->min + reader_uint(r);
				time->min_rank = get_rank(r);
				time->max_rank = get_rank(r);
			}
			if (k == 0 && ((edges = reader_count(r)), r->bad || get_edges(t, s, edges) != 0))
				return -1;
		}
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

/* The compact form. What it is rounded to, in one place: digits are bits behind the highest one. */

enum {
	DIGITS = 63,          /* all */
	DIGITS_SHARE = 6,     /* least and most of a rank: what they are less or more than the mean */
	DIGITS_COUNT = 10,    /* of a bin; the largest one has what is left */
	BITS_MEAN = 6,        /* of a bin, in its range */
	LEVELS_TIME = 32, LEVELS_OVERHEAD = 8, /* totals of ranks: between the least and the most */
	FINEST = 1024,        /* but no finer than this fraction of the most */
	VALUES_PER_BIN = 16,  /* a histogram has at most one bin for so many values, */
	SHARE_FULL = 128,     /* k bins if its sum is at least this fraction of all time, */
	SHARE_HALF = 4,       /* half as many for each factor of this below */
	PER_OCTAVE_WHOLE = 32, PER_OCTAVE_BIN = 8, /* deviations */
};

/* Contexts. Those of communicate and of compute times are apart. */
enum {
	AT_FLAG, AT_COUNT, AT_TOTAL, AT_LEAST, AT_MOST, AT_LEVEL, /* AT_LEVEL + kind of total */
	AT_EDGES = AT_LEVEL + TRACE_TOTALS, AT_TO, AT_SHARE_LEAST, AT_SHARE_MOST,
	AT_TIME,
	IN_COUNT = 0, IN_MEAN, IN_LOW, IN_HIGH, IN_DEVIATION, IN_BINS, IN_BIN_COUNT, IN_BIN_MIN, IN_BIN_MAX, IN_BIN_DEVIATION, IN_VISIT,
	IN_ALL,
	AT_END = AT_TIME + 2 * IN_ALL,
};
_Static_assert(AT_END <= ENTROPY_CONTEXTS, "contexts");

static unsigned bits_for(uint64_t values)
{
	return values > 1 ? 64 - (unsigned)__builtin_clzll(values - 1) : 0;
}

/* The same with a finer logarithm than time_index: `per` bins an octave, a power of two. */
static uint64_t logarithm(uint64_t v, unsigned per)
{
	unsigned digits = bits_for(per), size = v ? 63 - (unsigned)__builtin_clzll(v) : 0;
	return v < per ? v : (uint64_t)(size - digits + 1) * per + (v >> (size - digits)) - per;
}

/* The middle of what has this logarithm. */
static double exponential(uint64_t index, unsigned per)
{
	if (index < per)
		return (double)index;
	unsigned shift = (unsigned)(index / per) - 1;
	double scale = shift < 64 ? (double)(UINT64_C(1) << shift) : 0;
	return (double)(index % per + per) * scale + (scale - 1) / 2;
}

/* A deviation, compared with the largest that values in this range can have. */
static uint64_t deviation_code(double deviation, uint64_t range, unsigned per)
{
	uint64_t v = (uint64_t)(deviation + 0.5), most = logarithm(range / 2 + 1, per), own = logarithm(v, per);
	return v == 0 ? 0 : 1 + (own < most ? most - own : 0);
}

static double deviation_of(uint64_t code, uint64_t range, unsigned per)
{
	uint64_t most = logarithm(range / 2 + 1, per);
	return code == 0 || code - 1 > most ? 0 : exponential(most - (code - 1), per);
}

static uint128 squares_of(uint64_t count, uint64_t sum, double deviation)
{
	double spread = deviation * deviation * (double)count;
	return (uint128)sum * sum / count + (spread < 0x1p120 ? (uint128)(spread + 0.5) : 0);
}

static uint64_t mean_of(const struct time_bin *b, uint64_t code)
{
	double width = (double)(b->max - b->min) + 1, mean = (double)b->min + ((double)code + 0.5) * width / (1 << BITS_MEAN) - 0.5;
	mean = mean < (double)b->min ? (double)b->min : mean > (double)b->max ? (double)b->max : mean;
	double sum = mean * (double)b->count + 0.5;
	return sum < 0x1p63 ? (uint64_t)sum : UINT64_C(1) << 63;
}

static uint64_t mean_code(double mean, uint64_t min, uint64_t max)
{
	double width = (double)(max - min) + 1, code = (mean - (double)min + 0.5) / width * (1 << BITS_MEAN);
	return code <= 0 ? 0 : code >= (1 << BITS_MEAN) ? (1 << BITS_MEAN) - 1 : (uint64_t)code;
}

/* What a reader knows of where a time belongs before it reads it. */
struct place {
	unsigned at;          /* the first context */
	uint32_t only;        /* UINT32_MAX, or the rank that all values are of */
	unsigned rank_bits;
	bool once;            /* no rank was there twice */
	bool rounded;         /* counts of bins are; else it is a file of version 1.1 */
	unsigned k;
	uint64_t all; /* ns of all sites and edges but MPI_Init */
};

static uint32_t largest(const uint64_t *counts, uint32_t n)
{
	uint32_t at = 0;
	for (uint32_t i = 1; i < n; i++)
		at = counts[i] > counts[at] ? i : at;
	return at;
}

/* The counts of bins, rounded; one of them has what is left, so that they are as many as before. Returns which. That is the only one that may not be a rounded
 * number, so that rounding what was rounded changes nothing. */
static uint32_t round_counts(const struct trace_time *t, uint64_t *counts)
{
	uint64_t left = t->count;
	uint32_t n = t->bin_count, exact = 0, at = 0, rest;
	for (uint32_t i = 0; i < n; i++) {
		counts[i] = t->bins[i].count;
		if (entropy_cut(DIGITS_COUNT, counts[i]) != counts[i]) {
			exact++;
			at = i;
		}
	}
	rest = exact == 1 ? at : largest(counts, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t half = counts[i] >> (DIGITS_COUNT + 1) ? UINT64_C(1) << (bits_for(counts[i] + 1) - DIGITS_COUNT - 2) : 0;
		if (i != rest)
			left -= counts[i] = entropy_cut(DIGITS_COUNT, counts[i] + half);
	}
	counts[rest] = left;
	return entropy_cut(DIGITS_COUNT, left) == left ? largest(counts, n) : rest;
}

static void put_bins(struct entropy_writer *e, const struct place *p, struct trace_time *t)
{
	uint64_t most = t->count / VALUES_PER_BIN;
	unsigned k = p->k;
	for (uint128 share = (uint128)t->sum * SHARE_FULL; share < p->all && k > 1; share *= SHARE_HALF)
		k /= 2;
	trace_time_balance(t, most < 1 ? 1 : most < k ? (unsigned)most : k);
	entropy_put_symbol(e, p->at + IN_BINS, 7, t->bin_count);
	unsigned before = time_index(t->min);
	uint64_t counts[TIME_BINS_MAX];
	uint32_t rest = t->bin_count > 1 ? round_counts(t, counts) : 0;
	entropy_put_bits(e, bits_for(t->bin_count), rest);
	for (uint32_t i = 0; t->bin_count > 1 && i < t->bin_count; i++) {
		const struct time_bin *b = &t->bins[i];
		unsigned low = time_index(b->min), high = time_index(b->max);
		/* the range as the reader will have it */
		uint64_t min = time_floor(low) > t->min ? time_floor(low) : t->min;
		uint64_t max = time_floor(high + 1) - 1 < t->max ? time_floor(high + 1) - 1 : t->max;
		entropy_put_number(e, p->at + IN_BIN_MIN, DIGITS, zigzag((int64_t)low - (int64_t)before));
		entropy_put_number(e, p->at + IN_BIN_MAX, DIGITS, high - low);
		before = high;
		if (i != rest)
			entropy_put_number(e, p->at + IN_BIN_COUNT, DIGITS_COUNT, counts[i]);
		entropy_put_bits(e, BITS_MEAN, mean_code(time_bin_mean(b), min, max));
		entropy_put_number(e, p->at + IN_BIN_DEVIATION, DIGITS, deviation_code(time_bin_deviation(b), max - min, PER_OCTAVE_BIN));
	}
}

static void put_visit(struct entropy_writer *e, const struct place *p, uint64_t visit)
{
	if (!p->once)
		entropy_put_number(e, p->at + IN_VISIT, DIGITS, visit);
}

static uint64_t get_visit(struct entropy_reader *e, const struct place *p)
{
	return p->once ? 0 : entropy_number(e, p->at + IN_VISIT, DIGITS);
}

static void put_time(struct entropy_writer *e, const struct place *p, const struct trace_time *time, uint64_t expected)
{
	struct trace_time t;
	if (trace_time_copy(&t, time) != 0)
		e->out->failed = true;
	entropy_put_number(e, p->at + IN_COUNT, DIGITS, zigzag((int64_t)(t.count - expected)));
	if (t.count == 0)
		goto done;
	uint64_t mean = t.sum / t.count, low = mean < t.min ? 0 : mean - t.min, high = t.max < mean ? 0 : t.max - mean;
	entropy_put_number(e, p->at + IN_MEAN, DIGITS, mean);
	if (t.count > 1) {
		entropy_put_bits(e, bits_for(t.count), t.sum % t.count);
		entropy_put_number(e, p->at + IN_LOW, DIGITS, low);
		entropy_put_number(e, p->at + IN_HIGH, DIGITS, high);
	}
	if (p->only == UINT32_MAX)
		entropy_put_bits(e, p->rank_bits, t.min_rank);
	put_visit(e, p, t.min_visit);
	if (t.count > 1) {
		if (p->only == UINT32_MAX)
			entropy_put_bits(e, p->rank_bits, t.max_rank);
		put_visit(e, p, t.max_visit);
		entropy_put_number(e, p->at + IN_DEVIATION, DIGITS, deviation_code(trace_time_deviation(&t), t.max - t.min, PER_OCTAVE_WHOLE));
		put_bins(e, p, &t);
	}
done:
	trace_time_free(&t);
}

static int get_bins(struct entropy_reader *e, const struct place *p, struct trace_time *t)
{
	unsigned n = entropy_symbol(e, p->at + IN_BINS, 7), before = time_index(t->min);
	uint64_t left = t->count;
	if (n > TIME_BINS_MAX || n == 0)
		return n == 0 ? 0 : -1;
	t->bins = calloc(n, sizeof *t->bins);
	if (!t->bins)
		return -1;
	t->bin_count = n;
	uint64_t mean[TIME_BINS_MAX], deviation[TIME_BINS_MAX];
	unsigned rest = p->rounded ? (unsigned)entropy_bits(e, bits_for(n)) : n - 1, digits = p->rounded ? DIGITS_COUNT : DIGITS;
	if (rest >= n)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		struct time_bin *b = &t->bins[i];
		if (n == 1) {
			*b = (struct time_bin){t->count, t->min, t->max, t->sum, t->squares};
			break;
		}
		uint64_t low = before + (uint64_t)unzigzag(entropy_number(e, p->at + IN_BIN_MIN, DIGITS));
		uint64_t high = low + entropy_number(e, p->at + IN_BIN_MAX, DIGITS);
		if (low > high || high >= 64 * TIME_PER_OCTAVE)
			return -1;
		before = (unsigned)high;
		b->count = i == rest ? 0 : entropy_number(e, p->at + IN_BIN_COUNT, digits);
		if ((b->count == 0 && i != rest) || b->count >= left)
			return -1;
		left -= b->count;
		b->min = time_floor((unsigned)low) > t->min ? time_floor((unsigned)low) : t->min;
		b->max = time_floor((unsigned)high + 1) - 1 < t->max ? time_floor((unsigned)high + 1) - 1 : t->max;
		if (b->max < b->min)
			return -1;
		mean[i] = entropy_bits(e, BITS_MEAN);
		deviation[i] = entropy_number(e, p->at + IN_BIN_DEVIATION, DIGITS);
	}
	for (unsigned i = 0; n > 1 && i < n; i++) {
		struct time_bin *b = &t->bins[i];
		b->count = i == rest ? left : b->count;
		b->sum = mean_of(b, mean[i]);
		b->squares = squares_of(b->count, b->sum, deviation_of(deviation[i], b->max - b->min, PER_OCTAVE_BIN));
	}
	return 0;
}

static int get_time(struct entropy_reader *e, const struct place *p, struct trace_time *t, uint64_t expected)
{
	t->count = expected + (uint64_t)unzigzag(entropy_number(e, p->at + IN_COUNT, DIGITS));
	if (t->count == 0)
		return 0;
	uint64_t mean = entropy_number(e, p->at + IN_MEAN, DIGITS);
	t->min = t->max = t->sum = mean;
	if (t->count > 1) {
		if (__builtin_mul_overflow(mean, t->count, &t->sum))
			return -1;
		t->sum += entropy_bits(e, bits_for(t->count));
		t->min = mean - entropy_number(e, p->at + IN_LOW, DIGITS);
		t->max = mean + entropy_number(e, p->at + IN_HIGH, DIGITS);
		if (t->min > mean || t->max < mean)
			return -1;
	}
	t->min_rank = t->max_rank = p->only == UINT32_MAX ? (uint32_t)entropy_bits(e, p->rank_bits) : p->only;
	t->min_visit = t->max_visit = get_visit(e, p);
	t->squares = squares_of(t->count, t->sum, 0);
	if (t->count > 1) {
		if (p->only == UINT32_MAX)
			t->max_rank = (uint32_t)entropy_bits(e, p->rank_bits);
		t->max_visit = get_visit(e, p);
		t->squares = squares_of(t->count, t->sum,
		                        deviation_of(entropy_number(e, p->at + IN_DEVIATION, DIGITS), t->max - t->min, PER_OCTAVE_WHOLE));
		return get_bins(e, p, t);
	}
	return 0;
}

/* What SITE says of the visits of a site. */
struct visits {
	uint64_t sum, ranks;
	uint32_t first; /* rank */
};

static struct visits visits_of(const struct trace_site *s)
{
	return (struct visits){
	        .sum = (uint64_t)rankmap_sum(&s->visits),
	        .ranks = rankmap_size(&s->visits),
	        .first = rankmap_empty(&s->visits) ? 0 : rankmap_first(&s->visits),
	};
}

static struct place place_of(const struct trace *t, const struct visits *from, const struct visits *of, bool compute)
{
	return (struct place){
	        .at = AT_TIME + (compute ? IN_ALL : 0),
	        .only = from->ranks == 1 ? from->first : UINT32_MAX,
	        .rank_bits = bits_for(rankmap_empty(&t->events) ? 0 : rankmap_last(&t->events) + UINT64_C(1)),
	        .once = of->sum <= of->ranks,
	        .k = t->bins ? t->bins : TIME_BINS,
	};
}

static unsigned level_count(unsigned kind, uint64_t least, uint64_t most)
{
	uint64_t finest = most / FINEST + 1, levels = (most - least) / finest, limit = kind == TOTAL_OVERHEAD ? LEVELS_OVERHEAD : LEVELS_TIME;
	return (unsigned)(levels < 1 ? most > least : levels < limit ? levels : limit - 1);
}

static void put_totals(struct entropy_writer *e, const struct trace *t)
{
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		const struct trace_total *total = &t->total[i];
		unsigned bits = bits_for(rankmap_empty(&t->events) ? 0 : rankmap_last(&t->events) + UINT64_C(1));
		entropy_put_number(e, AT_COUNT, DIGITS, total->count);
		if (total->count == 0)
			continue;
		uint64_t range = total->max - total->min;
		entropy_put_number(e, AT_TOTAL, DIGITS, total->sum);
		entropy_put_number(e, AT_LEAST, DIGITS, total->min);
		entropy_put_number(e, AT_MOST, DIGITS, range);
		entropy_put_bits(e, bits, total->min_rank);
		entropy_put_bits(e, bits, total->max_rank);
		unsigned levels = level_count(i, total->min, total->max);
		/* only if they are those of the events, which the reader knows */
		bool each = total->ranks && total->count == rankmap_size(&t->events);
		entropy_put_symbol(e, AT_FLAG, 1, each);
		for (uint64_t k = 0; each && levels && k < total->count; k++)
			entropy_put_symbol(e, AT_LEVEL + i, bits_for(levels + 1U),
			                   (unsigned)(((uint128)(total->ranks[k].ns - total->min) * levels * 2 + range) / range / 2));
	}
}

static int get_totals(struct entropy_reader *e, struct trace *t)
{
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		struct trace_total *total = &t->total[i];
		unsigned bits = bits_for(rankmap_empty(&t->events) ? 0 : rankmap_last(&t->events) + UINT64_C(1));
		total->count = entropy_number(e, AT_COUNT, DIGITS);
		if (total->count == 0)
			continue;
		total->sum = entropy_number(e, AT_TOTAL, DIGITS);
		total->min = entropy_number(e, AT_LEAST, DIGITS);
		uint64_t range = entropy_number(e, AT_MOST, DIGITS), rank = 0;
		int64_t unused;
		if (__builtin_add_overflow(total->min, range, &total->max))
			return -1;
		total->min_rank = (uint32_t)entropy_bits(e, bits);
		total->max_rank = (uint32_t)entropy_bits(e, bits);
		unsigned levels = level_count(i, total->min, total->max);
		if (!entropy_symbol(e, AT_FLAG, 1))
			continue;
		if (total->count > TOTALS_MAX || total->count != rankmap_size(&t->events) ||
		    !(total->ranks = calloc(total->count, sizeof *total->ranks)))
			return -1;
		for (uint64_t k = 0; k < total->count && rankmap_next(&t->events, &rank, &unused); k++, rank++) {
			unsigned level = levels ? entropy_symbol(e, AT_LEVEL + i, bits_for(levels + 1U)) : 0;
			uint64_t more = levels ? (uint64_t)(((uint128)range * (level < levels ? level : levels) * 2 + levels) / levels / 2) : 0;
			total->ranks[k] = (struct trace_rank_ns){(uint32_t)rank, total->min + more};
		}
	}
	return 0;
}

/* Least and most of what a rank spent in a site. Where each rank was there once, they are minimum and maximum. */
static void put_share(struct entropy_writer *e, const struct place *p, const struct visits *v, const struct trace_site *s)
{
	if (v->ranks < 2 || v->sum == v->ranks || s->communicate.count == 0)
		return;
	uint64_t mean = s->communicate.sum / v->ranks;
	entropy_put_number(e, AT_SHARE_LEAST, DIGITS_SHARE, mean > s->least ? mean - s->least : 0);
	entropy_put_number(e, AT_SHARE_MOST, DIGITS_SHARE, s->most > mean ? s->most - mean : 0);
	entropy_put_bits(e, p->rank_bits, s->least_rank);
	entropy_put_bits(e, p->rank_bits, s->most_rank);
}

static void get_share(struct entropy_reader *e, const struct place *p, const struct visits *v, struct trace_site *s)
{
	const struct trace_time *t = &s->communicate;
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
	s->least_rank = (uint32_t)entropy_bits(e, p->rank_bits);
	s->most_rank = (uint32_t)entropy_bits(e, p->rank_bits);
}

/* A short run is not all MPI_Init. */
static uint64_t all_time(const struct trace *t)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);
		if (!trace_initializes(s))
			sum += t->sites[i].communicate.sum;
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			sum += t->sites[i].edges[k].compute.sum;
	}
	return sum;
}

static void put_compact(struct writer *w, const struct trace *t)
{
	struct entropy_writer *e = malloc(sizeof *e);
	struct visits *visits = calloc((size_t)t->site_count + 1, sizeof *visits);
	if (!e || !visits) {
		w->failed = true;
		goto done;
	}
	for (uint32_t i = 0; i < t->site_count; i++)
		visits[i] = visits_of(&t->sites[i]);
	uint64_t all = all_time(t);
	entropy_begin(e, w);
	put_totals(e, t);
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		struct place here = place_of(t, &visits[i], &visits[i], false);
		here.all = all;
		put_time(e, &here, &s->communicate, visits[i].sum);
		put_share(e, &here, &visits[i], s);
		entropy_put_number(e, AT_EDGES, DIGITS, s->edge_count);
		uint64_t left = visits[i].sum;
		for (uint32_t k = 0; k < s->edge_count; k++) {
			const struct trace_edge *edge = &s->edges[k];
			struct place there = place_of(t, &visits[i], &visits[edge->to], true);
			there.all = all;
			if (k > 0 && edge->to <= edge[-1].to)
				w->failed = true; /* not in canonical order */
			entropy_put_number(e, AT_TO, DIGITS, k == 0 ? zigzag((int64_t)edge->to - i - 1) : edge->to - s->edges[k - 1].to - UINT64_C(1));
			put_time(e, &there, &edge->compute, k + 1 == s->edge_count ? left : 0);
			left -= edge->compute.count;
		}
	}
	entropy_end(e);
done:
	free(e);
	free(visits);
}

static int get_compact(struct reader *r, struct trace *t, bool rounded)
{
	int rv = -1;
	uint64_t limit = (uint64_t)(r->end - r->at) + 8, edges = 0; /* no edge takes less than a byte */
	struct entropy_reader *e = malloc(sizeof *e);
	struct visits *visits = calloc((size_t)t->site_count + 1, sizeof *visits);
	if (!e || !visits)
		goto done;
	for (uint32_t i = 0; i < t->site_count; i++)
		visits[i] = visits_of(&t->sites[i]);
	entropy_open(e, r);
	if (get_totals(e, t) != 0)
		goto done;
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site *s = &t->sites[i];
		struct place here = place_of(t, &visits[i], &visits[i], false);
		here.rounded = rounded;
		if (get_time(e, &here, &s->communicate, visits[i].sum) != 0)
			goto done;
		get_share(e, &here, &visits[i], s);
		uint64_t n = entropy_number(e, AT_EDGES, DIGITS), left = visits[i].sum;
		if (r->bad || n > limit || (edges += n) > limit || get_edges(t, s, n) != 0)
			goto done;
		for (uint64_t k = 0; k < n; k++) {
			uint64_t number = entropy_number(e, AT_TO, DIGITS);
			struct trace_edge *edge = &s->edges[s->edge_count++];
			number = k == 0 ? (uint64_t)unzigzag(number) + i + 1 : edge[-1].to + UINT64_C(1) + number;
			if (r->bad || number >= t->site_count)
				goto done;
			edge->to = (uint32_t)number;
			struct place there = place_of(t, &visits[i], &visits[edge->to], true);
			there.rounded = rounded;
			if (get_time(e, &there, &edge->compute, k + 1 == n ? left : 0) != 0)
				goto done;
			left -= edge->compute.count;
		}
	}
	entropy_close(e);
	rv = 0;
done:
	free(e);
	free(visits);
	return rv;
}

/* The whole: a byte tells the form; in the compact one it is k. */

void times_put(struct writer *w, const struct trace *t)
{
	if (!times_complete(t)) {
		writer_uint(w, 0);
		writer_uint(w, t->bins);
		put_parts(w, t);
		return;
	}
	writer_uint(w, t->bins ? t->bins : TIME_BINS);
	put_compact(w, t);
}

int times_get(struct reader *r, struct trace *t, bool rounded)
{
	uint64_t k = reader_uint(r);
	if (r->bad || k > TIME_BINS_MAX)
		return -1;
	uint64_t later = k ? k : reader_uint(r); /* k of the complete trace */
	if (later > TIME_BINS_MAX)
		return -1;
	t->bins = (uint32_t)later;
	int rv = k == 0 ? get_parts(r, t) : get_compact(r, t, rounded);
	return rv != 0 || r->bad || r->at != r->end ? -1 : 0;
}
