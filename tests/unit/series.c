/* SPDX-License-Identifier: BSD-3-Clause
 * series - values as runs, and back
 */
#include "proxy/series.h"

#include <stdlib.h>

#include "tests/unit/tap.h"
#include "trace/base/budget.h"
#include "trace/model/value.h"

/* Appends values, makes runs of them, and compares what these say; the first values of them say all. Returns how many
 * runs there are; -1: they differ. */
static int64_t round_trip(const int64_t *values, size_t n, bool numbers)
{
	struct series s = {0};
	size_t bytes = 0;
	int64_t count;
	for (size_t i = 0; i < n; i++)
		if (series_append(&s, values[i]) != 0)
			return -1;
	struct runs *r = series_runs(&s, numbers, &bytes);
	if (!r)
		return -1;
	count = bytes == runs_size((size_t)r->count) ? r->count : -1;
	uint64_t lead, period;
	if (!runs_length(r, n, &lead, &period))
		count = -1;
	for (size_t i = 0; i < n && count > 0; i++)
		if (values[i < lead ? i : lead + (i - lead) % period] != values[i])
			count = -1;
	struct runs_walk walk = {.runs = r};
	for (size_t i = 0; i < n; i++)
		if (runs_next(&walk) != values[i])
			count = -1;
	budget_free(r);
	series_free(&s);
	return count;
}

#define RUNS(numbers, ...) \
	round_trip((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), numbers)

static void check_shapes(void)
{
	ok(RUNS(true, 7) == 1, "one value");
	ok(RUNS(true, 7, 7, 7, 7) == 1, "a constant");
	ok(RUNS(true, 0, 1, 2, 3, 4) == 1, "counting up");
	ok(RUNS(true, 9, 6, 3, 0) == 1, "counting down");
	ok(RUNS(true, 0, 1, 2, 0, 1, 2, 0, 1) == 1, "counting again and again");
	ok(RUNS(true, 5, 8, 5, 8, 5) == 2, "alternating");
	ok(RUNS(true, 1, 0, 0, 0) == 2, "the first one differs");
	ok(RUNS(true, 9, 5, 5, 6, 5, 5, 6, 5, 5, 6) == 3, "a lead, then a period");
	ok(RUNS(false, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 7) == 16, "an end that is there twice by chance");
	ok(RUNS(true, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1) == 2, "a period from the beginning on");
	ok(RUNS(true, 1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1) == 5, "not one that begins later, and saves two runs");
	ok(RUNS(true, 1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1) == 3, "but one that saves more");
	ok(RUNS(false, 0, 1, 2, 3) == 4, "what is no number is not counted up");
	ok(RUNS(true, VALUE_CONSTANT, VALUE_CONSTANT + 1, VALUE_CONSTANT + 2) == 3, "nor are constants");
	ok(RUNS(true, INT64_MAX, 0, INT64_MIN / 2, 3, INT64_MAX) > 0, "large steps");
}

static void check_any(void)
{
	uint64_t random = 1;
	bool good = true;
	for (int turn = 0; turn < 2000; turn++) {
		int64_t values[64];
		size_t n = 1 + (size_t)(turn % 64);
		for (size_t i = 0; i < n; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			values[i] = (int64_t)(random >> 62);
			if (i > 8 && turn % 3 == 0)
				values[i] = values[i - 1 - (size_t)(turn % 7)];
		}
		good &= round_trip(values, n, turn % 2) > 0;
	}
	ok(good, "whatever it is, it comes back");
}

static void check_length(void)
{
	int64_t short_one[200], long_one[2000];
	for (int i = 0; i < 2000; i++)
		long_one[i] = i % 10 == 9;
	for (int i = 0; i < 200; i++)
		short_one[i] = long_one[i];
	ok(round_trip(short_one, 200, true) == 2 && round_trip(long_one, 2000, true) == 2,
	   "ten times the values are as many runs");
}

#define MANY 1000000

/* Each run is looked at once: else this would take days. */
static void check_many(void)
{
	int64_t *values = malloc(2 * MANY * sizeof *values);
	for (int64_t i = 0; i < 2 * MANY; i++)
		values[i] = (i % MANY) * (i % MANY);
	ok(round_trip(values, MANY, true) == MANY, "a million runs");
	ok(round_trip(values, 2 * MANY, true) == MANY, "and again");
	free(values);
}

