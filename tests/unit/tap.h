/* SPDX-License-Identifier: BSD-3-Clause
 * tap - what a unit test says: one line a point, the number of points at the end
 */
#ifndef SPOOR_TEST_TAP_H
#define SPOOR_TEST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static int tap_count, tap_failed;

static bool __attribute__((format(printf, 2, 3))) ok(bool condition, const char *title, ...)
{
	va_list ap;
	printf("%s %d - ", condition ? "ok" : "not ok", ++tap_count);
	va_start(ap, title);
	vprintf(title, ap);
	va_end(ap);
	putchar('\n');
	tap_failed += !condition;
	return condition;
}

static void __attribute__((unused)) skip(const char *title, const char *reason)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, title, reason);
}

static int tap_end(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

/* A small generator of random numbers, the same everywhere. */
static uint64_t random_state = 1;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t __attribute__((unused)) random_below(uint64_t n)
{
	return random_next() % n;
}

static void __attribute__((unused)) random_seed(uint64_t seed)
{
	random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (int i = 0; i < 8; i++)
		random_next();
}

#endif
