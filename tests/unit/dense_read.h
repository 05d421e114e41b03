/* SPDX-License-Identifier: BSD-3-Clause
 * dense_read - reads numbers that are letters (proxy/dense_code.h), as a program does
 */
#ifndef SPOOR_TEST_DENSE_READ_H
#define SPOOR_TEST_DENSE_READ_H

#include <string.h>

#include "proxy/dense_code.h"

static char dense_letters[20000];
static long dense_at;

/* Begins with a text of C, which may be of several lines, up to `end`; NULL: all. */
static void dense_begin(const char *text, const char *end)
{
	char *to = dense_letters;
	for (; *text && text != end; text++)
		if (*text != '"' && *text != '\n' && *text != '\t')
			*to++ = *text;
	*to = '\0';
	dense_at = 0;
}

static int dense_digit(char letter)
{
	return (letter == DENSE_FOR_STROKE ? '\\' : letter == DENSE_FOR_QUESTION ? '?' : letter) - DENSE_FIRST;
}

static long next_bit(void)
{
	const char *two = dense_letters + dense_at / DENSE_PAIR_BITS * 2;
	int pair = dense_digit(two[0]) * DENSE_LETTERS + dense_digit(two[1]);
	return pair >> (DENSE_PAIR_BITS - 1 - dense_at++ % DENSE_PAIR_BITS) & 1;
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

static void next_numbers(long *to, long n)
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

#endif
