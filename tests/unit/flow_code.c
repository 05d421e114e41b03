/* SPDX-License-Identifier: BSD-3-Clause
 * flow_code - no code of a damaged file overflows; times come back as exactly as was promised
 */
#include "trace/model/flow_code.h"

#include <math.h>

#include "tests/unit/tap.h"

/* A time of any size. */
static uint64_t random_ticks(void)
{
	return random_next() >> random_below(64);
}

static void test_damaged(void)
{
	bool small = true;
	uint64_t before = 7;
	struct reader r = reader_of("\x80", 1);
	for (unsigned digits = 0; digits <= FLOW_DIGITS_MAX; digits++) /* beyond the largest code: any value, no trap */
		small &= flow_ticks(UINT64_MAX, digits) < UINT64_C(2) << (digits + 1);
	ok(small, "codes that no time has");
	flow_next(&r, &before, 4);
	ok(r.bad, "a flow that ends inside of a code");
}

static void test_digits(void)
{
	bool least = true;
	ok(flow_digits(0) == FLOW_EXACT && flow_error(FLOW_EXACT) == 0, "no error: exact");
	for (uint64_t millionths = 1; millionths <= 500000; millionths += 1 + millionths / 50) {
		unsigned digits = flow_digits(millionths);
		least &= flow_error(digits) * 1e6 <= (double)millionths &&
		         (digits == 0 || flow_error(digits - 1) * 1e6 > (double)millionths);
	}
	ok(least, "as few digits as the error allows");
}

static void test_codes(unsigned digits)
{
	size_t wrong = 0;
	uint64_t last = 0, most = flow_code(UINT64_MAX, digits);
	for (int i = 0; i < 20000; i++) {
		uint64_t ticks = random_ticks(), code = flow_code(ticks, digits), back = flow_ticks(code, digits);
		double off = fabs((double)back - (double)ticks);
		wrong += off > flow_error(digits) * (double)ticks || flow_code(back, digits) != code || code > most ||
		         (ticks < UINT64_MAX && flow_code(ticks + 1, digits) < code);
	}
	for (uint64_t code = 1; code < 5000 && code <= most; code++) {
		wrong += flow_ticks(code, digits) <= last;
		last = flow_ticks(code, digits);
	}
	ok(wrong == 0, "%u digits: %g off at most, larger times have larger codes, what was rounded stays", digits,
	   flow_error(digits));
}

/* Writes codes as the recorder does, and reads them again. */
static bool comes_back(unsigned digits)
{
	struct writer w = {0};
	uint64_t codes[300], previous = 0;
	for (size_t i = 0; i < 300; i++) {
		codes[i] = flow_code(random_ticks(), digits);
		writer_uint(&w, digits == FLOW_EXACT ? codes[i] : zigzag((int64_t)(codes[i] - previous)));
		previous = codes[i];
	}
	struct reader r = reader_of(w.data, w.size);
	bool same = true;
	previous = 0;
	for (size_t i = 0; i < 300; i++)
		same &= flow_next(&r, &previous, digits) == codes[i];
	same &= !r.bad && r.at == r.end;
	writer_free(&w);
	return same;
}

int main(void)
{
	random_seed(12);
	test_damaged();
	test_digits();
	test_codes(0);
	test_codes(4);
	test_codes(FLOW_DIGITS_MAX);
	test_codes(FLOW_EXACT);
	ok(comes_back(FLOW_EXACT) && comes_back(0) && comes_back(9), "a flow of codes");
	return tap_end();
}
