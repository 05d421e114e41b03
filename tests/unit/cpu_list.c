/* SPDX-License-Identifier: BSD-3-Clause
 * cpu_list - bad lists first; then text and set are the same
 */
#include "trace/base/cpu_list.h"

#include <string.h>

#include "tests/unit/tap.h"

static void refused(const char *text)
{
	struct cpu_set set;
	ok(cpu_list_parse(text, strlen(text), &set) == -1, "refused: \"%.60s\"", text);
}

static void same(const char *text, const char *expected, uint32_t count)
{
	struct cpu_set set;
	char out[CPU_LIST_TEXT] = "";
	int rv = cpu_list_parse(text, strlen(text), &set);
	int n = cpu_list_format(&set, out, sizeof out);
	ok(rv == 0 && n == (int)strlen(expected) && strcmp(out, expected) == 0 && cpu_set_count(&set) == count,
	   "%s: %u CPUs, %s", text, count, out);
}

int main(void)
{
	static const char *const bad[] = {"",   ",", "-",    "1-",     "-1",   "3-1",   "1,",  ",1", "1,,2",
	                                  "1 ", "a", "8192", "0-8192", "1-2-", "1-2-3", "0x1", "1;"};
	struct cpu_set set, other;
	char out[CPU_LIST_TEXT], odd[CPU_LIST_TEXT + 8] = "";
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		refused(bad[i]);
	ok(cpu_list_parse("1\0", 2, &set) == -1, "refused: a NUL in it");
	ok(cpu_list_parse("1\n", 2, &set) == -1, "refused: a line end");
	memset(odd, '1', CPU_LIST_TEXT);
	refused(odd);
	same("0", "0", 1);
	same("0-3,8", "0-3,8", 5);
	same("8,0-1,2,3", "0-3,8", 5);
	same("63,64", "63-64", 2);
	same("0-8191", "0-8191", 8192);
	same("8191", "8191", 1);
	set = (struct cpu_set){{0}};
	for (uint32_t i = 0; i < CPU_LIST_MAX; i += 2)
		cpu_set_add(&set, i);
	ok(cpu_list_format(&set, out, sizeof out) == -1, "a text that is too long is not written");
	cpu_set_add(&set, CPU_LIST_MAX);
	ok(cpu_set_count(&set) == CPU_LIST_MAX / 2 && !cpu_set_has(&set, CPU_LIST_MAX),
	   "a CPU that cannot be is not added");
	ok(cpu_set_next(&set, 1) == 2 && cpu_set_next(&set, 64) == 64 && cpu_set_next(&set, 8191) == CPU_LIST_MAX,
	   "the next one");
	cpu_list_parse("4-7,70", 6, &set);
	cpu_list_parse("4-8,70,71", 9, &other);
	ok(cpu_set_within(&set, &other) && !cpu_set_within(&other, &set), "within");
	cpu_set_lower(&set, 4);
	cpu_list_format(&set, out, sizeof out);
	ok(!strcmp(out, "0-3,66"), "lower by 4: %s", out);
	return tap_end();
}
