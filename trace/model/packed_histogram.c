/* SPDX-License-Identifier: BSD-3-Clause
 * packed_histogram - a histogram as bytes, inside of one process
 *
 * Most bins have one value: 1, how often it came, the value. Others have a 0, and their range, sum and squares behind
 * that.
 *
 * Invariant: what is unpacked is what was packed.
 */
#include "trace/model/packed_histogram.h"

#include <assert.h>

#include "trace/base/budget.h"

/* Sums of squares are little more than they would be if all values were the mean. */
static uint128 least_squares(uint64_t count, uint64_t sum)
{
	return (uint128)sum * sum / count;
}

static void pack_squares(struct writer *w, uint128 squares, uint64_t count, uint64_t sum)
{
	squares -= least_squares(count, sum);
	writer_uint(w, (uint64_t)squares);
	writer_uint(w, (uint64_t)(squares >> 64));
}

static uint128 unpack_squares(struct reader *r, uint64_t count, uint64_t sum)
{
	uint64_t low = reader_uint(r);
	return ((uint128)reader_uint(r) << 64 | low) + least_squares(count, sum);
}

/* Most bins have one value, or the same several times. */
static void pack_bin(struct writer *w, const struct histogram_bin *b)
{
	bool equal = b->min == b->max && b->sum == b->count * b->min && b->squares == least_squares(b->count, b->sum);
	assert(b->count > 0);
	writer_uint(w, equal);
	writer_uint(w, b->count);
	writer_uint(w, b->min);
	if (equal)
		return;
	writer_uint(w, b->max - b->min);
	writer_uint(w, b->sum - b->count * b->min);
	pack_squares(w, b->squares, b->count, b->sum);
}

static void unpack_bin(struct reader *r, struct histogram_bin *b)
{
	bool equal = reader_uint(r);
	b->count = reader_uint(r);
	b->min = b->max = reader_uint(r);
	b->sum = b->count * b->min;
	if (equal) {
		b->squares = least_squares(b->count, b->sum);
		return;
	}
	b->max += reader_uint(r);
	b->sum += reader_uint(r);
	b->squares = unpack_squares(r, b->count, b->sum);
}

void histogram_pack(struct writer *w, const struct histogram *t)
{
	writer_uint(w, t->count);
	if (t->count == 0)
		return;
	writer_uint(w, t->min);
	writer_uint(w, t->sum - t->min);
	writer_uint(w, t->max - t->min);
	writer_uint(w, t->min_rank);
	writer_uint(w, t->max_rank);
	writer_uint(w, t->min_visit);
	writer_uint(w, t->max_visit);
	pack_squares(w, t->squares, t->count, t->sum);
	writer_uint(w, t->bin_count);
	for (uint32_t i = 0; i < t->bin_count; i++)
		pack_bin(w, &t->bins[i]);
}

int histogram_unpack(struct reader *r, struct histogram *t)
{
	t->count = reader_uint(r);
	if (t->count == 0)
		return 0;
	t->min = reader_uint(r);
	t->sum = t->min + reader_uint(r);
	t->max = t->min + reader_uint(r);
	t->min_rank = (uint32_t)reader_uint(r);
	t->max_rank = (uint32_t)reader_uint(r);
	t->min_visit = reader_uint(r);
	t->max_visit = reader_uint(r);
	t->squares = unpack_squares(r, t->count, t->sum);
	uint64_t n = reader_uint(r);
	t->bins = n ? budget_malloc(n * sizeof *t->bins) : NULL;
	if (n && !t->bins)
		return -1;
	while (t->bin_count < n)
		unpack_bin(r, &t->bins[t->bin_count++]);
	return 0;
}
