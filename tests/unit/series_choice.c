/* SPDX-License-Identifier: BSD-3-Clause
 * series_choice - which runs are of one series: by build, executable, name, and by numbers that are no matter of size
 */
#include "archive/series_choice.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

enum { MOST = 16 };

struct run {
	int64_t alike, build, exe, ranks;
	const char *numbers;
};

static struct series_candidate list[MOST];

/* Later ones are newer; their ids are from 1. Returns how many there are: up to one with 0 ranks. */
static size_t fill(const struct run *runs)
{
	size_t n = 0;
	for (; runs[n].ranks; n++)
		list[n] = (struct series_candidate){.id = (int64_t)n + 1,
		                                    .alike = runs[n].alike,
		                                    .build = runs[n].build,
		                                    .exe = runs[n].exe,
		                                    .ranks = runs[n].ranks,
		                                    .start_ns = (int64_t)n,
		                                    .numbers = (char *)(uintptr_t)runs[n].numbers};
	return n;
}

/* wanted: the ids in order, each with a blank behind; fixed: a letter for each number. */
static void chosen(const char *title, const struct run *runs, bool named, enum series_same same, const char *wanted,
                   const char *fixed)
{
	char ids[100] = "", numbers[20] = "";
	size_t n = fill(runs), used = 0;
	struct series_chosen c;
	int rv = series_choose(&c, list, n, named);
	for (size_t i = 0; rv == 0 && i < c.count; i++)
		used += (size_t)snprintf(ids + used, sizeof ids - used, "%d ", (int)list[c.first + i].id);
	for (size_t i = 0; rv == 0 && i < c.numbers; i++)
		numbers[i] = c.fixed[i] ? 'f' : '-';
	ok(rv == 0 && c.same == same && !strcmp(ids, wanted) && !strcmp(numbers, fixed), "%s: %s%s", title, ids,
	   numbers);
	free(c.fixed);
}

static const struct run builds[] = {{1, 5, 9, 4, "8"},
                                    {1, 5, 9, 8, "8"},
                                    {1, 5, 8, 16, "8"},
                                    {1, 6, 9, 4, "8"},
                                    {1, 6, 9, 32, "8"},
                                    {2, 5, 9, 64, "8"},
                                    {0}};

static int choose_some(void *unused)
{
	struct series_chosen c;
	(void)unused;
	int rv = series_choose(&c, list, fill(builds), true);
	free(c.fixed);
	return rv;
}

int main(void)
{
	chosen("nothing", (struct run[]){{0}}, true, SERIES_NAME, "", "");
	chosen("one build, wherever it is", builds, false, SERIES_BUILD, "1 2 3 ", "f");
	chosen("too few sizes of a build: one executable",
	       (struct run[]){{1, 5, 9, 4, ""}, {1, 6, 9, 8, ""}, {1, 7, 9, 16, ""}, {1, 7, 8, 32, ""}, {0}}, false,
	       SERIES_EXECUTABLE, "1 2 3 ", "");
	chosen("what has no build is told apart by its executable",
	       (struct run[]){{1, 0, 9, 4, ""}, {1, 0, 8, 8, ""}, {1, 0, 9, 8, ""}, {1, 0, 9, 16, ""}, {0}}, false,
	       SERIES_BUILD, "1 3 4 ", "");
	chosen("the name alone does only if it was given",
	       (struct run[]){{1, 1, 7, 4, ""}, {1, 2, 8, 8, ""}, {1, 3, 9, 16, ""}, {0}}, true, SERIES_NAME, "1 2 3 ",
	       "");
	chosen("and else it does not", (struct run[]){{1, 1, 7, 4, ""}, {1, 2, 8, 8, ""}, {1, 3, 9, 16, ""}, {0}},
	       false, SERIES_EXECUTABLE, "3 ", "");
	chosen("of a size, the newest first",
	       (struct run[]){{1, 5, 9, 4, "1"}, {1, 5, 9, 4, "1"}, {1, 5, 9, 2, "1"}, {0}}, true, SERIES_NAME,
	       "3 2 1 ", "f");
	chosen("a number that grows with the size",
	       (struct run[]){{1, 5, 9, 4, "4 7"}, {1, 5, 9, 8, "8 7"}, {1, 5, 9, 16, "16 7"}, {0}}, false,
	       SERIES_BUILD, "1 2 3 ", "-f");
	chosen("a number that differs in one size is one of its values",
	       (struct run[]){{1, 5, 9, 4, "4 1"},
	                      {1, 5, 9, 8, "8 2"},
	                      {1, 5, 9, 8, "8 1"},
	                      {1, 5, 9, 16, "16 1"},
	                      {1, 5, 9, 4, "4 2"},
	                      {0}},
	       false, SERIES_BUILD, "1 3 4 ", "-f");
	chosen("unless that leaves too few sizes",
	       (struct run[]){{1, 5, 9, 4, "4"}, {1, 5, 9, 4, "5"}, {1, 5, 9, 8, "6"}, {1, 5, 9, 16, "7"}, {0}}, false,
	       SERIES_BUILD, "2 1 3 4 ", "-");
	chosen("numbers that are missing",
	       (struct run[]){{1, 5, 9, 4, "4 "}, {1, 5, 9, 8, ""}, {1, 5, 9, 16, "4"}, {0}}, false, SERIES_BUILD,
	       "1 2 3 ", "-f");
	ok(fails_well(choose_some, NULL), "no memory");
	return tap_end();
}
