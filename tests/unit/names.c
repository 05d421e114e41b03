/* SPDX-License-Identifier: BSD-3-Clause
 * names - names of functions for a generated program: no two are alike, and none is the program's own, or C's
 */
#include "proxy/names.h"

#include <stdint.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/base/budget.h"

#define MANY 20000

/* So many names that are taken: each is found in a few steps. */
static void test_many(const char *text, const char *last)
{
	struct budget budget = {.memory = UINT64_C(1) << 30, .steps = MANY * UINT64_C(40)};
	struct names n = {0};
	const char *name = "";
	budget_begin(&budget);
	for (int i = 0; i < MANY && name; i++)
		name = names_make(&n, text);
	ok(name && strcmp(name, last) == 0, "many are called '%s': %s after %llu steps", text, name ? name : "none",
	   (unsigned long long)budget.done);
	names_free(&n);
	budget_end(&budget);
}

int main(void)
{
	static const struct {
		const char *text, *name;
	} each[] = {
		{"", "part"},
		{"main+0x17", "part_2"},
		{"17 */ bad", "part_3"},
		{"MPI_Send", "part_4"},
		{"exchange", "exchange"},
		{"exchange", "exchange_2"},
		{"Foam::solve(double*, int)", "Foam_solve_double_int"},
		{"for", "for_2"},
		{"main", "main_2"},
		{"remove", "remove_2"}, /* stdio.h */
		{"unpack", "unpack_2"},
		{"again_from", "again_from_2"},
		{"rank_in", "rank_in_2"},
		{"work_begin", "app_work_begin"},
		{"poll_all", "app_poll_all"},
		{"table_1", "app_table_1"},
	};
	struct names n = {0};
	char text[1000];
	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		const char *name = names_make(&n, each[i].text);
		ok(name && strcmp(name, each[i].name) == 0, "'%s': %s", each[i].text, name ? name : "none");
	}
	memset(text, 'w', sizeof text);
	text[sizeof text - 1] = '\0';
	memcpy(text, "work_", 5);
	const char *first = names_make(&n, text), *second = names_make(&n, text);
	ok(first && strlen(first) < NAMES_SIZE && strncmp(first, "app_work_w", 10) == 0, "a long one is cut");
	ok(second && strlen(second) < NAMES_SIZE && strcmp(second + strlen(second) - 2, "_2") == 0, "and another one");
	names_free(&n);
	test_many("17", "part_20000");
	test_many("for", "for_20001");
	return tap_end();
}
