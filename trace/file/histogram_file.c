/* SPDX-License-Identifier: BSD-3-Clause
 * histogram_file - one histogram in a file
 *
 * In the compact form, count and mean come first; what follows is relative to them. 1000 times with mean 500, the least
 * 100 and the most 9000:
 *
 *     count - expected, 500, the rest of the sum, 400 below the mean, 8500 above it, ranks and visits of both,
 *     deviation (how far from the largest that is possible in this range), then the bins; of each: its first and last
 *     log-linear index, relative to the bin before; count; mean and deviation inside of its range
 *
 * Invariant: encoding what was decoded gives the same bytes. So each number is computed from what the reader has, not
 * from the exact one: 400 is rounded up first, and the range of the bins begins where the reader's does.
 */
#include "trace/file/histogram_file.h"

#include "trace/base/budget.h"
#include "trace/model/packed.h"

/* The compact form. What it is rounded to, in one place: digits are bits behind the highest one. */

enum {
	DIGITS_COUNT = 7,    /* of a bin; the largest one has what is left */
	DIGITS_END = 7,      /* of how far minimum and maximum are from the mean */
	BITS_SUM = 12,       /* of the mean, with as many digits behind the point as there is room for */
	BITS_MEAN = 6,       /* of a bin, in its range */
	DIGITS_VISIT = 5,    /* of an extreme: when in the run it was, not which of a million visits */
	VALUES_PER_BIN = 16, /* a histogram has at most one bin for so many values, */
	SHARE_HALF =
		/* k bins if its sum is at least that share of all time that its place asks for, half as many for each
		 * factor of this below */
	4,
	PER_OCTAVE_WHOLE = 32,
	PER_OCTAVE_BIN = 8, /* deviations */
};

/* Contexts, from place.at on. */
enum {
	IN_COUNT,
	IN_MEAN,
	IN_LOW,
	IN_HIGH,
	IN_DEVIATION,
	IN_BINS,
	IN_BIN_COUNT,
	IN_BIN_MIN,
	IN_BIN_MAX,
	IN_BIN_DEVIATION,
	IN_VISIT,
	IN_ALL,
};
_Static_assert(IN_ALL == HISTOGRAM_CONTEXTS, "contexts");

unsigned histogram_bits(uint64_t values)
{
	return values > 1 ? 64 - (unsigned)__builtin_clzll(values - 1) : 0;
}

/* The same with a finer logarithm than histogram_index: `per` bins an octave, a power of two. */
static uint64_t logarithm(uint64_t v, unsigned per)
{
	unsigned digits = histogram_bits(per), size = v ? 63 - (unsigned)__builtin_clzll(v) : 0;
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

static uint64_t mean_of(const struct histogram_bin *b, uint64_t code)
{
	double width = (double)(b->max - b->min) + 1,
	       mean = (double)b->min + ((double)code + 0.5) * width / (1 << BITS_MEAN) - 0.5;
	mean = mean < (double)b->min ? (double)b->min : mean > (double)b->max ? (double)b->max : mean;
	double exact = mean * (double)b->count;
	uint64_t sum = exact < 0x1p63 ? (uint64_t)exact : UINT64_C(1) << 63;
	/* just between two numbers it is the lower one, whose mean has this code; that of the upper one has the next */
	return sum + (exact < 0x1p52 && exact - (double)sum > 0.5);
}

static uint64_t mean_code(double mean, uint64_t min, uint64_t max)
{
	double width = (double)(max - min) + 1, code = (mean - (double)min + 0.5) / width * (1 << BITS_MEAN);
	return code <= 0 ? 0 : code >= (1 << BITS_MEAN) ? (1 << BITS_MEAN) - 1 : (uint64_t)code;
}

static uint32_t largest(const uint64_t *counts, uint32_t n)
{
	uint32_t at = 0;
	for (uint32_t i = 1; i < n; i++)
		at = counts[i] > counts[at] ? i : at;
	return at;
}

/* The counts of bins, rounded; one of them has what is left, so that they are as many as before. Returns which. That is
 * the only one that may not be a rounded number, so that rounding what was rounded changes nothing. */
static uint32_t round_counts(const struct histogram *t, uint64_t *counts)
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
		uint64_t half = counts[i] >> (DIGITS_COUNT + 1)
		                        ? UINT64_C(1) << (histogram_bits(counts[i] + 1) - DIGITS_COUNT - 2)
		                        : 0;
		if (i != rest)
			left -= counts[i] = entropy_cut(DIGITS_COUNT, counts[i] + half);
	}
	counts[rest] = left;
	return entropy_cut(DIGITS_COUNT, left) == left ? largest(counts, n) : rest;
}

