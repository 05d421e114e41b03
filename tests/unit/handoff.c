/* SPDX-License-Identifier: BSD-3-Clause
 * handoff - what the tracer makes of the handoff, bad input first; and the text forms below it: escapes, facts,
 * decisions
 */
#include "spank/handoff.h"

#include <stdlib.h>
#include <string.h>

#include "policy/decision.h"
#include "trace/base/escape.h"
#include "trace/base/facts.h"
#include "tests/unit/tap.h"

static void test_escape(void)
{
	static const struct {
		const char *text;
		int length; /* -1: refused */
		const char *value;
	} cases[] = {
		{"", 0, ""},
		{"a", 1, "a"},
		{"%41%62", 2, "Ab"},
		{"%c3%A9", 2, "\xc3\xa9"},
		{"%25%3B", 2, "%;"},
		{"%", -1, ""},
		{"%4", -1, ""},
		{"%4g", -1, ""},
		{"%g4", -1, ""},
		{"%00", -1, ""},
		{"a b", -1, ""},
		{"a;b", -1, ""},
		{"\x7f", -1, ""},
		{"\xc3", -1, ""},
		{"12345678", -1, ""},
		{"a%0", -1, ""},
		{"1234567", 7, "1234567"},
	};
	char out[8], all[256], escaped[1024], back[256];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		memset(out, 'x', sizeof out);
		int n = escape_read(out, sizeof out, cases[i].text, strlen(cases[i].text), '\0');
		ok(n == cases[i].length && !strcmp(out, cases[i].value), "escape_read %s", cases[i].text);
	}
	ok(escape_read(out, sizeof out, "a%00b", 5, 31) == 3 && !memcmp(out,
	                                                                "a\x1f"
	                                                                "b",
	                                                                4),
	   "an escaped NUL as another byte");
	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	all[255] = '\0';
	int n = escape_write(escaped, sizeof escaped, all);
	ok(n > 0 && escape_read(back, sizeof back, escaped, (size_t)n, '\0') == 255 && !strcmp(back, all),
	   "all bytes, and back");
	ok(escape_write(out, 4, "abc") == 3, "a value that just fits");
	ok(escape_write(out, 3, "abc") == -1 && !out[0], "one that does not");
	ok(escape_write(out, 4, "a b") == -1 && !out[0], "one that does not when escaped");
}

static void refuses(const char *text, const char *words)
{
	struct handoff h;
	struct error error = {""};
	memset(&h, 0xff, sizeof h);
	int rv = handoff_decode(&h, text, &error);
	ok(rv == -1 && strstr(error.text, words), "refused: %.60s: %s", text, error.text);
	ok(h.mode == HANDOFF_OFF && !h.spool[0], "and that means off");
}

/* A setting that cannot be read is what it is without it, and there is a note. */
static void falls_back(const char *text, const char *words)
{
	struct handoff h, standard;
	struct error error = {""};
	char all[256];

	handoff_default(&standard);
	snprintf(all, sizeof all, "1;mode=lossy;spool=/a;%s", text);
	int rv = handoff_decode(&h, all, &error);
	ok(rv == 0 && !memcmp(&h.set, &standard.set, sizeof h.set) && (!h.threshold || h.threshold == MODE_THRESHOLD),
	   "%s: the standard value", text);
	ok(strstr(h.notes, words), "and a note: %s", h.notes);
}

