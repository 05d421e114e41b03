/* SPDX-License-Identifier: BSD-3-Clause
 * queues - numbers without a rule, of which each place of a program takes the next one
 */
#include "proxy/queues.h"

#include "proxy/dense.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/dense_read.h"
#include "tests/unit/node_text.h"
#include "tests/unit/tap.h"

enum { RANKS = 5 };

/* ---- as the program reads them ---- */

struct read {
	long first, length, period, times, more;
};

/* Reads `count` queues of a rank; what they have in all goes to `numbers`. */
static void read_queues(const char *text, int rank, struct read *queue, int count, long *numbers)
{
	long n = 0;
	dense_begin(strchr(text, '"') + 1, strstr(text, "\";"));
	for (int i = 0; i < count; i++) {
		long same = next_number(0, 1), rows = same ? 0 : next_number(0, 1) + 1, own = 0, length = 0, end = n;
		for (long r = 0, seen = 0; rows > 1 && r < RANKS; r++) {
			long row = seen - next_number(0, 1);
			seen += row == seen;
			own = r == rank ? row : own;
		}
		for (long row = 0; row < rows; row++, end += length) {
			length += row ? next_signed(0, 1) : next_number(0, 1);
			long period = next_number(0, 1);
			if (row == own)
				queue[i] = (struct read){end, length,
				                         period == QUEUE_LAST  ? 1
				                         : period == QUEUE_ALL ? length
				                                               : period,
				                         1, 0};
		}
		if (same) {
			queue[i] = queue[i - same];
			queue[i].times += next_signed(0, 1);
			queue[i].more += next_signed(0, 1);
		} else {
			next_numbers(numbers + n, end - n);
		}
		n = end;
	}
}

/* ---- lists of ranks ---- */

static int64_t value(int row, uint64_t i)
{
	return (int64_t)(i * i % 17 + i % 3) - row * 5;
}

/* The numbers of each queue: such a number times the first, and the second more. */
static const int64_t made[][2] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {-8, 3}, {2, 7}, {0, 4}};

static int64_t add(struct queues *q, const int64_t *by, const uint32_t *row, const uint64_t *lead,
                   const uint64_t *period, uint32_t rows, const bool *none)
{
	struct queue_list list[RANKS];
	for (int r = 0; r < RANKS; r++) {
		list[r] = (struct queue_list){calloc(400, sizeof(int64_t)), lead[row[r]], period[row[r]], row[r]};
		for (uint64_t i = 0; i < lead[row[r]] + period[row[r]]; i++)
			list[r].values[i] = value((int)row[r], i) * by[0] + by[1];
	}
	int64_t number = queues_add(q, list, none, RANKS, rows);
	for (int r = 0; r < RANKS; r++)
		free(list[r].values);
	return number;
}

/* Are the numbers of a queue those of its lists? */
static bool has_lists(const struct read *got, const int64_t *by, const long *numbers, int rank, const uint32_t *row,
                      const uint64_t *lead, const uint64_t *period)
{
	if (got->length != (long)(lead[row[rank]] + period[row[rank]]) || got->period != (long)period[row[rank]])
		return false;
	for (long i = 0; i < got->length; i++)
		if (numbers[got->first + i] * got->times + got->more !=
		    value((int)row[rank], (uint64_t)i) * by[0] + by[1])
			return false;
	return true;
}

enum { QUEUES = 8 };

int main(void)
{
	struct queues q = {.count = 0};
	const bool all[RANKS] = {false}, some[RANKS] = {true, false, true, false, false};
	const uint32_t rows[QUEUES][RANKS] =
		{{0}, {0, 1, 2, 3, 4}, {0, 1, 0, 2, 1}, {0}, {0, 0, 0, 1, 0}, {0, 1, 2, 3, 4}, {0, 1, 0, 2, 1}, {0}},
		       count[QUEUES] = {1, 5, 3, 1, 2, 5, 3, 1};
	const uint64_t lead[RANKS] = {60, 30, 99, 0, 7}, period[RANKS] = {1, 1, 4, 50, 1};
	static const char *const titles[QUEUES] = {
		"one row for all ranks",          "a row for each, of other lengths and periods",
		"rows that ranks have in common", "once more",
		"ranks that take nothing",        "what follows from another one",
		"the same with rows in common",   "a number"};
	struct queue_list large = {(int64_t[]){INT64_MAX}, 0, 1, 0};
	const struct queue_list alike[RANKS] = {large, large, large, large, large};
	ok(queues_add(&q, alike, all, RANKS, 1) == -2 && q.count == 0, "a number that is too large");
	for (int i = 0; i < QUEUES; i++)
		ok(add(&q, made[i], rows[i], lead, period, count[i], i == 4 ? some : all) == i && q.each[i].size > 1,
		   "added");

	static const uint32_t used[] = {1, 0, 1, 2, 3, 4, 5, 6, 7};
	struct tree tree = {0};
	struct definitions lines = {0};
	struct nodes calls = {0};
	for (size_t i = 0; i < sizeof used / sizeof *used; i++)
		nodes_add(&tree, &calls, node_call(&tree, "next", NODES(queues_use(&q, &tree, &lines, used[i]))));
	nodes_add(&tree, &calls, node_call(&tree, "numbers", NODES(queues_use(&q, &tree, &lines, 5))));
	ok(dense_sizes(&tree, &lines) > q.each[1].size + q.each[0].size, "what they take counts");
	const struct tree_node *list = nodes_end(&tree, NODE_LIST, &calls);
	int rv = queues_take(&q, list);
	rv |= queues_take(&q, list);
	char *text = text_of_node(list), *none = text_of_definitions(&lines), *out;
	ok(rv == 0 && strcmp(text, "{next(0), next(1), next(0), next(2), next(3), next(4), next(5), next(6), next(7), "
	                           "numbers(5)}") == 0,
	   "queues have numbers in the order in which they are asked for: %s", text);
	ok(*none == '\0', "and no definition");
	free(text);
	free(none);
	tree_free(&tree);
	size_t size;
	FILE *f = open_memstream(&out, &size);
	ok(queues_write(&q, f) == 0, "written");
	fclose(f);
	static const int order[QUEUES] = {1, 0, 2, 3, 4, 5, 6, 7}; /* in which they were taken */
	for (int i = 0; i < QUEUES; i++) {
		bool good = true;
		for (int r = 0; r < RANKS; r++) {
			struct read got[QUEUES];
			long numbers[4000];
			if (order[i] == 4 && some[r])
				continue;
			read_queues(out, r, got, QUEUES, numbers);
			good &= has_lists(&got[i], made[order[i]], numbers, r, rows[order[i]], lead, period);
		}
		ok(good, "%s", titles[order[i]]);
	}
	ok(strstr(out, "static int *numbers(int queue)") && strstr(out, "of_queue[8];"),
	   "arrays of them are asked for");
	ok(size < 4000, "of what follows from others, nothing else is written: %zu", size);
	free(out);
	queues_free(&q);
	return tap_end();
}
