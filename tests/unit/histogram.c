/* SPDX-License-Identifier: BSD-3-Clause
 * histogram - tests of histograms: in an arena, merged, balanced
 */
#include "trace/record/record_time.h"
#include "trace/file/times_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/file/container.h"

static struct arena arena;

static struct record_time *new_time(void)
{
	return arena_at(&arena, struct record_time, arena_alloc(&arena, sizeof(struct record_time)));
}

static bool near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * fabs(b);
}

static bool same(const struct histogram *a, const struct histogram *b)
{
	if (a->count != b->count || a->sum != b->sum || a->min != b->min || a->max != b->max ||
	    a->min_rank != b->min_rank || a->max_rank != b->max_rank || a->min_visit != b->min_visit ||
	    a->max_visit != b->max_visit || a->squares != b->squares || a->bin_count != b->bin_count)
		return false;
	for (uint32_t i = 0; i < a->bin_count; i++) {
		const struct histogram_bin *x = &a->bins[i], *y = &b->bins[i];
		if (x->count != y->count || x->sum != y->sum || x->min != y->min || x->max != y->max ||
		    x->squares != y->squares)
			return false;
	}
	return true;
}

static void test_index(void)
{
	bool monotonous = true, inside = true, narrow = true;
	for (unsigned i = 0; i < 64 * HISTOGRAM_PER_OCTAVE; i++) {
		uint64_t floor = histogram_floor(i), end = histogram_floor(i + 1);
		monotonous = monotonous && end >= floor;
		if (end > floor) {
			inside = inside && histogram_index(floor) == i && histogram_index(end - 1) == i;
			narrow = narrow && (double)(end - floor) <= 0.125 * (double)floor + 2;
		}
	}
	ok(monotonous, "bins ascend");
	ok(inside, "a value is in the bin whose range it is in");
	ok(narrow, "no bin is wider than an eighth");
	ok(histogram_index(0) == 0 && histogram_index(UINT64_MAX) == 511, "the least and the largest value have bins");
}

static void test_bimodal(void)
{
	struct record_time *t = new_time();
	struct histogram h;
	double sum = 0, squares = 0;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t v = i % 10 == 3 ? 1000000 + i : 20000 + i;
		record_time_add(&arena, t, v, i);
		sum += (double)v;
		squares += (double)v * (double)v;
	}
	ok(record_time_extract(&h, &arena, t, 0.5, 7) == 0, "extracted");
	ok(h.count == 1000 && h.sum == (uint64_t)(sum / 2 + 0.5), "count and sum are exact");
	ok(h.min == 10000 && h.min_visit == 0 && h.min_rank == 7, "minimum, its visit and rank");
	ok(h.max == (1000993 + 1) / 2 && h.max_visit == 993 && h.max_rank == 7, "maximum, its visit and rank");
	ok(near(histogram_deviation(&h), sqrt(squares / 1000 - sum / 1000 * sum / 1000) / 2, 1e-6),
	   "deviation is exact");
	histogram_balance(&h, 2);
	ok(h.bin_count == 2 && h.bins[0].count == 900 && h.bins[1].count == 100, "two bins: the two modes");
	ok(near(histogram_bin_mean(&h.bins[0]), 10249.9, 0.001) && near(histogram_bin_mean(&h.bins[1]), 500249, 0.001),
	   "their means");
	ok(h.bins[0].max < 11300 && h.bins[1].min > 440000, "their ranges are apart");
	histogram_free(&h);
}

/* Bins that are kept apart, and that the window does not have. */
static unsigned apart(const struct record_time *t)
{
	unsigned n = 0;
	for (ref at = t->spilled; at; at = arena_at(&arena, struct record_spill, at)->next)
		n += arena_at(&arena, struct record_spill, at)->index - t->first >= t->count;
	return n;
}