static void test_handoff(void)
{
	struct handoff h, back;
	struct error error = {""};
	char text[4096], long_text[20000];

	refuses("", "version");
	refuses("2;mode=off", "version");
	refuses("1", "version");
	refuses("1;mode", "KEY=VALUE");
	refuses("1;;mode=off", "KEY=VALUE");
	refuses("1;mode=on;spool=/a", "expected off, lossless or lossy");
	refuses("1;mode=lossless", "without a spool");
	refuses("1;mode=lossless;spool=", "absolute");
	refuses("1;mode=lossless;spool=a/b", "absolute");
	refuses("1;mode=lossless;spool=/a b", "escaped");
	refuses("1;mode=lossless;spool=/a%2", "escaped");
	refuses("1;mode=lossless;spool=/a%00", "escaped");
	falls_back("threshold=-1", "threshold=-1: expected a number of tokens; 128 is used");
	falls_back("threshold=18446744073709551616", "a number");
	falls_back("threshold=many", "a number");
	falls_back("memory=1", "bytes from 1048576");
	falls_back("memory=", "bytes from");
	falls_back("memory=99999999999999999999", "; 8388608 is used");
	falls_back("deadline=4294967296", "seconds");
	falls_back("deadline=+1", "seconds");
	falls_back("bins=0", "bins=0: expected bins from 1 to 64; 8 is used");
	falls_back("timing=often", "timing=often: expected \"aggregate\", \"histogram\" or \"full\"");
	falls_back("timing=full:1", "; histogram is used");
	falls_back("timing=histogram:0.1", "timing=");
	falls_back("counters=PAPI_TOT_INST", "; none is used");
	falls_back("bins=0;timing=x;counters=a", "; none is used");
	strcpy(long_text, "1;mode=lossless;spool=/");
	memset(long_text + strlen(long_text), 'a', 15000);
	refuses(long_text, "too long");
	long_text[23 + 1022] = '\0';
	ok(!handoff_decode(&h, long_text, &error), "the longest path: %s", error.text);
	long_text[23 + 1022] = 'a';
	long_text[23 + 1023] = '\0';
	refuses(long_text, "longer than");

	ok(!handoff_decode(&h, "1;", &error) && h.mode == HANDOFF_OFF && h.set.memory == 8 << 20 &&
	           h.set.deadline == 10,
	   "defaults");
	ok(!handoff_decode(&h, "1;colour=green;mode=off", &error), "an unknown key is ignored");
	ok(!handoff_decode(&h, "1;mode=lossy;threshold=18446744073709551615;spool=/;", NULL) &&
	           h.threshold == UINT64_MAX,
	   "limits, a semicolon at the end, no error wanted");

	static const struct {
		const char *text, *again;
		uint64_t error;
	} timings[] = {{"aggregate", "aggregate", 0},
	               {"histogram", "histogram", 0},
	               {"full", "full", 0},
	               {"full:0.01", "full:0.01", 10000},
	               {"full:0.5", "full:0.5", 500000},
	               {"full:0.000001", "full:0.000001", 1},
	               {"full:0.0000019", "full:0.000001", 1}};
	for (size_t i = 0; i < sizeof timings / sizeof timings[0]; i++) {
		const struct setting *s = setting_find("timing", 6);
		char again[SETTING_TEXT_SIZE];
		settings_default(&h.set);
		ok(!setting_parse(s, &h.set, timings[i].text) &&
		           !strcmp(setting_format(s, &h.set, again), timings[i].again) &&
		           setting_error(h.set.timing) == timings[i].error,
		   "%s is %s", timings[i].text, again);
	}
	ok(setting_error(GRADE_EXACT) == 0 && GRADE_EXACT - 10000 > GRADE_EXACT - 500000,
	   "a smaller error captures more");

	handoff_default(&h);
	h.mode = HANDOFF_LOSSY;
	h.threshold = 12;
	h.set.timing = GRADE_EXACT - 20000;
	strcpy(h.set.counters, "perf::TASK-CLOCK,PAPI_TOT_INS");
	h.set.memory = 1 << 20;
	h.set.deadline = 3600;
	strcpy(h.spool, "/with blank;semicolon%percent\xc3\xa9=");
	strcpy(h.papi, "!PAPI crashed; so it is not asked");
	int n = handoff_encode(&h, text, sizeof text);
	ok(n == (int)strlen(text) &&
	           strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ=;%/:.,!-") ==
	                   (size_t)n,
	   "only printable: %s", text);
	ok(!handoff_decode(&back, text, &error) && !memcmp(&h, &back, sizeof h), "and back: %s", error.text);
	ok(handoff_encode(&h, text, (size_t)n + 1) == n && handoff_encode(&h, text, (size_t)n) == -1, "no room");
	memset(h.spool, ' ', sizeof h.spool - 1);
	h.spool[0] = '/';
	ok(handoff_encode(&h, text, sizeof text) > 3000 && !handoff_decode(&back, text, NULL) &&
	           !memcmp(&h, &back, sizeof h),
	   "the longest path of bytes that are escaped");
}

