/* SPDX-License-Identifier: BSD-3-Clause
 * histogram - histograms of durations
 */
#include "trace/model/histogram.h"

#include <limits.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/varint.h"

uint64_t histogram_floor(unsigned index)
{
	unsigned octave = index / HISTOGRAM_PER_OCTAVE, sub = index % HISTOGRAM_PER_OCTAVE;
	if (octave > 63)
		return UINT64_MAX;
	if (index == 0)
		return 0;
	uint64_t power = UINT64_C(1) << octave;
	return octave >= 3 ? power + (power >> 3) * sub : power + ((uint64_t)sub * power + 7) / 8;
}

void histogram_free(struct histogram *t)
{
	budget_free(t->bins);
	*t = (struct histogram){0};
}

int histogram_copy(struct histogram *to, const struct histogram *t)
{
	*to = (struct histogram){0};
	return histogram_add(to, t);
}

static unsigned bin_index(const struct histogram_bin *b)
{
	return histogram_index(b->sum / b->count);
}

static void bin_add(struct histogram_bin *to, const struct histogram_bin *b)
{
	to->count += b->count;
	to->sum += b->sum;
	to->squares += b->squares;
	to->min = b->min < to->min ? b->min : to->min;
	to->max = b->max > to->max ? b->max : to->max;
}

#define NO_INDEX UINT_MAX

static unsigned index_at(const struct histogram *t, uint32_t i)
{
	return i < t->bin_count ? bin_index(&t->bins[i]) : NO_INDEX;
}

static int bins_add(struct histogram *to, const struct histogram *t)
{
	if (t->bin_count == 0)
		return 0;
	struct histogram_bin *bins = budget_malloc((to->bin_count + (size_t)t->bin_count) * sizeof *bins);
	uint32_t n = 0, i = 0, k = 0;
	if (!bins)
		return -1;
	if (to->bin_count == 0) { /* as mostly, where traces are copied */
		memcpy(bins, t->bins, t->bin_count * sizeof *bins);
		n = k = t->bin_count;
	}
	/* dividing is what this takes its time for: an index is computed once, and two that are equal stay so as one */
	for (unsigned ours = index_at(to, 0), theirs = index_at(t, k), last = NO_INDEX, now;
	     (now = ours <= theirs ? ours : theirs) != NO_INDEX; last = now) {
		const struct histogram_bin *b = ours <= theirs ? &to->bins[i] : &t->bins[k];
		if (now == last)
			bin_add(&bins[n - 1], b);
		else
			bins[n++] = *b;
		if (ours <= theirs)
			ours = index_at(to, ++i);
		else
			theirs = index_at(t, ++k);
	}
	budget_free(to->bins);
	to->bins = bins;
	to->bin_count = n;
	return 0;
}

/* True if (rank, visit) of an extreme value comes before the other. */
static bool before(uint32_t rank, uint64_t visit, uint32_t other_rank, uint64_t other_visit)
{
	return rank != other_rank ? rank < other_rank : visit < other_visit;
}

int histogram_add(struct histogram *to, const struct histogram *t)
{
	if (t->count == 0)
		return 0;
	if (to->count == 0 || t->min < to->min ||
	    (t->min == to->min && before(t->min_rank, t->min_visit, to->min_rank, to->min_visit))) {
		to->min = t->min;
		to->min_rank = t->min_rank;
		to->min_visit = t->min_visit;
	}
	if (to->count == 0 || t->max > to->max ||
	    (t->max == to->max && before(t->max_rank, t->max_visit, to->max_rank, to->max_visit))) {
		to->max = t->max;
		to->max_rank = t->max_rank;
		to->max_visit = t->max_visit;
	}
	to->count += t->count;
	to->sum += t->sum;
	to->squares += t->squares;
	return bins_add(to, t);
}