/* Loops of every kind, one behind the other: what is kept of them, and whether all of it comes back. */
static void check_loops(void)
{
	const size_t most = 300000;
	int64_t *values = malloc(most * sizeof *values);
	uint64_t random = 7;
	bool good = true;
	for (int turn = 0; turn < 30; turn++) {
		size_t n = 0;
		while (n < most) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			size_t period = 1 + (size_t)(random >> 40) % 100, rare = 1 + (size_t)(random >> 50) % 3000,
			       length = (size_t)1 << (random >> 33) % 18;
			for (size_t i = 0; i < length && n < most; i++)
				values[n++] = i % rare == rare - 1 ? -1 : (int64_t)(i % period);
		}
		good &= round_trip(values, most, turn % 2) > 0;
	}
	ok(good, "loops in any order come back");
	free(values);
}

static uint64_t kept_of(uint64_t n, int64_t (*f)(uint64_t), int64_t *runs)
{
	struct series s = {0};
	size_t bytes;
	for (uint64_t i = 0; i < n; i++)
		if (series_append(&s, f(i)) != 0)
			return UINT64_MAX;
	struct runs *r = series_runs(&s, true, &bytes);
	uint64_t kept = s.kept;
	struct runs_walk walk = {.runs = r};
	for (uint64_t i = 0; r && i < n; i++)
		if (runs_next(&walk) != f(i))
			kept = UINT64_MAX;
	*runs = r ? r->count : -1;
	budget_free(r);
	series_free(&s);
	return kept;
}

static int64_t of_sizes(uint64_t i)
{
	return (int64_t)(i % 64 * (1 + i / 64 % 32));
}

static int64_t of_rare(uint64_t i)
{
	return i < 5 ? 9 : i % 1000 == 999;
}

static void check_kept(void)
{
	int64_t runs;
	ok(kept_of(3000000, of_sizes, &runs) <= 16384 && runs <= 64, "of a long loop, its turns are kept");
	ok(kept_of(3000000, of_rare, &runs) <= 16384 && runs == 4, "of a rare branch, too");
}

/* Random values of which parts are repeated: as if each had come by itself. */
static bool repeats_alike(void)
{
	struct series s = {0}, each = {0};
	static int64_t values[1 << 16];
	uint64_t n = 0;
	size_t bytes;
	bool good = true;
	int64_t kinds = 1 + rand() % 4, pieces = 1 + rand() % 6;
	for (int64_t k = 0; k < pieces && good; k++) {
		uint64_t since = n, length = 1 + (uint64_t)rand() % 9, turns = (uint64_t)rand() % 400;
		uint64_t before = (uint64_t)rand() % 40 * length; /* turns that came one by one */
		for (uint64_t i = 0; i < length + before && good; i++, n++) {
			values[n] = i < length ? rand() % kinds : values[n - length];
			good = series_append(&s, values[n]) == 0 && series_append(&each, values[n]) == 0;
		}
		since = n - length * (1 + (before ? (uint64_t)rand() % 2 : 0));
		good = good && series_repeat(&s, since, turns) == 0;
		for (uint64_t i = (n - since) * turns, length_of = n - since; i > 0 && good; i--, n++) {
			values[n] = values[n - length_of];
			good = series_append(&each, values[n]) == 0;
		}
	}
	struct runs *r = series_runs(&s, true, &bytes), *of_each = series_runs(&each, true, &bytes);
	struct runs_walk walk = {.runs = r};
	good = good && s.count == n && r && of_each && r->count <= of_each->count + 2 * pieces;
	for (uint64_t i = 0; i < n && good; i++)
		good = runs_next(&walk) == values[i];
	budget_free(r);
	budget_free(of_each);
	series_free(&s);
	series_free(&each);
	return good;
}

static void check_repeats(void)
{
	struct series s = {0};
	size_t bytes = 0;
	int alike = 0;
	for (int i = 0; i < 2000; i++)
		alike += repeats_alike();
	ok(alike == 2000, "2000 random series with parts that are repeated (%d)", alike);
	for (int i = 0; i < 7; i++)
		series_append(&s, 4);
	bool good = series_repeat(&s, 1, UINT64_C(1) << 40) == 0 && series_append(&s, 9) == 0 &&
	            series_repeat(&s, 7 + (UINT64_C(6) << 40), UINT64_C(1) << 40) == 0;
	struct runs *r = good ? series_runs(&s, true, &bytes) : NULL;
	ok(r && s.kept < 100 && s.count == 8 + (UINT64_C(7) << 40), "2^40 times what is short is short");
	budget_free(r);
	series_free(&s);
}

int main(void)
{
	check_repeats();
	check_loops();
	check_kept();
	check_many();
	check_shapes();
	check_any();
	check_length();
	return tap_end();
}
