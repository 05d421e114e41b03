/* SPDX-License-Identifier: BSD-3-Clause
 * tally - counts are exact, and what a tally holds depends on what was counted, not on the order
 */
#include "trace/model/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/model/value.h"
#include "trace/base/varint.h"

static bool equal(const struct tally *a, const struct tally *b)
{
	return a->count == b->count && (a->count == 0 || memcmp(a->bins, b->bins, a->count * sizeof *a->bins) == 0);
}

static int64_t draw(int kind)
{
	switch (kind) {
	case 0:
		return (int64_t)random_below(10);
	case 1:
		return (int64_t)random_below(17);
	case 2:
		return (int64_t)random_below(100000) - 50000;
	case 3:
		return random_below(3) ? 5 : VALUE_CONSTANT + (int64_t)random_below(4);
	default:
		return (int64_t)(random_below(UINT64_C(1) << 62) << random_below(2));
	}
}

/* Is each bin what the values inside it say? */
static bool exact(const struct tally *t, const int64_t *values, size_t n)
{
	for (uint32_t i = 0; i < t->count; i++) {
		const struct tally_bin *b = &t->bins[i];
		uint64_t count = 0, sum = 0;
		bool least = false, most = false;
		for (size_t k = 0; k < n; k++)
			if (values[k] >= b->min && values[k] <= b->max) {
				count++;
				sum += (uint64_t)values[k];
				least |= values[k] == b->min;
				most |= values[k] == b->max;
			}
		if (count != b->count || sum != b->sum || !least || !most || (i > 0 && b->min <= t->bins[i - 1].max))
			return false;
	}
	return tally_count(t) == n;
}

/* Counts of damaged memory: what is written can be read. */
static void test_clamped(void)
{
	struct tally t = {0}, back = {0};
	struct writer w = {0};
	tally_add(&t, 1, UINT64_C(1) << 63);
	tally_add(&t, 2, INT64_MAX);
	tally_add(&t, 2, INT64_MAX);
	tally_add_run(&t, 3, 0, UINT64_C(1) << 32, UINT64_C(1) << 32);
	tally_add_run(&t, 4, 1, 2, UINT64_C(1) << 63);
	tally_put(&w, &t);
	struct reader r = reader_of(w.data, w.size);
	bool same = tally_get(&r, &back) == 0 && r.at == r.end && back.count == 5;
	for (uint32_t i = 0; i < back.count; i++)
		same &= back.bins[i].count == INT64_MAX;
	ok(same, "counts stay below 2^63");
	tally_fold(&t, VALUE_CONSTANT);
	ok(t.count == 1 && t.bins[0].count == INT64_MAX, "also of all together");
	tally_free(&t);
	tally_free(&back);
	writer_free(&w);
}

int main(void)
{
	enum { N = 400, PARTS = 7 };
	int wrong_order = 0, wrong_count = 0, wrong_balance = 0, wrong_format = 0, wrong_run = 0, wrong_exact = 0;
	random_seed(4711);
	for (int round = 0; round < 1000; round++) {
		int64_t values[N];
		size_t n = 1 + random_below(N - 1);
		struct tally whole = {0}, part[PARTS] = {{0}}, left = {0}, right = {0};
		int64_t seen[N];
		size_t distinct = 0;
		for (size_t i = 0; i < n; i++) {
			values[i] = draw(round % 5);
			tally_add(&whole, values[i], 1);
			tally_add(&part[random_below(PARTS)], values[i], 1);
			size_t k = 0;
			while (k < distinct && seen[k] != values[i])
				k++;
			if (k == distinct && !value_is_constant(values[i]))
				seen[distinct++] = values[i];
		}
		for (int i = 0; i < PARTS; i++) {
			tally_merge(&left, &part[i]);
			tally_merge(&right, &part[PARTS - 1 - i]);
		}
		wrong_order += !equal(&left, &whole) || !equal(&right, &whole);
		wrong_count += !exact(&whole, values, n);
		wrong_exact += tally_coarse(&whole) != (distinct > TALLY_EXACT);
		struct writer w = {0};
		tally_put(&w, &whole);
		struct reader r = reader_of(w.data, w.size);
		struct tally back = {0};
		wrong_format += tally_get(&r, &back) != 0 || r.at != r.end || !equal(&back, &whole);
		tally_free(&back);
		writer_free(&w);
		uint64_t bins = 1 + random_below(9);
		tally_balance(&whole, (uint32_t)bins);
		wrong_balance += !exact(&whole, values, n) ||
		                 (distinct > TALLY_EXACT && whole.count - tally_constants(&whole) > bins);
		tally_free(&whole);
		tally_free(&left);
		tally_free(&right);
		for (int i = 0; i < PARTS; i++)
			tally_free(&part[i]);
		/* a stretch is the same as its values */
		int64_t start = (int64_t)random_below(1000) - 500, stride = (int64_t)random_below(41) - 20;
		uint64_t count = 1 + random_below(200), times = 1 + random_below(3);
		struct tally one = {0}, all = {0};
		if (random_below(2)) {
			tally_add(&one, 12, 3);
			tally_add(&all, 12, 3);
		}
		tally_add_run(&all, start, stride, count, times);
		for (uint64_t i = 0; i < count; i++)
			tally_add(&one, start + stride * (int64_t)i, times);
		wrong_run += !equal(&one, &all);
		tally_free(&one);
		tally_free(&all);
	}
	ok(wrong_count == 0, "each bin has the count, the sum, the least and the greatest of its values");
	ok(wrong_exact == 0, "up to 16 different numbers are counted one by one");
	ok(wrong_order == 0, "no order of counting or merging matters");
	ok(wrong_balance == 0, "balanced bins are few, and exact");
	ok(wrong_format == 0, "a tally is read as it was written");
	ok(wrong_run == 0, "a stretch is the same as its values one by one");
	struct tally even = {0};
	for (int i = 0; i < 8000; i++)
		tally_add(&even, i * 1000, 1);
	tally_balance(&even, 8);
	uint64_t most = 0;
	for (uint32_t i = 0; i < even.count; i++)
		most = even.bins[i].count > most ? even.bins[i].count : most;
	ok(even.count >= 6 && most < 2000, "bins of even values are about even");
	tally_free(&even);
	test_clamped();
	return tap_end();
}
