/* SPDX-License-Identifier: BSD-3-Clause
 * calls - unit test of archive/calls.c: what is packed comes back; what is damaged is refused
 */
#include "archive/calls.h"

#include <string.h>

#include "tests/unit/tap.h"

#define MUCH (UINT64_C(1) << 60)

static struct digest_function functions[] = {
	{"MPI_Bcast", {{5, 100, 120, 7, 60, 3}}},
	{"MPI_Init", {{1, 50, 50, 0, 0, 0}}},
	{"MPI_Send", {{12, 1000, 900, 4096, 0, 0}}},
};
static struct digest_site sites[] = {
	{9, "MPI_Send", 1, "f", {{7, 600, 500, 4000, 0, 0}}},
	{300, "MPI_Bcast", 2, "g", {{5, 100, 120, 7, 60, 3}}},
	{2, "MPI_Send", 3, "h", {{3, 300, 300, 0, 0, 0}}},
};
static const struct digest d = {.functions = functions, .function_count = 3, .sites = sites, .site_count = 3};
static const int64_t names[] = {11, 12, 13}, places[] = {1000, 1001, 1002};

static bool is_part(struct calls_reader *r, int64_t function, int64_t place, uint32_t site, union figure_calls calls)
{
	struct calls_part p;
	int rv = calls_next(r, &p);
	return rv == 0 && p.function == function && p.place == place && p.site == site &&
	       memcmp(&p.calls, &calls, sizeof calls) == 0;
}

static void test_parts(const struct writer *w)
{
	struct calls_reader r = calls_reader_of(w->data, w->size);
	struct calls_part p;
	ok(is_part(&r, 11, 1001, 300, sites[1].calls), "a function that is all of one site");
	ok(is_part(&r, 12, 0, 0, functions[1].calls), "a function of no site");
	ok(is_part(&r, 13, 1000, 9, sites[0].calls) && is_part(&r, 13, 1002, 2, sites[2].calls),
	   "a function of two sites");
	ok(is_part(&r, 13, 0, 0, (union figure_calls){{2, 100, 100, 96, 0, 0}}), "and what is left of it");
	ok(calls_next(&r, &p) > 0 && calls_next(&r, &p) > 0, "no more");
	r = calls_reader_of(w->data, w->size);
	for (int i = 0; i < 3; i++)
		ok(calls_next_function(&r, &p) == 0 && p.function == names[i] && p.place == 0 &&
		           memcmp(&p.calls, &functions[i].calls, sizeof p.calls) == 0,
		   "%s as a whole", functions[i].name);
	ok(calls_next_function(&r, &p) > 0, "no more functions");
}

/* Cut anywhere, or with any byte changed, it ends, without a part that is none. */
static void test_damage(const struct writer *w)
{
	uint8_t bytes[200];
	int whole = 0, bad = 0, wrong = 0;
	for (size_t size = 0; size < w->size; size++) {
		struct calls_reader r = calls_reader_of(w->data, size);
		struct calls_part p;
		int rv;
		while ((rv = calls_next(&r, &p)) == 0)
			whole++;
		bad += rv < 0;
	}
	ok(bad >= (int)w->size - 3 && whole > 0, "cut: %d of %zu are refused", bad, w->size);
	for (size_t at = 0; at < w->size; at++)
		for (int to = 0; to < 256; to++) {
			memcpy(bytes, w->data, w->size);
			bytes[at] = (uint8_t)to;
			struct calls_reader r = calls_reader_of(bytes, w->size);
			struct calls_part p;
			for (int n = 0; calls_next(&r, &p) == 0; n++)
				wrong +=
					p.calls.ns > INT64_MAX || p.calls.peak_ns > INT64_MAX || p.place < 0 || n > 200;
		}
	ok(wrong == 0, "changed: numbers are those of SQLite");
}

int main(void)
{
	struct writer w = {.size = 0};
	struct calls_reader r = calls_reader_of(NULL, 0);
	struct calls_part p;

	ok(calls_next(&r, &p) > 0 && calls_next_function(&r, &p) > 0, "nothing");
	r = calls_reader_of("\1\0", 2);
	ok(calls_next(&r, &p) < 0 && calls_next(&r, &p) < 0, "a function without parts");
	calls_pack(&w, &d, names, places);
	ok(!w.failed && w.size <= 70, "packed: %zu bytes", w.size);
	test_parts(&w);
	test_damage(&w);
	writer_free(&w);

	struct digest_function most = {"MPI_Send",
	                               {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}}};
	const struct digest large = {.functions = &most, .function_count = 1};
	w = (struct writer){.size = 0};
	calls_pack(&w, &large, names, places);
	r = calls_reader_of(w.data, w.size);
	ok(calls_next(&r, &p) == 0 && p.calls.calls >= MUCH && p.calls.ns == INT64_MAX && p.calls.peak_ns == INT64_MAX,
	   "too much is clamped");
	writer_free(&w);
	return tap_end();
}
