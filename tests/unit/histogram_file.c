/* SPDX-License-Identifier: BSD-3-Clause
 * histogram_file - histograms that are none; what is rounded once stays as it is, also what random bytes decode to
 */
#include "trace/file/histogram_file.h"
#include "trace/model/packed_histogram.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"
#include "trace/record/record_time.h"

enum { RANKS = 6 };
static struct arena arena;
static struct rankmap ranks; /* 1, 4, 7 ... */
static struct ordinals order;

static struct histogram_place some_place(unsigned k)
{
	return (struct histogram_place){
		.only = UINT32_MAX, .rank_bits = histogram_bits(RANKS), .order = &order, .k = k};
}

/* So many values of all sizes, of two ranks. */
static void make(struct histogram *t, uint64_t n)
{
	unsigned size = 1 + (unsigned)random_below(40), base = (unsigned)random_below(30);
	*t = (struct histogram){.count = 0};
	for (uint32_t part = 0; part < 2; part++) {
		struct histogram one;
		struct record_time *r = arena_at(&arena, struct record_time, arena_alloc(&arena, sizeof *r));
		for (uint64_t i = part; i < n; i += 2)
			record_time_add(&arena, r, (UINT64_C(1) << base) + (random_next() >> (64 - size)), i);
		if (record_time_extract(&one, &arena, r, 0.7, part ? 4 : 13) != 0 || histogram_add(t, &one) != 0)
			abort();
		histogram_free(&one);
	}
	arena_close(&arena);
	if (arena_create(&arena, NULL, ARENA_MIN_SIZE, NULL) != 0)
		abort();
}

static void put(struct writer *w, const struct histogram_place *p, const struct histogram *t, uint64_t expected)
{
	struct entropy_block *b = entropy_block_new();
	if (b)
		histogram_put(&b->coder, p, t, expected);
	entropy_block_put(w, b);
}

/* Returns 0 or -1; the caller frees *t in any case. */
static int get(const struct writer *w, const struct histogram_place *p, struct histogram *t, uint64_t expected)
{
	struct reader r = reader_of(w->data, w->size);
	struct entropy_source *s = entropy_source_new(&r);
	*t = (struct histogram){.count = 0};
	int rv = s ? histogram_get(&s->coder, p, t, expected) : -1;
	return s && entropy_source_end(s) != 0 ? -1 : rv;
}

/* Are all its values in bins, and the bins inside of the extremes? */
static bool is_sound(const struct histogram *t)
{
	uint64_t left = t->count;
	bool sound = t->min <= t->max;
	for (uint32_t i = 0; i < t->bin_count; i++) {
		const struct histogram_bin *b = &t->bins[i];
		sound &= b->count > 0 && b->count <= left && b->min >= t->min && b->max <= t->max && b->min <= b->max;
		left -= b->count;
	}
	return sound && (t->bin_count == 0 || left == 0);
}

/* Is what was decoded written as bytes that stay the same? */
static bool stays(const struct histogram_place *p, const struct histogram *t)
{
	struct writer w[2] = {{0}, {0}};
	struct histogram again;
	put(&w[0], p, t, 5);
	bool same = get(&w[0], p, &again, 5) == 0 && is_sound(&again) && again.count == t->count;
	put(&w[1], p, &again, 5);
	same = same && !w[0].failed && w[0].size == w[1].size && memcmp(w[0].data, w[1].data, w[0].size) == 0;
	histogram_free(&again);
	writer_free(&w[0]);
	writer_free(&w[1]);
	return same;
}

static void test_compact(void)
{
	size_t wrong = 0, unstable = 0, bins = 0;
	for (int i = 0; i < 600; i++) {
		struct histogram_place p = some_place(i % 2 ? 8 : HISTOGRAM_BINS_MAX);
		struct histogram t, back;
		struct writer w = {0};
		uint64_t n = 1 + random_below(i % 3 ? 2000 : 3);
		make(&t, n);
		put(&w, &p, &t, n);
		wrong += get(&w, &p, &back, n) != 0 || !is_sound(&back) || back.count != n ||
		         back.sum != histogram_sum(&t) || back.min > t.min || back.max < t.max ||
		         back.min_rank != t.min_rank || (n > 1 && back.max_rank != t.max_rank);
		unstable += !stays(&p, &back);
		bins += back.bin_count;
		histogram_free(&back);
		histogram_free(&t);
		writer_free(&w);
	}
	ok(wrong == 0 && bins > 600, "compact: counts, rounded sums and ranks come back, extremes are inside");
	ok(unstable == 0, "what was decoded is encoded as the same bytes (%zu are not)", unstable);
}

