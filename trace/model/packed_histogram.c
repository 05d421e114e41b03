/* SPDX-License-Identifier: BSD-3-Clause
 * packed_histogram - a histogram as bytes, as it is
 *
 * While thousands of sites are merged, most of what is in memory, and on the way from rank to rank, are bins; and most
 * bins have one value, or the same one several times. 1000 us twice, in visits 0 and 4 of rank 3, and 1500 us once, in
 * visit 2:
 *
 *     6                      three values that are not alike
 *     1000 3 0               the least, its rank and visit
 *     500 500 3 2            the most, and the sum, above it; rank and visit of the most
 *     750000 0 2             squares above what they are at least, in two halves; two bins:
 *     5 1000                 two values that are alike (2 * 2 + 1)
 *     3 500                  one, so much above the one before
 *
 * Invariant: what is unpacked is what was packed.
 */
#include "trace/model/packed_histogram.h"

#include <assert.h>

#include "trace/base/budget.h"

/* Is it the same value, so often? */
static bool is_alike(uint64_t count, uint64_t min, uint64_t max, uint64_t sum, uint128 squares)
{
	return min == max && sum == count * min && squares == (uint128)sum * min;
}

/* What is above the least that it can be: no value is less than min. */
static void pack_rest(struct writer *w, uint64_t count, uint64_t min, uint64_t sum)
{
	writer_uint(w, sum - count * min);
}

static void pack_squares(struct writer *w, uint64_t min, uint64_t sum, uint128 squares)
{
	squares -= (uint128)sum * min;
	writer_uint(w, (uint64_t)squares);
	writer_uint(w, (uint64_t)(squares >> 64));
}

static uint128 unpack_squares(struct reader *r, uint64_t min, uint64_t sum)
{
	uint64_t low = reader_uint(r);
	return ((uint128)reader_uint(r) << 64 | low) + (uint128)sum * min;
}

static void pack_bin(struct writer *w, const struct histogram_bin *b, uint64_t before)
{
	bool alike = is_alike(b->count, b->min, b->max, b->sum, b->squares);
	assert(b->count <= UINT64_MAX / 2);
	writer_uint(w, b->count << 1 | alike);
	writer_int(w, (int64_t)(b->min - before));
	if (alike)
		return;
	writer_uint(w, b->max - b->min);
	pack_rest(w, b->count, b->min, b->sum);
	pack_squares(w, b->min, b->sum, b->squares);
}

static void unpack_bin(struct reader *r, struct histogram_bin *b, uint64_t before)
{
	uint64_t head = reader_uint(r);
	b->count = head >> 1;
	b->min = b->max = before + (uint64_t)reader_int(r);
	b->sum = b->count * b->min;
	b->squares = (uint128)b->sum * b->min;
	if (head & 1)
		return;
	b->max += reader_uint(r);
	b->sum += reader_uint(r);
	b->squares = unpack_squares(r, b->min, b->sum);
}

/* Is all that it says one value, so often? */
static bool has_one_value(const struct histogram *t)
{
	const struct histogram_bin *b = t->bins;
	return t->bin_count == 1 && is_alike(t->count, t->min, t->max, t->sum, t->squares) && b->count == t->count &&
	       b->min == t->min && is_alike(b->count, b->min, b->max, b->sum, b->squares) &&
	       (t->count > 1 || (t->min_rank == t->max_rank && t->min_visit == t->max_visit));
}

void histogram_pack(struct writer *w, const struct histogram *t)
{
	bool one = t->count > 0 && has_one_value(t);
	assert(t->count <= UINT64_MAX / 2);
	writer_uint(w, t->count << 1 | one);
	if (t->count == 0)
		return;
	writer_uint(w, t->min);
	writer_uint(w, t->min_rank);
	writer_uint(w, t->min_visit);
	if (!one) {
		writer_uint(w, t->max - t->min);
		pack_rest(w, t->count, t->min, t->sum);
	}
	if (!one || t->count > 1) {
		writer_uint(w, t->max_rank);
		writer_uint(w, t->max_visit);
	}
	if (one)
		return;
	pack_squares(w, t->min, t->sum, t->squares);
	writer_uint(w, t->bin_count);
	for (uint32_t i = 0; i < t->bin_count; i++)
		pack_bin(w, &t->bins[i], i ? t->bins[i - 1].min : t->min);
}

uint32_t histogram_unpack_rank(struct reader *r)
{
	uint64_t rank = reader_uint(r);
	return rank < UINT32_MAX ? (uint32_t)rank : UINT32_MAX;
}

/* n bins of t->count values. */
static int unpack_bins(struct reader *r, struct histogram *t, size_t n)
{
	uint64_t left = t->count, before = t->min;
	if (r->bad || n > 64 * HISTOGRAM_PER_OCTAVE)
		return -1;
	t->bins = n ? budget_malloc(n * sizeof *t->bins) : NULL;
	if (n && !t->bins)
		return -1;
	while (t->bin_count < n) {
		struct histogram_bin *b = &t->bins[t->bin_count++];
		unpack_bin(r, b, before);
		before = b->min;
		if (b->count == 0 || b->count > left)
			return -1;
		left -= b->count;
	}
	return n > 0 && left > 0 ? -1 : 0;
}

int histogram_unpack(struct reader *r, struct histogram *t)
{
	uint64_t head = reader_uint(r);
	bool one = head & 1;
	t->count = head >> 1;
	if (t->count == 0)
		return one ? -1 : 0;
	t->min = t->max = reader_uint(r);
	t->min_rank = t->max_rank = histogram_unpack_rank(r);
	t->min_visit = t->max_visit = reader_uint(r);
	t->sum = t->count * t->min;
	if (!one) {
		t->max += reader_uint(r);
		t->sum += reader_uint(r);
	}
	if (!one || t->count > 1) {
		t->max_rank = histogram_unpack_rank(r);
		t->max_visit = reader_uint(r);
	}
	if (!one) {
		t->squares = unpack_squares(r, t->min, t->sum);
		return unpack_bins(r, t, reader_count(r));
	}
	t->squares = (uint128)t->sum * t->min;
	t->bins = r->bad ? NULL : budget_malloc(sizeof *t->bins);
	if (!t->bins)
		return -1;
	t->bins[t->bin_count++] = (struct histogram_bin){t->count, t->min, t->max, t->sum, t->squares};
	return 0;
}