/* What is left of the sum when the mean is known: how many of its bits are left out. */
static unsigned rest_below(uint64_t count, uint64_t mean)
{
	unsigned all = histogram_bits(count), used = histogram_bits(mean + 1),
		 room = used < BITS_SUM ? BITS_SUM - used : 0;
	return all > room ? all - room : 0;
}

uint64_t histogram_sum(const struct histogram *t)
{
	if (t->count == 0)
		return 0;
	uint64_t mean = t->sum / t->count;
	unsigned below = rest_below(t->count, mean);
	return mean * t->count + (t->sum % t->count >> below << below);
}

static void put_bins(struct entropy_writer *e, const struct histogram_place *p, struct histogram *t)
{
	uint64_t most = t->count / VALUES_PER_BIN;
	unsigned k = p->k;
	for (uint128 share = (uint128)histogram_sum(t) * p->share; share < p->all && k > 1; share *= SHARE_HALF)
		k /= 2;
	histogram_balance(t, most < 1 ? 1 : most < k ? (unsigned)most : k);
	entropy_put_symbol(e, p->at + IN_BINS, 7, t->bin_count);
	unsigned before = histogram_index(t->min);
	uint64_t counts[HISTOGRAM_BINS_MAX];
	uint32_t rest = t->bin_count > 1 ? round_counts(t, counts) : 0;
	entropy_put_bits(e, histogram_bits(t->bin_count), rest);
	for (uint32_t i = 0; t->bin_count > 1 && i < t->bin_count; i++) {
		const struct histogram_bin *b = &t->bins[i];
		/* inside of the extremes, for a reader to take it; all are, but for what was made of damaged memory */
		unsigned low = histogram_index(b->min < t->max ? b->min : t->max),
			 high = histogram_index(b->max > t->min ? b->max : t->min);
		high = high < low ? low : high;
		/* the range as the reader will have it */
		uint64_t min = histogram_floor(low) > t->min ? histogram_floor(low) : t->min;
		uint64_t max = histogram_floor(high + 1) - 1 < t->max ? histogram_floor(high + 1) - 1 : t->max;
		entropy_put_number(e, p->at + IN_BIN_MIN, HISTOGRAM_DIGITS, zigzag((int64_t)low - (int64_t)before));
		entropy_put_number(e, p->at + IN_BIN_MAX, HISTOGRAM_DIGITS, high - low);
		before = high;
		if (i != rest)
			entropy_put_number(e, p->at + IN_BIN_COUNT, DIGITS_COUNT, counts[i]);
		entropy_put_bits(e, BITS_MEAN, mean_code(histogram_bin_mean(b), min, max));
		entropy_put_number(e, p->at + IN_BIN_DEVIATION, HISTOGRAM_DIGITS,
		                   deviation_code(histogram_bin_deviation(b), max - min, PER_OCTAVE_BIN));
	}
}

void histogram_put_rank(struct entropy_writer *e, const struct histogram_place *p, uint32_t rank)
{
	entropy_put_bits(e, p->rank_bits, ordinals_number(p->order, rank));
}

uint32_t histogram_rank(struct entropy_reader *e, const struct histogram_place *p)
{
	return ordinals_rank(p->order, entropy_bits(e, p->rank_bits));
}

/* Rounded up, so that all values are between minimum and maximum; what was rounded stays as it is. */
static uint64_t distance(uint64_t v)
{
	unsigned size = histogram_bits(v) + (v & (v - 1) ? 0 : v > 0),
		 low = size > DIGITS_END + 1 ? size - DIGITS_END - 1 : 0;
	uint64_t up = v + ((UINT64_C(1) << low) - 1);
	return (up < v ? v : up) >> low << low;
}

static void put_visit(struct entropy_writer *e, const struct histogram_place *p, uint64_t visit)
{
	if (!p->once)
		entropy_put_number(e, p->at + IN_VISIT, DIGITS_VISIT, visit);
}

