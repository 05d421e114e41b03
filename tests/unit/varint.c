/* SPDX-License-Identifier: BSD-3-Clause
 * varint - integers of variable length: what is no integer, limits, round trips
 */
#include "trace/base/varint.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static uint64_t read_one(const char *bytes, size_t n, bool *bad)
{
	struct reader r = reader_of(bytes, n);
	uint64_t v = reader_uint(&r);
	*bad = r.bad;
	return v;
}

static bool refused(const char *bytes, size_t n)
{
	bool bad;
	return read_one(bytes, n, &bad) == 0 && bad;
}

static void test_bad(void)
{
	struct reader r = reader_of(NULL, 0);
	ok(reader_uint(&r) == 0 && r.bad, "nothing is no integer");
	ok(refused("\x80", 1) && refused("\xff\xff", 2), "an integer that goes on past the end");
	ok(refused("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10), "65 bits");
	ok(refused("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11), "more than ten bytes");
	r = reader_of("abc", 3);
	ok(!reader_bytes(&r, 4) && r.bad && !reader_bytes(&r, 1), "more bytes than there are, and none afterwards");
	r = reader_of("\x03"
	              "ab",
	              3);
	ok(reader_count(&r) == 0 && r.bad, "a count of more things than there are bytes");
	r = reader_of("\x02"
	              "ab",
	              3);
	ok(reader_count(&r) == 2 && !r.bad && reader_offset(&r) == 1, "a count that just fits");
}

/* The examples of doc/trace-format.md. */
static void test_known(void)
{
	static const struct {
		uint64_t value;
		const char *bytes;
		size_t n;
	} known[] = {{0, "\0", 1},
	             {127, "\x7f", 1},
	             {128, "\x80\x01", 2},
	             {300, "\xac\x02", 2},
	             {UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct writer w = {0};
		bool bad;
		writer_uint(&w, known[i].value);
		ok(w.size == known[i].n && memcmp(w.data, known[i].bytes, w.size) == 0 &&
		           read_one(known[i].bytes, known[i].n, &bad) == known[i].value && !bad,
		   "%llu is %zu bytes", (unsigned long long)known[i].value, known[i].n);
		writer_free(&w);
	}
	ok(zigzag(0) == 0 && zigzag(-1) == 1 && zigzag(1) == 2 && zigzag(INT64_MIN) == UINT64_MAX &&
	           unzigzag(UINT64_MAX) == INT64_MIN,
	   "zigzag: small numbers stay small, whatever their sign");
}

/* One byte after the other, as the page has it. Returns how many. */
static size_t bytes_of(uint64_t v, uint8_t out[10])
{
	size_t n = 0;
	for (; v >= 0x80; v >>= 7)
		out[n++] = (uint8_t)(v | 0x80);
	out[n++] = (uint8_t)v;
	return n;
}

/* Each length, with its least and its most, wherever it is written, and with anything behind it. */
static void test_lengths(void)
{
	size_t wrong = 0;
	for (unsigned bit = 0; bit < 64; bit++)
		for (uint64_t less = 0; less < 2; less++) {
			uint64_t v = (UINT64_C(1) << bit) - less, got;
			uint8_t bytes[30];
			size_t n = bytes_of(v, bytes);
			struct writer w = {0};
			for (size_t before = 0; before < 256; before++) { /* that much it has room for at first */
				writer_free(&w);
				writer_bytes(&w, bytes, before % n);
				for (size_t k = before % n; k < before; k++)
					writer_uint(&w, 1);
				writer_uint(&w, v);
				wrong += w.size != before + n || memcmp(w.data + before, bytes, n) != 0;
			}
			writer_free(&w);
			for (size_t behind = 0; behind < 20; behind++) {
				memset(bytes + n, behind % 2 ? 0xff : 0x7f, behind);
				struct reader r = reader_of(bytes, n + behind);
				got = reader_uint(&r);
				wrong += got != v || r.bad || reader_offset(&r) != n;
			}
		}
	ok(wrong == 0, "integers of each length are the same bytes everywhere");
	struct reader r = reader_of("\x85\x80\x80\x00zzzzzzzz", 12);
	ok(reader_uint(&r) == 5 && reader_offset(&r) == 4 && !r.bad, "one that is longer than need be is read");
}

static int write_many(void *context)
{
	struct writer w = {0};
	size_t *size = context;
	for (int i = 0; i < 2000; i++)
		writer_int(&w, i * INT64_C(-123456789));
	int rv = w.failed ? -1 : 0;
	size_t before = w.size;
	writer_bytes(&w, "abc", 3);
	if (w.failed && w.size != before) /* a writer that failed takes nothing */
		rv = 0, *size = SIZE_MAX;
	writer_free(&w);
	return rv;
}

int main(void)
{
	struct writer w = {0};
	int64_t values[500];
	size_t wrong = 0;
	test_bad();
	test_known();
	test_lengths();
	random_seed(1);
	for (size_t i = 0; i < 500; i++) {
		values[i] = (int64_t)(random_next() >> random_below(64));
		writer_int(&w, i % 2 ? values[i] : ~values[i]);
	}
	struct reader r = reader_of(w.data, w.size);
	for (size_t i = 0; i < 500; i++)
		wrong += reader_int(&r) != (i % 2 ? values[i] : ~values[i]);
	ok(wrong == 0 && !r.bad && r.at == r.end, "500 random integers come back");
	writer_free(&w);
	size_t size = 0;
	ok(fails_well(write_many, &size) && size == 0, "a writer without memory says so, and stays as it is");
	return tap_end();
}
