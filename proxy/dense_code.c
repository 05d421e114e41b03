/* SPDX-License-Identifier: BSD-3-Clause
 * dense_code - numbers as letters, of which two have 13 bits
 */
#include "proxy/dense_code.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

#define BITS_MOST 32
#define LINE      100

/* Numbers that are coded. */
struct coding {
	const int64_t *values;
	uint32_t count;
	const struct copies_past *past;
};

/* 0 -1 1 -2 2 as 0 1 2 3 4 */
static uint64_t unsigned_of(int64_t v)
{
	return v < 0 ? (uint64_t)-v * 2 - 1 : (uint64_t)v * 2;
}

static uint64_t code_of(const struct coding *t, const struct dense_code *p, uint32_t i)
{
	return unsigned_of(t->values[i] - (p->back && i >= p->back ? t->values[i - p->back] : p->base));
}

static uint64_t bits_of(const struct coding *t, const struct dense_code *p, uint32_t i)
{
	uint64_t code = code_of(t, p, i);
	return p->widens ? gamma_bits(code, p->bits) : (code >> p->bits) + 1 + (uint64_t)p->bits;
}

/* Bits of all: numbers, and a copy behind them, and so on. */
static uint64_t bits_in_all(const struct coding *t, const struct dense_code *p)
{
	uint64_t size = 0;
	for (uint32_t i = 0, k = 0; i < t->count; k++) {
		const struct copy *copy = k < p->copies.count ? &p->copies.each[k] : NULL;
		uint32_t end = copy ? copy->at : t->count;
		size += gamma_bits(end - i, COPY_NUMBERS_BITS);
		for (; i < end; i++)
			size += bits_of(t, p, i);
		if (copy)
			size += gamma_bits(copy->from - 1, COPY_FROM_BITS) + gamma_bits(copy->length, COPY_LENGTH_BITS);
		i = copy ? copy->at + copy->length : end;
	}
	return size;
}

static int compare_values(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* The bits in which all codes are: with more, each is only longer. */
static int bits_of_all(const struct coding *t, const struct dense_code *p)
{
	uint64_t all = 0;
	int bits = 0;
	for (uint32_t i = 0; i < t->count; i++)
		all |= code_of(t, p, i);
	while (bits < BITS_MOST && all >> bits)
		bits++;
	return bits;
}

static void choose_bits(const struct coding *t, struct dense_code *p)
{
	const int most = bits_of_all(t, p);
	struct dense_code best = *p;
	best.size = UINT64_MAX;
	for (int widens = 1; widens >= 0; widens--)
		for (p->bits = 0, p->widens = widens; p->bits <= most; p->bits++) {
			p->size = bits_in_all(t, p);
			best = p->size < best.size ? *p : best;
		}
	*p = best;
}

/* Returns 0, or -1: no memory. */
static int try_code(const struct coding *t, int64_t base, uint32_t back, struct dense_code *best)
{
	struct dense_code p = {.base = base, .back = back};
	uint8_t *bits = budget_malloc(t->count + UINT64_C(1));
	if (!bits)
		return -1;
	choose_bits(t, &p);
	for (uint32_t i = 0; i < t->count; i++)
		bits[i] = (uint8_t)(bits_of(t, &p, i) < UINT8_MAX ? bits_of(t, &p, i) : UINT8_MAX);
	int rv = copies_find(&p.copies, t->values, bits, t->count, t->past);
	budget_free(bits);
	choose_bits(t, &p); /* of those that are left */
	struct copies unused = p.copies;
	if (rv == 0 && p.size < best->size) {
		unused = best->copies;
		*best = p;
	}
	budget_free(unused.each);
	return rv;
}

int dense_code_choose(struct dense_code *best, const int64_t *values, uint32_t count, const uint32_t *backs,
                      size_t back_count, const struct copies_past *past)
{
	const struct coding t = {values, count, past};
	int64_t *sorted = budget_malloc((count + UINT64_C(1)) * sizeof *sorted);
	*best = (struct dense_code){.size = UINT64_MAX};
	if (!sorted)
		return -1;
	memcpy(sorted, values, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, compare_values);
	int64_t base = count ? sorted[count / 2] : 0;
	budget_free(sorted);
	int rv = try_code(&t, base, 0, best);
	for (size_t i = 0; rv == 0 && i < back_count; i++)
		rv = backs[i] < count ? try_code(&t, base, backs[i], best) : 0;
	return rv;
}

/* ---- letters ---- */

static void put_letter(struct letters *l, unsigned digit)
{
	int letter = DENSE_FIRST + (int)digit;
	if (l->count && l->count % LINE == 0)
		fputs("\"\n\t\t\"", l->out);
	fputc(letter == '\\' ? DENSE_FOR_STROKE : letter == '?' ? DENSE_FOR_QUESTION : letter, l->out);
	l->count++;
}

static void put_bit(struct letters *l, unsigned bit)
{
	l->value = l->value << 1 | bit;
	if (++l->bits < DENSE_PAIR_BITS)
		return;
	put_letter(l, l->value / DENSE_LETTERS);
	put_letter(l, l->value % DENSE_LETTERS);
	l->value = l->bits = 0;
}

static void put_code(struct letters *l, uint64_t v, int bits, bool widens)
{
	for (; v >> bits; bits += widens) {
		v -= UINT64_C(1) << bits;
		put_bit(l, 0);
	}
	put_bit(l, 1);
	while (bits-- > 0)
		put_bit(l, v >> bits & 1);
}

void letters_number(struct letters *l, uint64_t v, int bits)
{
	put_code(l, v, bits, true);
}

void letters_signed(struct letters *l, int64_t v, int bits)
{
	put_code(l, unsigned_of(v), bits, true);
}

void letters_code(struct letters *l, const struct dense_code *p, const int64_t *values, uint32_t count)
{
	const struct coding t = {values, count, NULL};
	letters_signed(l, p->base, DENSE_BASE_BITS);
	letters_number(l, p->back, DENSE_BACK_BITS);
	letters_number(l, (uint64_t)p->bits, DENSE_BITS_BITS);
	put_bit(l, p->widens);
	for (uint32_t i = 0, k = 0; i < count; k++) {
		const struct copy *copy = k < p->copies.count ? &p->copies.each[k] : NULL;
		uint32_t end = copy ? copy->at : count;
		letters_number(l, end - i, COPY_NUMBERS_BITS);
		for (; i < end; i++)
			put_code(l, code_of(&t, p, i), p->bits, p->widens);
		if (!copy)
			break;
		letters_number(l, copy->from - 1, COPY_FROM_BITS);
		letters_number(l, copy->length, COPY_LENGTH_BITS);
		i += copy->length;
	}
}

void letters_end(struct letters *l)
{
	while (l->bits > 0)
		put_bit(l, 0);
}