static uint64_t get_visit(struct entropy_reader *e, const struct histogram_place *p)
{
	return p->once ? 0 : entropy_number(e, p->at + IN_VISIT, DIGITS_VISIT);
}

void histogram_put(struct entropy_writer *e, const struct histogram_place *p, const struct histogram *time,
                   uint64_t expected)
{
	struct histogram t;
	if (histogram_copy(&t, time) != 0)
		e->out->failed = true;
	entropy_put_number(e, p->at + IN_COUNT, HISTOGRAM_DIGITS, zigzag((int64_t)(t.count - expected)));
	if (t.count == 0)
		goto done;
	/* ticks were turned into ns one by one: the mean may be next to the extremes, on the wrong side */
	uint64_t mean = t.sum / t.count, above = mean + (t.sum % t.count != 0);
	t.min = t.min < mean ? t.min : mean;
	t.max = t.max > above ? t.max : above;
	uint64_t less = distance(mean - t.min), more = distance(t.max - mean);
	t.min = less < mean ? mean - less : 0;
	t.max = more < UINT64_MAX - mean ? mean + more : UINT64_MAX;
	entropy_put_number(e, p->at + IN_MEAN, HISTOGRAM_DIGITS, mean);
	if (t.count > 1) {
		unsigned below = rest_below(t.count, mean);
		entropy_put_bits(e, histogram_bits(t.count) - below, t.sum % t.count >> below);
		entropy_put_number(e, p->at + IN_LOW, DIGITS_END, less);
		entropy_put_number(e, p->at + IN_HIGH, DIGITS_END, more);
	}
	if (p->only == UINT32_MAX)
		histogram_put_rank(e, p, t.min_rank);
	put_visit(e, p, t.min_visit);
	if (t.count > 1) {
		if (p->only == UINT32_MAX)
			histogram_put_rank(e, p, t.max_rank);
		put_visit(e, p, t.max_visit);
		entropy_put_number(e, p->at + IN_DEVIATION, HISTOGRAM_DIGITS,
		                   deviation_code(histogram_deviation(&t), t.max - t.min, PER_OCTAVE_WHOLE));
		put_bins(e, p, &t);
	}
done:
	histogram_free(&t);
}

static int get_bins(struct entropy_reader *e, const struct histogram_place *p, struct histogram *t)
{
	unsigned n = entropy_symbol(e, p->at + IN_BINS, 7), before = histogram_index(t->min);
	uint64_t left = t->count;
	if (n > HISTOGRAM_BINS_MAX || n == 0)
		return n == 0 ? 0 : -1;
	t->bins = budget_calloc(n, sizeof *t->bins);
	if (!t->bins)
		return -1;
	t->bin_count = n;
	uint64_t mean[HISTOGRAM_BINS_MAX], deviation[HISTOGRAM_BINS_MAX];
	unsigned rest = (unsigned)entropy_bits(e, histogram_bits(n));
	if (rest >= n)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		struct histogram_bin *b = &t->bins[i];
		if (n == 1) {
			*b = (struct histogram_bin){t->count, t->min, t->max, t->sum, t->squares};
			break;
		}
		uint64_t low = before + (uint64_t)unzigzag(entropy_number(e, p->at + IN_BIN_MIN, HISTOGRAM_DIGITS));
		uint64_t high = low + entropy_number(e, p->at + IN_BIN_MAX, HISTOGRAM_DIGITS);
		if (low > high || high >= 64 * HISTOGRAM_PER_OCTAVE)
			return -1;
		before = (unsigned)high;
		b->count = i == rest ? 0 : entropy_number(e, p->at + IN_BIN_COUNT, DIGITS_COUNT);
		if ((b->count == 0 && i != rest) || b->count >= left)
			return -1;
		left -= b->count;
		b->min = histogram_floor((unsigned)low) > t->min ? histogram_floor((unsigned)low) : t->min;
		b->max = histogram_floor((unsigned)high + 1) - 1 < t->max ? histogram_floor((unsigned)high + 1) - 1
		                                                          : t->max;
		if (b->max < b->min)
			return -1;
		mean[i] = entropy_bits(e, BITS_MEAN);
		deviation[i] = entropy_number(e, p->at + IN_BIN_DEVIATION, HISTOGRAM_DIGITS);
	}
	for (unsigned i = 0; n > 1 && i < n; i++) {
		struct histogram_bin *b = &t->bins[i];
		b->count = i == rest ? left : b->count;
		b->sum = mean_of(b, mean[i]);
		b->squares = squares_of(b->count, b->sum, deviation_of(deviation[i], b->max - b->min, PER_OCTAVE_BIN));
	}
	return 0;
}

