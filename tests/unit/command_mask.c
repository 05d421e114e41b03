/* SPDX-License-Identifier: BSD-3-Clause
 * command_mask - numbers are taken out of arguments, and put back
 */
#include "archive/command_mask.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static int keep_all(const void *unused, size_t n)
{
	(void)unused, (void)n;
	return 1;
}

static int keep_second(const void *unused, size_t n)
{
	(void)unused;
	return n == 1;
}

static void masked(const char *json, const char *wanted, const char *numbers, const char *second)
{
	json_t *metadata = json_pack("{s:o?}", "command", json_loads(json, JSON_DECODE_ANY, NULL));
	struct command_mask a;
	char back[COMMAND_MASK_SIZE], some[COMMAND_MASK_SIZE];
	command_mask_make(&a, metadata);
	command_mask_fill(back, sizeof back, a.masked, a.numbers, keep_all, NULL);
	command_mask_fill(some, sizeof some, a.masked, a.numbers, keep_second, NULL);
	ok(!strcmp(a.masked, wanted) && !strcmp(a.numbers, numbers) && !strcmp(some, second), "%s: %s, %s, %s", json,
	   a.masked, a.numbers, some);
	json_decref(metadata);
}

static void too_long(void)
{
	char word[4 * COMMAND_MASK_SIZE], back[COMMAND_MASK_SIZE], small[8];
	struct command_mask a;
	for (size_t i = 0; i + 1 < sizeof word; i++)
		word[i] = i % 2 ? 'x' : '7';
	word[sizeof word - 1] = '\0';
	json_t *metadata = json_pack("{s:[s, s]}", "command", "solver", word);
	command_mask_make(&a, metadata);
	command_mask_fill(back, sizeof back, a.masked, a.numbers, keep_all, NULL);
	ok(strlen(a.masked) < COMMAND_MASK_SIZE && strlen(a.numbers) < COMMAND_MASK_SIZE &&
	           !strncmp(word, back, strlen(back)),
	   "of long arguments the beginning");
	command_mask_fill(small, sizeof small, "# ab # cd", "1234 5678", keep_all, NULL);
	ok(!strcmp(small, "1234 ab"), "it fits: %s", small);
	json_decref(metadata);
}

int main(void)
{
	masked("null", "", "", "");
	masked("[\"solver\"]", "", "", "");
	masked("[\"solver7\", \"-n\", \"64\", \"mesh2.dat\"]", "-n # mesh#.dat", "64 2", "-n # mesh2.dat");
	masked("[\"solver\", \"1e-3\", \"007\"]", "#e-# #", "1 3 007", "#e-3 #");
	masked("[\"solver\", 5, [], \"5\"]", "  #", "5", "  #");
	masked("[\"solver\", \"#\", \"5\"]", "# #", "5", "# #");
	too_long();
	return tap_end();
}