static void test_wide(void)
{
	struct record_time *t = new_time();
	struct histogram h;
	uint64_t sum = 0, n = 0;
	unsigned most = 0;
	for (unsigned turn = 0; turn < 3; turn++)
		for (unsigned i = 0; i < 120; i++, n++) {
			uint64_t v = histogram_floor(40 + i * 7 % 120); /* never a bin beside the one before */
			record_time_add(&arena, t, v, n);
			sum += v;
			most = apart(t) > most ? apart(t) : most;
		}
	ok(most <= 16 && t->count >= 120, "values of all lengths: few bins are kept apart (%u)", most);
	ok(record_time_extract(&h, &arena, t, 1, 0) == 0 && h.count == n && h.sum == sum, "and none is lost");
	histogram_free(&h);
}

static void test_constant(void)
{
	struct record_time *t = new_time();
	struct histogram h;
	for (unsigned i = 0; i < 100; i++)
		record_time_add(&arena, t, 123456, i);
	ok(record_time_extract(&h, &arena, t, 1, 0) == 0 && h.bin_count == 1 && h.sum == 12345600 && h.min == h.max,
	   "equal values: one bin");
	ok(histogram_deviation(&h) == 0 && histogram_bin_deviation(&h.bins[0]) == 0, "and no deviation");
	histogram_free(&h);
	t = new_time();
	ok(record_time_extract(&h, &arena, t, 1, 0) == 0 && h.count == 0, "no values");
	record_time_add(&arena, t, 0, 5);
	ok(record_time_extract(&h, &arena, t, 1, 0) == 0 && h.count == 1 && h.sum == 0 && h.max == 0, "the value 0");
	histogram_free(&h);
}

static void test_full_words(void)
{
	struct record_time *t = new_time();
	struct histogram h;
	const uint64_t n = (UINT64_C(1) << 24) + 12345;
	for (uint64_t i = 0; i < n; i++)
		record_time_add(&arena, t, i & 1 ? 1000 : 1003, i);
	ok(record_time_extract(&h, &arena, t, 1, 0) == 0 && h.count == n,
	   "a bin's word that is full goes on in another one");
	ok(near(histogram_bin_mean(&h.bins[0]), 1001.5, 0.0001) && near(histogram_deviation(&h), 1.5, 0.0001),
	   "with the same mean");
	histogram_free(&h);
}

static void test_merge(void)
{
	enum { PARTS = 16 };
	struct histogram part[PARTS], forward = {0}, backward = {0}, pairs = {0};
	bool good = true;
	uint64_t count = 0;
	for (unsigned p = 0; p < PARTS; p++) {
		struct record_time *t = new_time();
		for (unsigned i = 0; i < 100 * (p + 1); i++, count++)
			record_time_add(&arena, t, 100 + random_next() % (UINT64_C(1) << (8 + p)), i);
		good = record_time_extract(&part[p], &arena, t, 0.4 + p * 0.01, p) == 0 && good;
	}
	for (unsigned p = 0; p < PARTS; p++) {
		good = histogram_add(&forward, &part[p]) == 0 && histogram_add(&backward, &part[PARTS - 1 - p]) == 0 &&
		       good;
		struct histogram two = {0};
		if (p % 2 == 0)
			good = histogram_add(&two, &part[p + 1]) == 0 && histogram_add(&two, &part[p]) == 0 &&
			       histogram_add(&pairs, &two) == 0 && good;
		histogram_free(&two);
	}
	ok(good && same(&forward, &backward) && same(&forward, &pairs), "no order of merging changes anything");
	uint64_t in_bins = 0, sum = 0;
	for (uint32_t i = 0; i < forward.bin_count; i++) {
		in_bins += forward.bins[i].count;
		sum += forward.bins[i].sum;
	}
	ok(in_bins == count && in_bins == forward.count && sum == forward.sum, "all values are in bins");
	histogram_balance(&forward, 8);
	good = forward.bin_count == 8;
	for (uint32_t i = 1; i < forward.bin_count; i++)
		good = good && histogram_bin_mean(&forward.bins[i - 1]) < histogram_bin_mean(&forward.bins[i]);
	ok(good, "balanced: eight bins, ascending");
	histogram_free(&forward);
	histogram_free(&backward);
	histogram_free(&pairs);
	for (unsigned p = 0; p < PARTS; p++)
		histogram_free(&part[p]);
}