static void test_facts(void)
{
	static const char *const bad[] = {"a", "=b", "A=b", "a b=c", "a=b c", "a=%", "a=1\nb", "a-b=1"};
	struct facts f = {0}, back = {0};
	struct error error = {""};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct facts g = {0};
		error.text[0] = '\0';
		ok(facts_decode(&g, bad[i], strlen(bad[i]), "it", &error) && strstr(error.text, "it: line"),
		   "refused: bad line %zu: %s", i, error.text);
		facts_clear(&g);
	}
	facts_set(&f, "a", "1");
	facts_set(&f, "b", "x\n=y");
	facts_set(&f, "a", "-2");
	facts_set(&f, "none", NULL);
	facts_format(&f, "c", "%d", 3);
	char *text = facts_encode(&f);
	ok(text && !strcmp(text, "a=-2\nb=x%0A=y\nc=3\n"), "facts as text");
	ok(!facts_decode(&back, text, strlen(text), "it", &error) && back.count == 3 &&
	           !strcmp(facts_get(&back, "b"), "x\n=y"),
	   "and back");
	ok(facts_number(&back, "a", 7) == -2 && facts_number(&back, "b", 7) == 7 && facts_number(&back, "z", 7) == 7,
	   "numbers");
	ok(!facts_get(&back, "none"), "NULL is not set");
	free(text);
	facts_clear(&f);
	facts_clear(&back);
}

static void test_decision(void)
{
	struct decision d = {.mode = {MODE_LOSSY, 5},
	                     .archive = "/a b",
	                     .spool = "/s",
	                     .admin_group = "",
	                     .rule = "a rule",
	                     .where = "f:1",
	                     .reason = "because"},
			back;
	struct error error = {""};

	settings_default(&d.set);
	d.set.memory = 1 << 20;
	d.set.deadline = 3;
	d.set.bins = 5;
	char *text = decision_encode(&d);
	ok(text && !decision_decode(&back, text, strlen(text), &error) && !memcmp(&d, &back, sizeof d),
	   "a decision, and back: %s", error.text);
	for (char *line = text; line && *line; line = strchr(line, '\n') + 1) {
		char without[2048];
		snprintf(without, sizeof without, "%.*s%s", (int)(line - text), text, strchr(line, '\n') + 1);
		error.text[0] = '\0';
		ok(decision_decode(&back, without, strlen(without), &error) == -1, "refused: without %.*s: %s",
		   (int)strcspn(line, "="), line, error.text);
	}
	ok(decision_decode(&back, "", 0, NULL) == -1, "refused: nothing");
	free(text);
}

static void test_mode(void)
{
	static const char *const bad[] = {"",
	                                  "Off",
	                                  "lossy:",
	                                  "lossy:x",
	                                  "lossy: 1",
	                                  "lossy:-1",
	                                  "lossy:4294967296",
	                                  "lossy:1x",
	                                  "lossless:1",
	                                  "on",
	                                  "lossy:99999999999999999999999"};
	struct mode mode = {MODE_OFF, 99};
	char text[MODE_TEXT_SIZE];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ok(mode_parse(&mode, bad[i]) == -1 && mode.threshold == 99, "no mode: \"%s\"", bad[i]);
	ok(!mode_parse(&mode, "lossy:4294967295") && !strcmp(mode_format(&mode, text), "lossy:4294967295"),
	   "the longest mode");
	ok(!mode_parse(&mode, "lossy") && mode.threshold == MODE_THRESHOLD, "lossy without a number");
}

int main(void)
{
	test_escape();
	test_handoff();
	test_facts();
	test_decision();
	test_mode();
	return tap_end();
}
