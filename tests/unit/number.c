/* SPDX-License-Identifier: BSD-3-Clause
 * number - unit test of trace/base/number.c: what is no number, bounds, sizes with units
 */
#include "trace/base/number.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/unit/tap.h"

#define UNTOUCHED UINT64_C(77)

static void refused(int (*parse)(const char *, uint64_t, uint64_t *), const char *text, uint64_t max)
{
	uint64_t out = UNTOUCHED;
	ok(parse(text, max, &out) == -1 && out == UNTOUCHED, "refused, up to %" PRIu64 ": \"%s\"", max, text);
}

static void taken(int (*parse)(const char *, uint64_t, uint64_t *), const char *text, uint64_t max, uint64_t value)
{
	uint64_t out = UNTOUCHED;
	ok(parse(text, max, &out) == 0 && out == value, "%s is %" PRIu64, text, value);
}

int main(void)
{
	static const char *const never[] = {"", " ", "-1", "+1", " 1", "1 ", "0x10", "1e3", "1.5", "x", "\xff"};

	for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
		refused(number_parse, never[i], UINT64_MAX);
		refused(number_parse_bytes, never[i], UINT64_MAX);
	}
	refused(number_parse, "18446744073709551616", UINT64_MAX);
	refused(number_parse, "99999999999999999999999999", UINT64_MAX);
	refused(number_parse, "5", 4);
	refused(number_parse, "10", 9);
	refused(number_parse, "1", 0);
	taken(number_parse, "0", 0, 0);
	taken(number_parse, "18446744073709551615", UINT64_MAX, UINT64_MAX);
	taken(number_parse, "0000000000000000000000000000000042", 42, 42);

	uint64_t out = UNTOUCHED;
	const char *at = "12:7", *after = at;
	ok(number_read(&after, 12, &out) == 0 && after == at + 2 && out == 12, "the digits that a text begins with");
	ok(number_read(&after, 12, &out) == -1 && after == at + 2 && out == 12, "there are none");
	after = at;
	ok(number_read(&after, 11, &out) == -1 && after == at, "they are too many");

	refused(number_parse_bytes, "K", UINT64_MAX);
	refused(number_parse_bytes, "1k", UINT64_MAX);
	refused(number_parse_bytes, "1KB", UINT64_MAX);
	refused(number_parse_bytes, "1Ki", UINT64_MAX);
	refused(number_parse_bytes, "1KiBs", UINT64_MAX);
	refused(number_parse_bytes, "1  K", UINT64_MAX);
	refused(number_parse_bytes, "1iB", UINT64_MAX);
	refused(number_parse_bytes, "16384P", UINT64_MAX);
	refused(number_parse_bytes, "99999999999999999999999999", UINT64_MAX);
	refused(number_parse_bytes, "2K", 2047);
	taken(number_parse_bytes, "2K", 2048, 2048);
	taken(number_parse_bytes, "1000", UINT64_MAX, 1000);
	taken(number_parse_bytes, "8 MiB", UINT64_MAX, UINT64_C(8) << 20);
	taken(number_parse_bytes, "8MiB", UINT64_MAX, UINT64_C(8) << 20);
	taken(number_parse_bytes, "500G", UINT64_MAX, UINT64_C(500) << 30);
	taken(number_parse_bytes, "3T", UINT64_MAX, UINT64_C(3) << 40);
	taken(number_parse_bytes, "16383PiB", UINT64_MAX, UINT64_C(16383) << 50);
	taken(number_parse_bytes, "0K", 0, 0);
	setenv("SPOOR_UNIT", "12", 1);
	ok(number_variable("SPOOR_UNIT", -1) == 12, "a variable that is a number");
	setenv("SPOOR_UNIT", "2147483648", 1);
	ok(number_variable("SPOOR_UNIT", -1) == -1, "one that is too large");
	setenv("SPOOR_UNIT", "12x", 1);
	ok(number_variable("SPOOR_UNIT", 3) == 3, "one that is no number");
	unsetenv("SPOOR_UNIT");
	ok(number_variable("SPOOR_UNIT", 0) == 0, "one that is not there");
	return tap_end();
}
