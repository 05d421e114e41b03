/* SPDX-License-Identifier: BSD-3-Clause
 * queues - numbers without a rule, of which each place of a program takes the next one
 */
#include "proxy/queues.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/dense_code.h"
#include "tests/unit/tap.h"

enum { RANKS = 5 };

/* ---- as the program reads them ---- */

static const char *letter;
static int bit_at;

static long next_bit(void)
{
	long digit = strchr(DENSE_DIGITS, letter[bit_at / 6]) - DENSE_DIGITS;
	return digit >> (5 - bit_at++ % 6) & 1;
}

static long next_number(long bits, long wider)
{
	long v = 0, low = 0;
	for (; !next_bit(); bits += wider)
		v += 1L << bits;
	while (bits-- > 0)
		low = low * 2 + next_bit();
	return v + low;
}

static long next_signed(long bits, long wider)
{
	long v = next_number(bits, wider);
	return v / 2 ^ -(v % 2);
}

static void read_numbers(long *to, long n)
{
	long base = next_signed(DENSE_BASE_BITS, 1), back = next_number(DENSE_BACK_BITS, 1),
	     bits = next_number(DENSE_BITS_BITS, 1), wider = next_bit();
	for (long i = 0; i < n;) {
		for (long more = next_number(COPY_NUMBERS_BITS, 1); more > 0; more--, i++)
			to[i] = (back && i >= back ? to[i - back] : base) + next_signed(bits, wider);
		if (i == n)
			break;
		long from = next_number(COPY_FROM_BITS, 1) + 1;
		for (long more = next_number(COPY_LENGTH_BITS, 1); more > 0; more--, i++)
			to[i] = to[i - from];
	}
}

struct read {
	long numbers[400], length, period;
};

static void read_queue(const char *text, int rank, struct read *q)
{
	long all[2000], n = 0, length = 0, first = 0, own = 0, seen = 0;
	char letters[2000], *to = letters;
	for (; *text; text++) /* it may be of several lines */
		if (strchr(DENSE_DIGITS, *text))
			*to++ = *text;
	*to = '\0';
	letter = letters;
	bit_at = 0;
	long rows = next_number(0, 1) + 1;
	for (long r = 0; rows > 1 && r < RANKS; r++) {
		long row = seen - next_number(0, 1);
		seen += row == seen;
		own = r == rank ? row : own;
	}
	for (long row = 0; row < rows; row++, n += length) {
		length += next_signed(row ? 0 : 5, 1);
		long period = next_number(0, 1);
		if (row == own) {
			first = n;
			q->length = length;
			q->period = period == QUEUE_LAST ? 1 : period == QUEUE_ALL ? length : period;
		}
	}
	read_numbers(all, n);
	memcpy(q->numbers, all + first, (size_t)q->length * sizeof(long));
}

/* ---- lists of ranks ---- */

static int64_t value(int row, uint64_t i)
{
	return (int64_t)(i * i % 17 + i % 3) - row * 5;
}

static int64_t add(struct queues *q, const uint32_t *row, const uint64_t *lead, const uint64_t *period, uint32_t rows,
                   const bool *none)
{
	struct queue_list list[RANKS];
	for (int r = 0; r < RANKS; r++) {
		list[r] = (struct queue_list){calloc(400, sizeof(int64_t)), lead[row[r]], period[row[r]], row[r]};
		for (uint64_t i = 0; i < lead[row[r]] + period[row[r]]; i++)
			list[r].values[i] = value((int)row[r], i);
	}
	int64_t number = queues_add(q, list, none, RANKS, rows);
	for (int r = 0; r < RANKS; r++)
		free(list[r].values);
	return number;
}

static bool reads(const char *text, const uint32_t *row, const uint64_t *lead, const uint64_t *period, const bool *none)
{
	for (int r = 0; r < RANKS; r++) {
		struct read got = {.length = 0};
		if (none[r])
			continue;
		read_queue(text, r, &got);
		if (got.length != (long)(lead[row[r]] + period[row[r]]) || got.period != (long)period[row[r]])
			return false;
		for (long i = 0; i < got.length; i++)
			if (got.numbers[i] != value((int)row[r], (uint64_t)i))
				return false;
	}
	return true;
}

static void check(struct queues *q, const uint32_t *row, const uint64_t *lead, const uint64_t *period, uint32_t rows,
                  const bool *none, const char *title)
{
	int64_t number = add(q, row, lead, period, rows, none);
	ok(number >= 0 && reads(q->each[number].text, row, lead, period, none) &&
	           queues_size(q, (uint32_t)number) == strlen(q->each[number].text) + QUEUE_COST,
	   "%s", title);
}

static void check_program(struct queues *q)
{
	char *text = strdup(
		     "static queue 9 queue_0 0\nstatic queue 9 queue_2 2\nf(queue_2(), queue_99(), my_queue_1(), "
		     "queue_2, queue_0(), queue_2());\n"),
	     *out;
	size_t size;
	int rv = queues_take(q, &text);
	ok(rv == 0 && strcmp(text, "f(next(0), queue_99(), my_queue_1(), queue_2, next(1), next(0));\n") == 0,
	   "names of queues become calls, and their lines go: %s", text);
	free(text);
	text = strdup("queue_3()");
	queues_take(q, &text); /* has what 0 has */
	FILE *f = open_memstream(&out, &size);
	ok(queues_write(q, f) == 0, "written");
	fclose(f);
	ok(strstr(out, q->each[0].text) && strstr(out, q->each[2].text) && !strstr(out, q->each[1].text),
	   "those that are taken are there");
	ok(strstr(out, "\t\"=1\",\n") != NULL, "what is the same stands once");
	free(text);
	free(out);
}

int main(void)
{
	struct queues q = {.count = 0};
	const bool all[RANKS] = {false}, some[RANKS] = {true, false, true, false, false};
	const uint32_t one[RANKS] = {0}, each[RANKS] = {0, 1, 2, 3, 4}, mixed[RANKS] = {0, 1, 0, 2, 1},
		       behind[RANKS] = {0, 0, 0, 1, 0};
	const uint64_t lead[RANKS] = {60, 30, 99, 0, 7}, period[RANKS] = {1, 1, 4, 50, 1};
	struct queue_list large = {(int64_t[]){INT64_MAX}, 0, 1, 0};
	const struct queue_list alike[RANKS] = {large, large, large, large, large};
	ok(queues_add(&q, alike, all, RANKS, 1) == -2 && q.count == 0, "a number that is too large");
	check(&q, one, lead, period, 1, all, "one row for all ranks");
	check(&q, each, lead, period, 5, all, "a row for each, of other lengths and periods");
	check(&q, mixed, lead, period, 3, all, "rows that ranks have in common");
	check(&q, one, lead, period, 1, all, "once more");
	check(&q, behind, lead, period, 2, some, "ranks that take nothing");
	check_program(&q);
	queues_free(&q);
	return tap_end();
}
