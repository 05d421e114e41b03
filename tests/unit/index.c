/* SPDX-License-Identifier: BSD-3-Clause
 * index - things are found by content, also where all hashes are equal
 */
#include "trace/base/index.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static bool equal_number(const void *context, uint32_t number)
{
	return *(const uint32_t *)context == number;
}

/* Things of number k have the hash k * step. Is each found, and nothing else? */
static bool holds_all(uint64_t step, uint32_t n)
{
	struct index x = {0};
	bool right = true;
	for (uint32_t i = 0; i < n; i++) {
		right &= index_find(&x, i * step, equal_number, &i) == INDEX_NONE;
		right &= index_add(&x, i * step, i) == 0;
	}
	for (uint32_t i = 0; i < n; i++)
		right &= index_find(&x, i * step, equal_number, &i) == i;
	right &= index_find(&x, 0, equal_number, &n) == INDEX_NONE && x.count == n;
	index_free(&x);
	return right && !x.slots;
}

static int add_many(void *context)
{
	struct index x = {0};
	uint32_t n = 0;
	bool right = true;
	(void)context;
	while (n < 300 && index_add(&x, n, n) == 0)
		n++;
	for (uint32_t i = 0; i < n; i++) /* what was there before memory ran out still is */
		right &= index_find(&x, i, equal_number, &i) == i;
	index_free(&x);
	if (!right)
		abort();
	return n == 300 ? 0 : -1;
}

int main(void)
{
	struct index empty = {0};
	uint32_t zero = 0;
	ok(index_find(&empty, 1, equal_number, &zero) == INDEX_NONE, "nothing is in an empty index");
	ok(holds_all(UINT64_C(0x9e3779b97f4a7c15), 5000), "5000 different hashes");
	ok(holds_all(0, 300), "300 equal hashes");
	ok(holds_all(UINT64_C(1) << 40, 1000), "hashes whose low bits are equal");
	ok(fails_well(add_many, NULL), "without memory for more, what is there is still found");
	ok(hash_bytes("", 0) != hash_bytes("\0", 1) && hash_bytes("\0", 1) != hash_bytes("\0\0", 2) &&
	           hash_bytes("12345678", 8) != hash_bytes("12345678\0", 9),
	   "lengths count");
	ok(hash_bytes("abcdefghi", 9) == hash_bytes("abcdefghij", 9), "and nothing behind the end does");
	return tap_end();
}
