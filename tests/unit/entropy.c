/* SPDX-License-Identifier: BSD-3-Clause
 * entropy - the range coder: damaged blocks, round trips, what learning earns
 */
#include "trace/base/entropy.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

enum { NUMBERS = 70 };

/* What a test writes: numbers of many sizes, symbols, and plain bits, by turns. */
static uint64_t number_at(unsigned i)
{
	uint64_t v = i * UINT64_C(0x9e3779b97f4a7c15);
	return i % 7 == 0 ? 0 : i % 5 == 0 ? UINT64_MAX : v >> v % 64;
}

static void put_all(struct writer *w)
{
	struct entropy_block *b = entropy_block_new();
	for (unsigned i = 0; b && i < NUMBERS; i++) {
		entropy_put_number(&b->coder, i % ENTROPY_CONTEXTS, 64, number_at(i));
		entropy_put_symbol(&b->coder, 3, 7, i % 128);
		entropy_put_bits(&b->coder, i % 64, number_at(i) & ((UINT64_C(1) << i % 64) - 1));
	}
	entropy_block_put(w, b);
}

/* Returns how many numbers come back right; -1: the block is refused. */
static int get_all(const void *bytes, size_t n)
{
	struct reader r = reader_of(bytes, n);
	struct entropy_source *s = entropy_source_new(&r);
	int right = 0;
	if (!s)
		return -1;
	for (unsigned i = 0; i < NUMBERS; i++) {
		bool same = entropy_number(&s->coder, i % ENTROPY_CONTEXTS, 64) == number_at(i);
		same &= entropy_symbol(&s->coder, 3, 7) == i % 128;
		same &= entropy_bits(&s->coder, i % 64) == (number_at(i) & ((UINT64_C(1) << i % 64) - 1));
		right += same;
	}
	return entropy_source_end(s) == 0 && r.at == r.end && !r.bad ? right : -1;
}

static bool look(void *context, const void *bytes, size_t n)
{
	(void)context;
	return get_all(bytes, n) != NUMBERS;
}

static int round_trip(void *context)
{
	struct writer w = {0};
	(void)context;
	put_all(&w);
	int rv = w.failed || get_all(w.data, w.size) != NUMBERS ? -1 : 0;
	writer_free(&w);
	return rv;
}

static void test_cut(void)
{
	struct writer w = {0};
	struct entropy_block *b = entropy_block_new();
	size_t wrong = 0;
	for (unsigned i = 0; i < NUMBERS; i++)
		entropy_put_number(&b->coder, 0, i % 20, number_at(i));
	entropy_block_put(&w, b);
	struct reader r = reader_of(w.data, w.size);
	struct entropy_source *s = entropy_source_new(&r);
	for (unsigned i = 0; i < NUMBERS; i++)
		wrong += entropy_number(&s->coder, 0, i % 20) != entropy_cut(i % 20, number_at(i));
	ok(wrong == 0 && entropy_source_end(s) == 0, "with fewer digits the highest ones come back");
	writer_free(&w);
}

int main(void)
{
	struct writer w = {0}, one = {0};
	size_t cut;
	struct reader r = reader_of("\x05"
	                            "abc",
	                            4);
	ok(!entropy_source_new(&r), "a block that is longer than the bytes");
	put_all(&w);
	ok(get_all(w.data, w.size) == NUMBERS, "%d numbers, symbols and bits come back", NUMBERS);
	size_t taken = damage_each(look, NULL, w.data, w.size, &cut);
	ok(cut == 0, "a block cut short is refused or different, at every byte");
	ok(taken <= 16, "a flipped bit makes a difference, but for the last bytes, which may say more than is needed");
	writer_free(&w);
	struct entropy_block *b = entropy_block_new();
	for (int i = 0; i < 5000; i++)
		entropy_put_symbol(&b->coder, 0, 7, 77);
	entropy_block_put(&one, b);
	ok(one.size < 300, "5000 equal symbols are %zu bytes", one.size);
	writer_free(&one);
	test_cut();
	ok(fails_well(round_trip, NULL), "no memory: a block fails as a whole");
	return tap_end();
}
