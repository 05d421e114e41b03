/* SPDX-License-Identifier: BSD-3-Clause
 * copies - what of a list of numbers stands further in front of it, too
 */
#include "proxy/copies.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/base/budget.h"

#define MOST 4000

static int64_t values[MOST];
static uint8_t bits[MOST];

/* Finds the copies, and looks whether they give the numbers back. Returns bits saved, or -1. */
static int64_t saved_by(uint32_t count, uint8_t each, struct copies *c)
{
	int64_t saved = 0;
	memset(bits, each, count);
	*c = (struct copies){0};
	if (copies_find(c, values, bits, count, NULL) != 0)
		return -1;
	for (uint32_t k = 0, end = 0; k < c->count; k++) {
		const struct copy *one = &c->each[k];
		if (one->at < end || one->from == 0 || one->from > one->at || one->length == 0 ||
		    one->length > count - one->at)
			return -1;
		for (uint32_t i = 0; i < one->length; i++)
			if (values[one->at + i] != values[one->at + i - one->from])
				return -1;
		saved += (int64_t)one->length * each - (int64_t)gamma_bits(one->from - 1, COPY_FROM_BITS) -
		         (int64_t)gamma_bits(one->length, COPY_LENGTH_BITS) -
		         (int64_t)gamma_bits(one->at - end, COPY_NUMBERS_BITS);
		end = one->at + one->length;
	}
	return saved;
}

static void check_one(uint32_t count, uint8_t each, uint32_t at, uint32_t from, uint32_t length, const char *title)
{
	struct copies c = {0};
	int64_t saved = saved_by(count, each, &c);
	ok(saved > 0 && c.count == 1 && c.each[0].at == at && c.each[0].from == from && c.each[0].length == length,
	   "%s: %u copies", title, c.count);
	budget_free(c.each);
}

static void check_none(uint32_t count, uint8_t each, const char *title)
{
	struct copies c = {0};
	int64_t saved = saved_by(count, each, &c);
	ok(saved == 0 && c.count == 0, "%s: %u copies", title, c.count);
	budget_free(c.each);
}

static void check_random(void)
{
	uint32_t state = 1, good = 0;
	for (int round = 0; round < 200; round++) {
		struct copies c;
		uint32_t count = state % MOST, different = 1 + state % 5;
		for (uint32_t i = 0; i < count; i++) {
			state = state * 1103515245 + 12345;
			values[i] = state >> 16 & 1 && i > 40 ? values[i - 37] : (int64_t)(state >> 20) % different;
		}
		state = state * 1103515245 + 12345;
		good += saved_by(count, (uint8_t)(1 + round % 9), &c) >= 0;
		budget_free(c.each);
	}
	ok(good == 200, "%u of 200 lists: copies are in order, right, and none costs more than it saves", good);
}

/* What stands in front of the list is found, too, in two parts. */
static void check_past(void)
{
	struct copies_past past = {0};
	struct copies c = {0};
	for (int i = 0; i < 500; i++)
		values[i] = (int64_t)i * i;
	memset(bits, 20, 100);
	int rv = copies_past_add(&past, values, 120);
	rv |= copies_past_add(&past, values + 120, 180);
	rv |= copies_find(&c, values + 110, bits, 100, &past);
	ok(rv == 0 && c.count == 1 && c.each[0].at == 0 && c.each[0].from == 190 && c.each[0].length == 100,
	   "from what is in front of the list");
	rv = copies_find(&c, values + 300, bits, 100, &past);
	ok(rv == 0 && c.count == 0, "what is not there");
	copies_past_free(&past);
	budget_free(c.each);
}

int main(void)
{
	check_none(0, 8, "nothing");
	values[0] = 5;
	check_none(1, 8, "one number");
	for (int i = 0; i < MOST; i++)
		values[i] = (int64_t)i * i;
	check_none(MOST, 40, "all are different");
	for (int i = 0; i < MOST; i++)
		values[i] = i % 10 * (i % 10);
	check_one(1000, 8, 10, 10, 990, "again and again");
	check_none(20, 1, "what is as short without");
	for (int i = 0; i < MOST; i++)
		values[i] = INT64_MIN;
	check_one(MOST, 3, 1, 1, MOST - 1, "one number only");
	for (int i = 0; i < 300; i++)
		values[i] = i % 200 < 100 ? i % 100 * 7919 % 1009 : 5000 + i;
	check_one(300, 10, 200, 200, 100, "from far away");
	for (int i = 0; i < 9; i++) /* at 5, 8 is there twice in a row; at 6 begin three that came before */
		values[i] = (const int64_t[]){7, 8, 9, 1, 2, 3, 7, 8, 9}[i];
	check_one(9, 10, 6, 6, 3, "three numbers");
	check_none(8, 10, "two numbers are too few");
	check_past();
	check_random();
	return tap_end();
}