void histogram_balance(struct histogram *t, unsigned k)
{
	/* most of a trace with thousands of sites: nothing is to be chosen */
	for (uint32_t i = 1; k == 1 && i < t->bin_count; i++)
		bin_add(&t->bins[0], &t->bins[i]);
	if (k == 1 && t->bin_count > 1)
		t->bin_count = 1;
	/* the loss: how much the values' spread inside of bins grows, relative to their size */
	while (t->bin_count > k) {
		uint32_t best = 0;
		double least = 0;
		for (uint32_t i = 0; i + 1 < t->bin_count; i++) {
			const struct histogram_bin *a = &t->bins[i], *b = a + 1;
			double n = (double)a->count * (double)b->count / ((double)a->count + (double)b->count);
			double far = histogram_bin_mean(b) / (histogram_bin_mean(a) + 1) - 1, cost = n * far * far;
			if (i == 0 || cost < least) {
				best = i;
				least = cost;
			}
		}
		bin_add(&t->bins[best], &t->bins[best + 1]);
		memmove(&t->bins[best + 1], &t->bins[best + 2], (t->bin_count - best - 2) * sizeof *t->bins);
		t->bin_count--;
	}
}

static double root(double v)
{
	/* no libm in a user's process */
	if (!(v > 0))
		return 0;
	double x = v > 1 ? v : 1;
	for (int i = 0; i < 2000; i++) {
		double next = (x + v / x) / 2;
		if (next >= x)
			break;
		x = next;
	}
	return x;
}

static double deviation(uint64_t count, uint64_t sum, uint128 squares)
{
	/* n * squares - sum^2 cancels in floating point: sums of squares around the mean, in integers */
	if (count == 0)
		return 0;
	uint128 mean = sum / count, rest = sum % count;
	/* squares - 2 mean sum + count mean^2, around the mean rounded down, is at least 0 */
	uint128 around = squares - 2 * mean * sum + (uint128)count * mean * mean;
	double fraction = (double)rest / (double)count, variance = (double)around / (double)count - fraction * fraction;
	return root(variance);
}

double histogram_mean(const struct histogram *t)
{
	return t->count ? (double)t->sum / (double)t->count : 0;
}

double histogram_deviation(const struct histogram *t)
{
	return deviation(t->count, t->sum, t->squares);
}

double histogram_bin_mean(const struct histogram_bin *b)
{
	return b->count ? (double)b->sum / (double)b->count : 0;
}

double histogram_bin_deviation(const struct histogram_bin *b)
{
	return deviation(b->count, b->sum, b->squares);
}

/* A point of the bin such that its mean is kept. */
double histogram_at(const struct histogram *t, double place)
{
	double rest = (double)t->count - 2, at = place * rest;
	if (rest <= 0)
		return histogram_mean(t);
	for (uint32_t i = 0; i < t->bin_count; i++) {
		const struct histogram_bin *b = &t->bins[i];
		double count = (double)b->count - (i == 0) - (i + 1 == t->bin_count);
		double sum =
			(double)b->sum - (i == 0 ? (double)t->min : 0) - (i + 1 == t->bin_count ? (double)t->max : 0);
		if (count <= 0)
			continue;
		if (at >= count) {
			at -= count;
			continue;
		}
		double mean = sum / count, down = mean - (double)b->min, up = (double)b->max - mean,
		       width = down < up ? down : up;
		return width > 0 ? mean + (2 * at / count - 1) * width : mean;
	}
	return ((double)t->sum - (double)t->min - (double)t->max) / rest;
}

#define GOLDEN 0.6180339887498949 /* the fraction that spreads points most evenly, however many there are */

double histogram_draw(const struct histogram *t, uint32_t rank, uint64_t visit, double *place)
{
	if (t->count == 0)
		return 0;
	if (t->max_rank == rank && t->max_visit == visit)
		return (double)t->max;
	if (t->min_rank == rank && t->min_visit == visit)
		return (double)t->min;
	*place += GOLDEN;
	*place -= *place >= 1;
	double v = histogram_at(t, *place);
	return v > 0 ? v : 0;
}
