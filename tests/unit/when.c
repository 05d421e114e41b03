/* SPDX-License-Identifier: BSD-3-Clause
 * when - what is no time, and what each form means at noon and a half of 15 March 2026
 */
#include "cmd/base/when.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/tap.h"

static int64_t now;

static void means(const char *text, const char *from, const char *to)
{
	int64_t first = 0, last = 0;
	char a[32] = "-", b[32] = "-";
	bool good = when_parse(text, false, now, &first) == 0 && when_parse(text, true, now, &last) == 0;
	time_t x = (time_t)first, y = (time_t)last;
	strftime(a, sizeof a, "%Y-%m-%dT%H:%M:%S", localtime(&x));
	strftime(b, sizeof b, "%Y-%m-%dT%H:%M:%S", localtime(&y));
	ok(good && !strcmp(a, from) && !strcmp(b, to ? to : from), "%s: from %s to %s", text, a, b);
}

static void test_bad(void)
{
	static const char *const bad[] = {"",
	                                  "-",
	                                  "now-",
	                                  "now*1",
	                                  "nowish",
	                                  "1",
	                                  "12",
	                                  "1y",
	                                  "h",
	                                  "-1h",
	                                  "1h ",
	                                  "1hour2",
	                                  "2026-13-01",
	                                  "2026-02-30",
	                                  "04/31",
	                                  "2026-03-31T",
	                                  "2026-03-31 12:00",
	                                  "25:00",
	                                  "12:60",
	                                  "13/01",
	                                  "03/32",
	                                  "03/31-",
	                                  "yesterdays",
	                                  "99999999999w",
	                                  "now-99999999999999h"};
	int64_t seconds;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(when_parse(bad[i], false, now, &seconds) == -1, "refused: \"%s\"", bad[i]);
}

static void test_forms(void)
{
	means("now", "2026-03-15T12:30:10", NULL);
	means("now-1hour", "2026-03-15T11:30:10", NULL);
	means("now-90", "2026-03-15T12:28:40", NULL);
	means("now+2days", "2026-03-17T12:30:10", NULL);
	means("NOW-1w", "2026-03-08T12:30:10", NULL);
	means("30m", "2026-03-15T12:00:10", NULL);
	means("12h", "2026-03-15T00:30:10", NULL);
	means("7d", "2026-03-08T12:30:10", NULL);
	means("2weeks", "2026-03-01T12:30:10", NULL);
	means("today", "2026-03-15T00:00:00", "2026-03-15T23:59:59");
	means("yesterday", "2026-03-14T00:00:00", "2026-03-14T23:59:59");
	means("midnight", "2026-03-15T00:00:00", NULL);
	means("Noon", "2026-03-15T12:00:00", NULL);
	means("08:15", "2026-03-15T08:15:00", "2026-03-15T08:15:59");
	means("08:15:20", "2026-03-15T08:15:20", NULL);
	means("3:05PM", "2026-03-15T15:05:00", "2026-03-15T15:05:59");
	means("12:00:00 AM", "2026-03-15T00:00:00", NULL);
	means("03/01", "2026-03-01T00:00:00", "2026-03-01T23:59:59");
	means("03/15", "2026-03-15T00:00:00", "2026-03-15T23:59:59");
	means("12/24", "2025-12-24T00:00:00", "2025-12-24T23:59:59");
	means("0301", "2026-03-01T00:00:00", "2026-03-01T23:59:59");
	means("03.01.25", "2025-03-01T00:00:00", "2025-03-01T23:59:59");
	means("03/01-08:00", "2026-03-01T08:00:00", "2026-03-01T08:00:59");
	means("03/01/25-08:00:01", "2025-03-01T08:00:01", NULL);
	means("2026-03-31", "2026-03-31T00:00:00", "2026-03-31T23:59:59");
	means("2026-03-31T12:00", "2026-03-31T12:00:00", "2026-03-31T12:00:59");
	means("2026-03-31T12:00:01", "2026-03-31T12:00:01", NULL);
}

int main(void)
{
	setenv("TZ", "Europe/Berlin", 1);
	struct tm tm = {
		.tm_year = 126, .tm_mon = 2, .tm_mday = 15, .tm_hour = 12, .tm_min = 30, .tm_sec = 10, .tm_isdst = -1};
	now = (int64_t)mktime(&tm);
	test_bad();
	test_forms();
	return tap_end();
}
