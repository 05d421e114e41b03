/* SPDX-License-Identifier: BSD-3-Clause
 * time - histograms of durations
 */
#include "trace/time.h"

#include <stdlib.h>
#include <string.h>

uint64_t time_floor(unsigned index)
{
	unsigned octave = index / TIME_PER_OCTAVE, sub = index % TIME_PER_OCTAVE;
	if (octave > 63)
		return UINT64_MAX;
	if (index == 0)
		return 0;
	uint64_t power = UINT64_C(1) << octave;
	return octave >= 3 ? power + (power >> 3) * sub : power + ((uint64_t)sub * power + 7) / 8;
}

void trace_time_free(struct trace_time *t)
{
	free(t->bins);
	*t = (struct trace_time){0};
}

int trace_time_copy(struct trace_time *to, const struct trace_time *t)
{
	*to = (struct trace_time){0};
	return trace_time_add(to, t);
}

static unsigned bin_index(const struct time_bin *b)
{
	return time_index(b->sum / b->count);
}

static void bin_add(struct time_bin *to, const struct time_bin *b)
{
	to->count += b->count;
	to->sum += b->sum;
	to->squares += b->squares;
	to->min = b->min < to->min ? b->min : to->min;
	to->max = b->max > to->max ? b->max : to->max;
}

static int bins_add(struct trace_time *to, const struct trace_time *t)
{
	if (t->bin_count == 0)
		return 0;
	struct time_bin *bins = malloc((to->bin_count + (size_t)t->bin_count) * sizeof *bins);
	uint32_t n = 0;
	if (!bins)
		return -1;
	for (uint32_t i = 0, k = 0; i < to->bin_count || k < t->bin_count;) {
		bool ours = k == t->bin_count || (i < to->bin_count && bin_index(&to->bins[i]) <= bin_index(&t->bins[k]));
		const struct time_bin *b = ours ? &to->bins[i++] : &t->bins[k++];
		if (n > 0 && bin_index(&bins[n - 1]) == bin_index(b))
			bin_add(&bins[n - 1], b);
		else
			bins[n++] = *b;
	}
	free(to->bins);
	to->bins = bins;
	to->bin_count = n;
	return 0;
}

/* True if (rank, visit) of an extreme value comes before the other. */
static bool before(uint32_t rank, uint64_t visit, uint32_t other_rank, uint64_t other_visit)
{
	return rank != other_rank ? rank < other_rank : visit < other_visit;
}

int trace_time_add(struct trace_time *to, const struct trace_time *t)
{
	if (t->count == 0)
		return 0;
	if (to->count == 0 || t->min < to->min || (t->min == to->min && before(t->min_rank, t->min_visit, to->min_rank, to->min_visit))) {
		to->min = t->min;
		to->min_rank = t->min_rank;
		to->min_visit = t->min_visit;
	}
	if (to->count == 0 || t->max > to->max || (t->max == to->max && before(t->max_rank, t->max_visit, to->max_rank, to->max_visit))) {
		to->max = t->max;
		to->max_rank = t->max_rank;
		to->max_visit = t->max_visit;
	}
	to->count += t->count;
	to->sum += t->sum;
	to->squares += t->squares;
	return bins_add(to, t);
}

void trace_time_balance(struct trace_time *t, unsigned k)
{
	/* Joining two neighbours costs how full the result is (relative to a fair share) times how far its values are apart: the cheapest first. So a
	 * rare but distant group of values keeps a bin of its own, and a crowded stretch is cut where it is thinnest. */
	while (t->bin_count > k) {
		uint32_t best = 0;
		double least = 0;
		for (uint32_t i = 0; i + 1 < t->bin_count; i++) {
			const struct time_bin *a = &t->bins[i], *b = a + 1;
			double n = (double)a->count * (double)b->count / ((double)a->count + (double)b->count);
			double far = time_bin_mean(b) / (time_bin_mean(a) + 1) - 1, cost = n * far * far;
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

double trace_time_mean(const struct trace_time *t)
{
	return t->count ? (double)t->sum / (double)t->count : 0;
}

double trace_time_deviation(const struct trace_time *t)
{
	return deviation(t->count, t->sum, t->squares);
}

double time_bin_mean(const struct time_bin *b)
{
	return b->count ? (double)b->sum / (double)b->count : 0;
}

double time_bin_deviation(const struct time_bin *b)
{
	return deviation(b->count, b->sum, b->squares);
}

double trace_time_quantile(const struct trace_time *t, double q)
{
	if (t->count == 0)
		return 0;
	double wanted = q * (double)t->count;
	for (uint32_t i = 0; i < t->bin_count; i++) {
		const struct time_bin *b = &t->bins[i];
		if (wanted <= (double)b->count) {
			double v = (double)b->min + ((double)b->max - (double)b->min) * (wanted > 0 ? wanted / (double)b->count : 0);
			return v < (double)t->min ? (double)t->min : v > (double)t->max ? (double)t->max : v;
		}
		wanted -= (double)b->count;
	}
	return q < 0.5 ? (double)t->min : (double)t->max;
}
