/* SPDX-License-Identifier: BSD-3-Clause
 * facts - lines that are no facts; names and values of all bytes; numbers that are none
 */
#include "trace/base/facts.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static void refused(const char *what, const char *text, size_t n)
{
	struct facts f = {.count = 0};
	struct error error = {""};
	ok(facts_decode(&f, text, n, "x", &error) == -1 && strstr(error.text, "x: line "), "refused: %s: %s", what,
	   error.text);
	facts_clear(&f);
}

static void test_bad(void)
{
	static char many[3 * FACT_VALUE_MAX];
	char name[FACT_NAME_MAX + 3];
	memset(many, 'a', sizeof many);
	many[1] = '=';
	memset(name, 'a', sizeof name);
	name[FACT_NAME_MAX + 1] = '=';
	refused("no name", "=x", 2);
	refused("no value", "job", 3);
	refused("a name of capitals", "Job=1", 5);
	refused("a name with a NUL", "a\0b=1", 5);
	refused("a name that is too long", name, sizeof name);
	refused("a space in a value", "a=b c", 5);
	refused("half of an escape", "a=%4", 4);
	refused("an escape that is none", "a=%4x", 5);
	refused("a NUL in a value", "a=b\0c", 5);
	refused("a value that is too long", many, FACT_VALUE_MAX + 3);
	refused("the second line", "a=b\nc", 5);
}

/* A megabyte of names, all different: each would be compared with all before it. */
static void test_many(void)
{
	enum { MANY = 100000 };
	char *text = malloc(8 * MANY + 1);
	size_t n = 0;
	for (int i = 0; i < MANY; i++)
		n += (size_t)sprintf(text + n, "a%05d=\n", i);
	struct facts f = {.count = 0};
	struct error error = {""};
	ok(facts_decode(&f, text, 8 * FACT_COUNT_MAX, "x", &error) == 0 && f.count == FACT_COUNT_MAX, "many names");
	facts_clear(&f);
	ok(facts_decode(&f, text, n, "x", &error) == -1 && f.count == FACT_COUNT_MAX + 1, "too many names: %s",
	   error.text);
	facts_clear(&f);
	free(text);
}

static bool is_number(const char *value, int64_t wanted)
{
	struct facts f = {.count = 0};
	facts_set(&f, "n", value);
	bool right = facts_number(&f, "n", -7) == wanted;
	facts_clear(&f);
	return right;
}

static void test_numbers(void)
{
	ok(is_number("12", 12) && is_number("-3", -3) && is_number("9223372036854775807", INT64_MAX), "numbers");
	ok(is_number("", -7) && is_number("1x", -7) && is_number(" 1", -7) && is_number("0x1", -7) &&
	           is_number("9223372036854775808", -7) && is_number("-", -7) && is_number("1-2", -7) &&
	           is_number(NULL, -7),
	   "what is none");
	ok(facts_severity(0, 0) == 0 && facts_severity(-1, 0) == 0 && facts_severity(1, 0) < facts_severity(255, 0) &&
	           facts_severity(1000, 0) == facts_severity(255, 0) && facts_severity(255, 0) < facts_severity(0, 1) &&
	           facts_severity(0, 9) < facts_severity(0, 15) &&
	           facts_severity(0, INT64_MAX) == facts_severity(0, 256) && facts_severity(3, -1) == 3,
	   "how bad an ending is");
}

/* Facts as text, and back. */
static int round_trip(void *context)
{
	const struct facts *wanted = context;
	struct facts f = {.count = 0}, copy = {.count = 0};
	int rv = -1;
	for (size_t i = 0; i < wanted->count; i++)
		facts_set(&copy, wanted->items[i].name, wanted->items[i].value);
	char *text = facts_encode(&copy);
	if (text && facts_decode(&f, text, strlen(text), "x", NULL) == 0 && f.count == wanted->count) {
		rv = 0;
		for (size_t i = 0; i < f.count; i++)
			rv |= strcmp(f.items[i].name, wanted->items[i].name) ||
			      strcmp(f.items[i].value, wanted->items[i].value);
	}
	if (copy.failed && text)
		abort(); /* it lacks something, and does not say so */
	free(text);
	facts_clear(&f);
	facts_clear(&copy);
	return rv ? -1 : 0;
}

static void test_good(void)
{
	struct facts f = {.count = 0};
	char all[256], name[20];
	for (int i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = '\0';
	facts_set(&f, "all", all);
	facts_set(&f, "empty", "");
	facts_set(&f, "none", NULL);
	facts_set(&f, "all", "first");
	facts_set(&f, "all", all);
	ok(f.count == 2 && !strcmp(facts_get(&f, "all"), all) && !facts_get(&f, "none"), "a fact that is set again");
	for (int i = 0; i < 70; i++) {
		snprintf(name, sizeof name, "n%d", i);
		facts_format(&f, name, "%d", i * i);
	}
	ok(round_trip(&f) == 0, "%zu facts come back, in their order", f.count);
	ok(fails_well(round_trip, &f), "no memory");
	facts_clear(&f);
	ok(facts_decode(&f, "a=1\n\na=x%00y", 12, "x", NULL) == 0 && f.count == 1 &&
	           !strcmp(facts_get(&f, "a"), "x\x1fy"),
	   "an empty line; a name twice; a NUL becomes a separator");
	facts_clear(&f);
	static char lots[FACT_VALUE_MAX + 100];
	memset(lots, 'v', sizeof lots - 1);
	facts_set(&f, "long", lots);
	ok(strlen(facts_get(&f, "long")) == FACT_VALUE_MAX && round_trip(&f) == 0,
	   "a long value is cut where it is set");
	facts_clear(&f);
}

int main(void)
{
	test_bad();
	test_many();
	test_numbers();
	test_good();
	return tap_end();
}