/* Bytes that nobody encoded, or with a byte that is another one: refused, or a histogram that can be written. */
static void test_random(void)
{
	size_t taken = 0, unsound = 0, unstable = 0;
	for (int i = 0; i < 20000; i++) {
		struct histogram_place p = some_place(8);
		struct histogram t;
		struct writer w = {0};
		uint64_t n = 1 + random_below(60);
		if (i % 2) {
			make(&t, 400);
			put(&w, &p, &t, 5);
			histogram_free(&t);
			w.data[1 + random_below(w.size - 1)] ^= (uint8_t)(1 << random_below(8));
		}
		writer_uint(&w, n);
		for (uint64_t k = 0; k < n; k++) {
			uint8_t byte = (uint8_t)(random_below(3) ? 0 : random_next());
			writer_bytes(&w, &byte, 1);
		}
		if (get(&w, &p, &t, 5) == 0 && t.count) {
			taken++;
			unsound += !is_sound(&t);
			unstable += !stays(&p, &t);
		}
		histogram_free(&t);
		writer_free(&w);
	}
	ok(taken > 100 && unsound == 0 && unstable == 0,
	   "of 20000 random bytes %zu are taken; %zu are no histograms, %zu change when they are written", taken,
	   unsound, unstable);
}

static void refused_whole(const char *what, const struct histogram *t)
{
	struct writer w = {0};
	struct histogram back = {.count = 0};
	histogram_pack(&w, t);
	struct reader r = reader_of(w.data, w.size);
	ok(histogram_unpack(&r, &back) == -1, "refused: %s", what);
	histogram_free(&back);
	writer_free(&w);
}

static bool look_whole(void *context, const void *bytes, size_t n)
{
	struct reader r = reader_of(bytes, n);
	struct histogram t = {.count = 0};
	(void)context;
	int rv = histogram_unpack(&r, &t);
	histogram_free(&t);
	return rv != 0 || r.bad;
}

static void test_whole(void)
{
	struct histogram t, back = {.count = 0};
	struct writer w = {0}, again = {0};
	size_t cut;
	make(&t, 500);
	histogram_pack(&w, &t);
	struct reader r = reader_of(w.data, w.size);
	bool same = histogram_unpack(&r, &back) == 0 && r.at == r.end;
	histogram_pack(&again, &back);
	ok(same && back.bin_count == t.bin_count && again.size == w.size && memcmp(again.data, w.data, w.size) == 0,
	   "as it is: %u bins come back", t.bin_count);
	writer_free(&again);
	damage_each(look_whole, NULL, w.data, w.size, &cut);
	ok(cut == 0, "cut short it is refused");
	t.bins[0].count++;
	refused_whole("more values in bins than there are", &t);
	t.bins[0].count -= 2;
	refused_whole("less values in bins than there are", &t);
	t.bins[0].count = 0;
	refused_whole("an empty bin", &t);
	writer_free(&w);
	histogram_free(&t);
	histogram_free(&back);
	writer_uint(&w, 4); /* two values that are not alike */
	for (uint64_t n = 0; n < 9; n++)
		writer_uint(&w, 1);
	writer_uint(&w, 64 * HISTOGRAM_PER_OCTAVE + 1);
	for (uint64_t n = 0; n < 600; n++)
		writer_uint(&w, 1);
	ok(look_whole(NULL, w.data, w.size), "refused: more bins than there can be");
	writer_free(&w);
}

static int there_and_back(void *context)
{
	struct histogram_place p = some_place(8);
	struct histogram t;
	struct writer w = {0};
	put(&w, &p, context, 0);
	int rv = get(&w, &p, &t, 0) != 0 || w.failed ? -1 : 0;
	histogram_free(&t);
	writer_free(&w);
	return rv;
}

int main(void)
{
	struct rankmap_builder b = {.references = false};
	struct histogram t;
	rankmap_add(&b, (struct rank_piece){.first = 1, .count = RANKS, .step = 3});
	if (arena_create(&arena, NULL, ARENA_MIN_SIZE, NULL) != 0 || rankmap_take(&b, &ranks) != 0 ||
	    ordinals_init(&order, &ranks) != 0)
		return 1;
	random_seed(5);
	test_whole();
	test_compact();
	test_random();
	make(&t, 1000);
	ok(fails_well(there_and_back, &t), "no memory");
	histogram_free(&t);
	ordinals_free(&order);
	rankmap_free(&ranks);
	arena_close(&arena);
	return tap_end();
}
