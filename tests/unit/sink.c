/* SPDX-License-Identifier: BSD-3-Clause
 * sink - what each sink makes of the worst texts, and that its formats are printf's
 */
#include "cmd/base/sink.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/sink_json.h"
#include "tests/unit/tap.h"

static char *text;
static size_t size;

/* What was written between the two. */
static FILE *begin(void)
{
	free(text);
	text = NULL;
	return open_memstream(&text, &size);
}

static bool wrote(FILE *out, const char *expected)
{
	fclose(out);
	bool same = !strcmp(text, expected);
	if (!same)
		printf("# expected %s, found %s\n", expected, text);
	return same;
}

/* Both print the same, and say the same length. */
#define SAME(...)                                                                  \
	do {                                                                       \
		char expected[256];                                                \
		int n = snprintf(expected, sizeof expected, __VA_ARGS__);          \
		FILE *out = begin();                                               \
		int m = say_to(out, __VA_ARGS__);                                  \
		ok(wrote(out, expected) && m == n, "as printf: %s", #__VA_ARGS__); \
	} while (0)

static void test_formats(void)
{
	SAME("100 %%");
	SAME("%d|%5d|%-5d|%05d|%+d|% d", -1, 2, 3, 4, 5, 6);
	SAME("%u %x %#x %X %o", 1U, 255U, 255U, 255U, 8U);
	SAME("%hhd %hd %ld %lld %zu %jd %td", 300 - 256, -2, -3L, -4LL, (size_t)5, (intmax_t)-6, (ptrdiff_t)7);
	SAME("%" PRIu64 " %" PRId64 " %08" PRIx64, UINT64_MAX, INT64_MIN, UINT64_C(0xabc));
	SAME("%f %.2f %10.3f %-10.1f| %g %.17g %e %.*f", 1.5, 2.345, 3.0, 4.0, 1e9, 0.1, 1e-5, 3, 2.0);
	SAME("%s|%10s|%-10s|%.3s|%*s|%-*s|%.*s", "one", "two", "three", "fourteen", 8, "five", 8, "six", 2, "seven");
	SAME("%c%c|%3c", 'a', 'b', 'c');
	SAME("%.0f %5.1f%%", 12.5, 99.9);
	SAME("%.3d|%8.3d|%*d", 7, 7, -6, 7);
}

#define ESCAPES(call, expected)                        \
	do {                                           \
		FILE *out = begin();                   \
		call;                                  \
		ok(wrote(out, expected), "%s", #call); \
	} while (0)

static void test_terminal(void)
{
	ESCAPES(say_to(out, "%s", "\033[2J\a\r\n\t\177"), "?[2J?????");
	ESCAPES(say_to(out, "%s\n", "Jos\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xbe"),
	        "Jos\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xbe\n");
	ESCAPES(say_to(out, "%s",
	               "\xc2\x9b"
	               "1m"),
	        "??1m"); /* CSI in one character */
	ESCAPES(say_to(out, "%s",
	               "a\xe2\x80\xae"
	               "b"),
	        "a???b"); /* what follows, from right to left */
	ESCAPES(say_to(out, "%s", "\xe2\x80\xa8\xe2\x81\xa6\xef\xbb\xbf"), "?????????");
	ESCAPES(say_to(out, "%s", "\xff\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xc3"), "???????????");
	ESCAPES(say_to(out, "%c%c", '\033', '\n'), "??");
	ESCAPES(say_to(out, "%s%s", "%n%s", "%1$s"), "%n%s%1$s");
	ESCAPES(say_to(out, "%.4s|", "abc\xc3\xa9"), "abc|"); /* a character is whole or not there */
	ESCAPES(say_to(out, "%.5s|", "abc\xc3\xa9"), "abc\xc3\xa9|");
	ESCAPES(say_to(out, "%6s|", "\033x"), "    ?x|");
	ESCAPES(say_lines(out, "one\n\033two\n"), "one\n?two\n");
}

static void test_page(void)
{
	ESCAPES(html_print(out, "<a href=\"%s\">", "\" onclick='x'>&amp;<"),
	        "<a href=\"&quot; onclick=&#39;x&#39;&gt;&amp;amp;&lt;\">");
	ESCAPES(html_print(out, "<b>%s</b>", "</script>\n\x01\xff\xe2\x80\xae"),
	        "<b>&lt;/script&gt;&#xfffd;&#xfffd;&#xfffd;&#xfffd;&#xfffd;&#xfffd;</b>");
	ESCAPES(html_print(out, "%c%d", '<', 5), "&lt;5");
}

static void test_programs(void)
{
	ESCAPES(csv_print_text(out, "=cmd|' /C calc'!A0"), "\"'=cmd|' /C calc'!A0\"");
	ESCAPES(csv_print_text(out, "@SUM(1)"), "\"'@SUM(1)\"");
	ESCAPES(csv_print_text(out, "+1+1"), "\"'+1+1\"");
	ESCAPES(csv_print_text(out, "-x"), "\"'-x\"");
	ESCAPES(csv_print_text(out, "-5.5"), "-5.5");
	ESCAPES(csv_print_text(out, "-"), "-");
	ESCAPES(csv_print_text(out, "a,\"b\"\r\n"), "\"a,\"\"b\"\"??\"");
	ESCAPES(csv_print_text(out, "\t=1"), "?=1");
	ESCAPES(columns_print_text(out, "a|b\nc"), "a?b?c");
	ESCAPES(metrics_print_label(out, "a\"} 5\n\\"), "a\\\"} 5?\\\\");
	ESCAPES(comment_print_text(out, "a`b$c\"d|e\\f\n\xc3\xa9g", 100), "a?b?c?d?e?f??g");
	ESCAPES(comment_print_text(out, "abcdef", 3), "abc");
	ESCAPES(json_print_text(out, "\"\\\n\x7f\xff\xc2\x9b\xe2\x80\xae", 10),
	        "\"\\\"\\\\\\u000a\\u007f\\ufffd\\ufffd\\ufffd\"");
	json_t *one = json_string("\x7f\x1b\xc2\x9b\xe2\x80\xae\"");
	ESCAPES(json_print(out, one, JSON_ENCODE_ANY), "\"\\u007f\\u001B\\u009B\\u202E\\\"\"");
	json_decref(one);
}

int main(void)
{
	test_formats();
	test_terminal();
	test_page();
	test_programs();
	free(text);
	return tap_end();
}