/* Rounded up, the longest may be more than all together. */
static void lower_longest(struct histogram *t)
{
	if (t->max <= t->sum)
		return;
	t->max = t->sum;
	for (uint32_t i = 0; i < t->bin_count; i++) {
		struct histogram_bin *b = &t->bins[i];
		b->max = b->max < t->max ? b->max : t->max;
		b->min = b->min < b->max ? b->min : b->max;
	}
}

int histogram_get(struct entropy_reader *e, const struct histogram_place *p, struct histogram *t, uint64_t expected)
{
	t->count = expected + (uint64_t)unzigzag(entropy_number(e, p->at + IN_COUNT, HISTOGRAM_DIGITS));
	if (t->count == 0)
		return 0;
	uint64_t mean = entropy_number(e, p->at + IN_MEAN, HISTOGRAM_DIGITS);
	t->min = t->max = t->sum = mean;
	if (t->count > 1) {
		if (__builtin_mul_overflow(mean, t->count, &t->sum))
			return -1;
		unsigned below = rest_below(t->count, mean);
		t->sum += entropy_bits(e, histogram_bits(t->count) - below) << below;
		uint64_t less = entropy_number(e, p->at + IN_LOW, DIGITS_END),
			 more = entropy_number(e, p->at + IN_HIGH, DIGITS_END);
		t->min = less < mean ? mean - less : 0;
		t->max = more < UINT64_MAX - mean ? mean + more : UINT64_MAX;
	}
	t->min_rank = t->max_rank = p->only == UINT32_MAX ? histogram_rank(e, p) : p->only;
	t->min_visit = t->max_visit = get_visit(e, p);
	t->squares = squares_of(t->count, t->sum, 0);
	if (t->count > 1) {
		if (p->only == UINT32_MAX)
			t->max_rank = histogram_rank(e, p);
		t->max_visit = get_visit(e, p);
		t->squares = squares_of(t->count, t->sum,
		                        deviation_of(entropy_number(e, p->at + IN_DEVIATION, HISTOGRAM_DIGITS),
		                                     t->max - t->min, PER_OCTAVE_WHOLE));
		if (get_bins(e, p, t) != 0)
			return -1;
		lower_longest(t);
	}
	return 0;
}

struct histogram_visits *histogram_visits_new(const struct trace *t)
{
	struct histogram_visits *visits = budget_calloc((size_t)t->site_count + 1, sizeof *visits);
	for (uint32_t i = 0; visits && i < t->site_count; i++) {
		const struct rankmap *m = packed_visits(t, i, &visits[i].room);
		if (m) {
			visits[i].sum = (uint64_t)rankmap_sum(m);
			visits[i].ranks = rankmap_size(m);
			visits[i].first = rankmap_empty(m) ? 0 : rankmap_first(m);
		}
		if (!m || ordinals_init(&visits[i].order, m) != 0) {
			histogram_visits_free(visits, t);
			return NULL;
		}
	}
	return visits;
}

void histogram_visits_free(struct histogram_visits *visits, const struct trace *t)
{
	for (uint32_t i = 0; visits && i < t->site_count; i++) {
		ordinals_free(&visits[i].order);
		rankmap_free(&visits[i].room);
	}
	budget_free(visits);
}

struct histogram_place histogram_place(const struct trace *t, const struct histogram_visits *from,
                                       const struct histogram_visits *of, unsigned at)
{
	return (struct histogram_place){
		.at = at,
		.only = from->ranks == 1 ? from->first : UINT32_MAX,
		.rank_bits = histogram_bits(from->ranks),
		.order = &from->order,
		.once = of->sum <= of->ranks,
		.k = t->bins ? t->bins : HISTOGRAM_BINS,
	};
}