/* Are the bins those of all values, and none has a mean that its range cannot have? */
static bool bins_add_up(const struct histogram *h)
{
	uint64_t count = 0, sum = 0;
	bool good = true;
	for (uint32_t i = 0; i < h->bin_count; i++) {
		const struct histogram_bin *b = &h->bins[i];
		count += b->count;
		sum += b->sum;
		good = good && b->min <= b->max && b->sum >= b->count * b->min && b->sum <= b->count * b->max;
	}
	return good && count == h->count && sum == h->sum;
}

static void test_no_room(void)
{
	struct arena small;
	struct histogram h;
	if (arena_create(&small, NULL, ARENA_MIN_SIZE, NULL) != 0)
		exit(1);
	struct record_time *t = arena_at(&small, struct record_time, arena_alloc(&small, sizeof *t));
	record_time_add(&small, t, 1000, 0);
	while (arena_alloc(&small, 64)) {
	}
	small.header->journal_count = 0;
	for (unsigned i = 1; i < 60; i++)
		record_time_add(&small, t, UINT64_C(1) << (i % 50), i);
	ok(record_time_extract(&h, &small, t, 1, 0) == 0 && h.count == 60 && h.max == UINT64_C(1) << 49,
	   "no room for bins: all values are counted");
	ok(bins_add_up(&h), "those in the nearest bin make its range wider: the bins add up");
	histogram_free(&h);
	arena_close(&small);
}

/* Sites of two ranks that visit each of them `visits` times. */
static bool make_sites(struct trace *t, unsigned sites, int64_t visits)
{
	struct rank_piece both = {.count = 2, .step = 1, .value = visits};
	struct rankmap_builder b = {.references = false};
	if (trace_init(t) != 0)
		return false;
	t->size = 2;
	rankmap_add(&b, both);
	if (rankmap_take(&b, &t->events) != 0)
		return false;
	uint32_t function = trace_function(t, pool_intern(&t->strings, "MPI_Barrier comm:c", 18));
	for (unsigned i = 0; i < sites; i++) {
		uint32_t node = trace_node(t, (struct trace_node){.module = UINT32_MAX, .offset = i});
		uint32_t site = trace_site(t, function, node, false);
		if (site == UINT32_MAX || rankmap_copy(&t->sites[site].visits, &t->events) != 0)
			return false;
	}
	return true;
}

/* How many bins a time gets is decided by its share of all time, which is rounded when it is written: that must not
 * matter. */
static void test_again(void)
{
	enum { ROUNDS = 3000, SITES = 12, VISITS = 40 };
	unsigned differ = 0, failed = 0;
	struct record_time *time = new_time();
	const struct record_time empty = *time;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct trace first, second;
		struct writer once = {0}, again = {0};
		bool good = make_sites(&first, SITES, VISITS) && make_sites(&second, SITES, VISITS);
		for (unsigned i = 0; good && i < SITES; i++) {
			*time = empty;
			for (unsigned v = 0; v < 2 * VISITS; v++)
				record_time_add(&arena, time, 50 + random_next() % (UINT64_C(20) << i / 2), v / 2);
			good = record_time_extract(&first.sites[i].communicate, &arena, time, 1, i % 2) == 0;
		}
		times_put(&once, &first, true);
		struct reader r = reader_of(once.data, once.size);
		if (!good || once.failed || times_get(&r, &second, true) != 0)
			failed++;
		times_put(&again, &second, true);
		differ += once.size != again.size || memcmp(once.data, again.data, once.size) != 0;
		writer_free(&once);
		writer_free(&again);
		trace_free(&first);
		trace_free(&second);
	}
	ok(failed == 0 && differ == 0,
	   "times that were written and read are written as the same bytes: %u of %d are not", differ, ROUNDS);
}

int main(void)
{
	if (arena_create(&arena, NULL, UINT64_C(8) << 20, NULL) != 0)
		return 1;
	test_index();
	test_bimodal();
	test_wide();
	test_constant();
	test_full_words();
	test_merge();
	test_again();
	test_no_room();
	arena_close(&arena);
	return tap_end();
}
