/* SPDX-License-Identifier: BSD-3-Clause
 * timing_file - the chunk FULL: what is refused, damage; ranks and flows in canonical order
 */
#include "trace/file/timing_file.h"

#include "tests/unit/chunk.h"
#include "trace/model/flow_code.h"
#include "trace/model/timing.h"

/* A rank: rank, digits, events, cut, ticks, ns, start. */
#define HEAD(rank, digits, events, ticks, ns) rank, digits, events, 0, ticks, ns, 0
#define HEADS(...)            \
	(const uint64_t[][7]) \
	{                     \
		__VA_ARGS__   \
	}

/* Are n ranks without flows refused? */
static bool heads(struct chunk_test *x, int how, size_t n, const uint64_t head[][7])
{
	struct writer w = {0};
	writer_uint(&w, n);
	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < 7; k++)
			writer_uint(&w, head[i][k]);
		writer_uint(&w, 0);
		if (!(how & SAMPLE_PART)) /* no coded bytes */
			writer_uint(&w, 0);
	}
	bool refused = chunk_look(x, w.data, w.size);
	writer_free(&w);
	return refused;
}

static void test_refused(int how, const char *what)
{
	struct chunk_test x;
	chunk_test_begin(&x, "FULL", 3, SAMPLE_DETAIL | how);
	ok(chunk_look(&x, "", 0), "%s: refused: nothing", what);
	ok(!chunk_numbers(&x, NUMBERS(0)) && chunk_numbers(&x, NUMBERS(0, 0)),
	   "%s: no ranks; refused: bytes behind them", what);
	ok(!heads(&x, how, 2, HEADS({HEAD(0, 4, 1, 1, 1)}, {HEAD(1, 4, 1, 1, 1)})), "%s: two ranks", what);
	ok(heads(&x, how, 1, HEADS({HEAD(3, 4, 1, 1, 1)})), "%s: refused: a rank that there is not", what);
	ok(heads(&x, how, 1, HEADS({HEAD(UINT64_C(1) << 32, 4, 1, 1, 1)})), "%s: refused: a rank of more than 32 bits",
	   what);
	ok(heads(&x, how, 2, HEADS({HEAD(1, 4, 1, 1, 1)}, {HEAD(1, 4, 1, 1, 1)})) &&
	           heads(&x, how, 2, HEADS({HEAD(1, 4, 1, 1, 1)}, {HEAD(0, 4, 1, 1, 1)})),
	   "%s: refused: a rank twice, ranks in disorder", what);
	ok(!heads(&x, how, 1, HEADS({HEAD(1, FLOW_DIGITS_MAX, 1, 1, 1)})) &&
	           heads(&x, how, 1, HEADS({HEAD(1, FLOW_DIGITS_MAX + 1, 1, 1, 1)})),
	   "%s: refused: digits", what);
	ok(heads(&x, how, 1, HEADS({HEAD(1, 4, 1000, 1, 1)})), "%s: refused: more events than the rank has", what);
	ok(heads(&x, how, 1, HEADS({HEAD(1, 4, 1, 0, 1)})) &&
	           heads(&x, how, 1, HEADS({HEAD(1, 4, 1, UINT64_C(1) << 62, 1)})) &&
	           heads(&x, how, 1, HEADS({HEAD(1, 4, 1, 1, UINT64_C(1) << 62)})),
	   "%s: refused: clocks that stand still, or are too fast", what);
	ok(chunk_numbers(&x, NUMBERS(1, HEAD(1, 4, 1, 1, 1), 1, 99, 0, 0, 0)) &&
	           chunk_numbers(&x, NUMBERS(1, HEAD(1, 4, 1, 1, 1), 1, 0, 99, 0, 0)),
	   "%s: refused: flows of sites that there are not", what);
	chunk_damage(&x, what);
	ok(fails_well(chunk_decode_again, &x), "%s: no memory", what);
	chunk_test_end(&x);
}

/* One flow of two values, from site 0 to site 1: what says that it is of one value or of three is refused. */
static void test_values(void)
{
	struct chunk_test x;
	chunk_test_begin(&x, "FULL", 3, SAMPLE_DETAIL | SAMPLE_PART);
	ok(!chunk_numbers(&x, NUMBERS(1, HEAD(1, 4, 1, 1, 1), 1, 0, 2, 2, 2, 7, 8)), "a flow of two values");
	ok(chunk_numbers(&x, NUMBERS(1, HEAD(1, 4, 1, 1, 1), 1, 0, 2, 1, 2, 7, 8)) &&
	           chunk_numbers(&x, NUMBERS(1, HEAD(1, 4, 1, 1, 1), 1, 0, 2, 3, 2, 7, 8)),
	   "refused: bytes of another number of values");
	chunk_test_end(&x);
	chunk_test_begin(&x, "FULL", 3, SAMPLE_DETAIL);
	ok(chunk_numbers(&x, NUMBERS(1, HEAD(1, 4, 1, 1, 1), 1, 0, 2, UINT64_MAX, 5, 0, 0, 0, 0, 0)) &&
	           chunk_numbers(&x,
	                         NUMBERS(1, HEAD(1, 4, 1, 1, 1), 2, 0, 2, 1 << 10, 0, 2, 1 << 10, 5, 0, 0, 0, 0, 0)),
	   "refused: more values than the coded bytes can hold");
	chunk_test_end(&x);
}

static void test_order(void)
{
	struct trace t = {.size = 3};
	static const uint32_t flows[][2] = {{2, 1}, {0, TIMING_CALLS}, {0, 5}, {0, 3}};
	bool ordered = true;
	for (uint32_t rank = 3; rank-- > 0;) {
		struct trace_timing *r = timing_add(&t, &(struct trace_timing){.rank = rank, .digits = 4});
		for (size_t i = 0; r && i < 4; i++)
			if (timing_add_flow_take(r, &(struct trace_flow){flows[i][0], flows[i][1], 0, NULL, 0}) != 0)
				abort();
	}
	timing_order(&t);
	for (uint32_t rank = 0; rank < 3; rank++) {
		const struct trace_timing *r = timing_find(&t, rank);
		ordered &= r == &t.timing[rank] && r->flow_count == 4 && r->flows[0].to == 3 && r->flows[1].to == 5 &&
		           r->flows[2].to == TIMING_CALLS && r->flows[3].from == 2;
	}
	ok(ordered && !timing_find(&t, 3), "by rank; flows by site, calls behind the edges");
	timing_free(&t);
}

int main(void)
{
	test_refused(0, "final");
	test_refused(SAMPLE_PART, "a part");
	test_values();
	test_order();
	return tap_end();
}
