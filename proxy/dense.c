/* SPDX-License-Identifier: BSD-3-Clause
 * dense - long tables of a program, as short texts at its end
 */
#include "proxy/dense.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/copies.h"
#include "trace/base/budget.h"

#define NUMBERS_FEW  32  /* are read as they are */
#define NUMBERS_MANY 128 /* are read by nobody: so a table has one form, however much longer it becomes */
#define CALL_COST    30  /* letters of a call */
#define BITS_MOST    32
#define VALUE_MOST   (INT64_C(1) << 40)
#define LINE         100
#define SIDES        3

/* Bits of what stands in front of the numbers. */
#define COUNT_BITS 6
#define BASE_BITS  5
#define BACK_BITS  3
#define BITS_BITS  1

#define TEXT(x)    #x
#define TEXT_OF(x) TEXT(x)
#define COUNT      "next_number(" TEXT_OF(COUNT_BITS) ", 1)"
#define BASE       "next_signed(" TEXT_OF(BASE_BITS) ", 1)"
#define BACK       "next_number(" TEXT_OF(BACK_BITS) ", 1)"
#define BITS       "next_number(" TEXT_OF(BITS_BITS) ", 1)"
#define NUMBERS    "next_number(" TEXT_OF(COPY_NUMBERS_BITS) ", 1)"
#define FROM       "next_number(" TEXT_OF(COPY_FROM_BITS) ", 1)"
#define COPIES     "next_number(" TEXT_OF(COPY_LENGTH_BITS) ", 1)"

static const char BEGIN[] = "static const long ";

/* A definition of a table of numbers. */
struct dense_table {
	const char *name;
	size_t name_length;
	int64_t side[SIDES]; /* the first one is what is there */
	int sides;
	int64_t *values;
	uint32_t count, capacity;
};

/* How it is written. */
struct code {
	int64_t base;
	uint32_t back; /* 0: off the base */
	int bits;
	bool widens;   /* each zero in front of a number adds a bit to it, as Elias' code does; else none, as Rice's */
	uint64_t size; /* bits of all numbers */
	struct copies copies;
};

/* ---- reading ---- */

/* Reads "name[][4] = {". Returns what is behind it; NULL: it is something else. */
static const char *read_head(struct dense_table *t, const char *at)
{
	t->name = at;
	t->name_length = strcspn(at, "[ ={");
	at += t->name_length;
	for (t->sides = 0; *at == '['; t->sides++) {
		char *end;
		if (t->sides == SIDES)
			return NULL;
		t->side[t->sides] = strtoll(at + 1, &end, 10);
		if (*end != ']' || (t->side[t->sides] == 0) != (t->sides == 0))
			return NULL;
		at = end + 1;
	}
	return t->sides > 0 && strncmp(at, " = {", 4) == 0 ? at + 4 : NULL;
}

static bool is_full(const struct dense_table *t, int depth)
{
	int64_t numbers = 1;
	for (int i = depth; i < t->sides; i++)
		numbers *= t->side[i];
	return t->count % numbers == 0;
}

/* Returns 1; 0: not all are numbers; -1: no memory. */
static int read_numbers(struct dense_table *t, const char *at, const char *end)
{
	int depth = 1;
	while (at < end && depth > 0) {
		char *behind;
		if (strchr(" ,\n\t", *at)) {
			at++;
			continue;
		}
		if (*at == '{' || *at == '}') {
			depth += *at++ == '{' ? 1 : -1;
			if (depth > t->sides || !is_full(t, depth + 1))
				return 0;
			continue;
		}
		int64_t v = strtoll(at, &behind, 10);
		if (behind == at || depth != t->sides || v > VALUE_MOST || v < -VALUE_MOST)
			return 0;
		if (!budget_grow(&t->values, t->count, &t->capacity, sizeof *t->values))
			return -1;
		t->values[t->count++] = v;
		at = behind + (*behind == 'L');
	}
	return depth == 0 && strncmp(at, ";\n", 2) == 0 && is_full(t, 1);
}

/* ---- choosing ---- */

/* 0 -1 1 -2 2 as 0 1 2 3 4 */
static uint64_t unsigned_of(int64_t v)
{
	return v < 0 ? (uint64_t)-v * 2 - 1 : (uint64_t)v * 2;
}

static uint64_t code_of(const struct dense_table *t, const struct code *p, uint32_t i)
{
	return unsigned_of(t->values[i] - (p->back && i >= p->back ? t->values[i - p->back] : p->base));
}

static uint64_t bits_of(const struct dense_table *t, const struct code *p, uint32_t i)
{
	uint64_t code = code_of(t, p, i);
	return p->widens ? gamma_bits(code, p->bits) : (code >> p->bits) + 1 + (uint64_t)p->bits;
}

/* Bits of all: numbers, and a copy behind them, and so on. */
static uint64_t bits_in_all(const struct dense_table *t, const struct code *p)
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

static void choose_bits(const struct dense_table *t, struct code *p)
{
	struct code best = *p;
	best.size = UINT64_MAX;
	for (int widens = 1; widens >= 0; widens--)
		for (p->bits = 0, p->widens = widens; p->bits <= BITS_MOST; p->bits++) {
			p->size = bits_in_all(t, p);
			best = p->size < best.size ? *p : best;
		}
	*p = best;
}

/* Returns 0, or -1: no memory. */
static int try_code(const struct dense_table *t, int64_t base, uint32_t back, struct code *best)
{
	struct code p = {.base = base, .back = back};
	uint8_t *bits = budget_malloc(t->count);
	if (!bits)
		return -1;
	choose_bits(t, &p);
	for (uint32_t i = 0; i < t->count; i++)
		bits[i] = (uint8_t)(bits_of(t, &p, i) < UINT8_MAX ? bits_of(t, &p, i) : UINT8_MAX);
	int rv = copies_find(&p.copies, t->values, bits, t->count);
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

/* Returns 0, or -1: no memory. The caller frees best->copies.each in any case. */
static int choose_code(const struct dense_table *t, struct code *best)
{
	int64_t *sorted = budget_malloc(t->count * sizeof *sorted), row = 1;
	*best = (struct code){.size = UINT64_MAX};
	if (!sorted)
		return -1;
	memcpy(sorted, t->values, t->count * sizeof *sorted);
	qsort(sorted, t->count, sizeof *sorted, compare_values);
	int64_t base = sorted[t->count / 2];
	budget_free(sorted);
	int rv = try_code(t, base, 0, best);
	for (int i = t->sides - 1; rv == 0 && i >= 0 && row < t->count; row *= t->side[i--])
		rv = try_code(t, base, (uint32_t)row, best);
	return rv;
}

/* ---- writing ---- */

struct letters {
	FILE *out;
	unsigned value, bits;
	uint64_t count;
};

static void put_bit(struct letters *l, unsigned bit)
{
	l->value = l->value << 1 | bit;
	if (++l->bits < 6)
		return;
	if (l->count && l->count % LINE == 0)
		fputs("\"\n\t\t\"", l->out);
	fputc(DENSE_DIGITS[l->value], l->out);
	l->value = l->bits = 0;
	l->count++;
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

static void put_number(struct letters *l, uint64_t v, int bits)
{
	put_code(l, v, bits, true);
}

static void write_letters(const struct dense_table *t, const struct code *p, FILE *out)
{
	struct letters l = {.out = out};
	put_number(&l, t->count, COUNT_BITS);
	put_number(&l, unsigned_of(p->base), BASE_BITS);
	put_number(&l, p->back, BACK_BITS);
	put_number(&l, (uint64_t)p->bits, BITS_BITS);
	put_bit(&l, p->widens);
	for (uint32_t i = 0, k = 0; i < t->count; k++) {
		const struct copy *copy = k < p->copies.count ? &p->copies.each[k] : NULL;
		uint32_t end = copy ? copy->at : t->count;
		put_number(&l, end - i, COPY_NUMBERS_BITS);
		for (; i < end; i++)
			put_code(&l, code_of(t, p, i), p->bits, p->widens);
		if (!copy)
			break;
		put_number(&l, copy->from - 1, COPY_FROM_BITS);
		put_number(&l, copy->length, COPY_LENGTH_BITS);
		i += copy->length;
	}
	while (l.bits > 0)
		put_bit(&l, 0);
}

static void write_call(const struct dense_table *t, const struct code *p, FILE *calls)
{
	fprintf(calls, "\tunpack(%.*s, \"", (int)t->name_length, t->name);
	write_letters(t, p, calls);
	fputs("\");\n", calls);
}

static void write_definition(const struct dense_table *t, FILE *out)
{
	int64_t row = 1;
	for (int i = 1; i < t->sides; i++)
		row *= t->side[i];
	fprintf(out, "static long %.*s[%" PRId64 "]", (int)t->name_length, t->name, t->count / row);
	for (int i = 1; i < t->sides; i++)
		fprintf(out, "[%" PRId64 "]", t->side[i]);
	fputs(";\n", out);
}

/* Is [text, end) a table that becomes shorter? Its values and copies are to be freed in any case. Returns 1, 0, or
 * -1: no memory. */
static int find_code(const char *text, const char *end, struct dense_table *t, struct code *p)
{
	bool begins = strncmp(text, BEGIN, sizeof BEGIN - 1) == 0;
	const char *numbers = begins ? read_head(t, text + sizeof BEGIN - 1) : NULL;
	int rv = numbers ? read_numbers(t, numbers, end) : 0;
	if (rv < 1 || t->count < NUMBERS_FEW)
		return rv < 0 ? -1 : 0;
	if (choose_code(t, p) != 0)
		return -1;
	return p->size / 6 + CALL_COST < (uint64_t)(end - text);
}

static const char *end_of_definition(const char *text)
{
	const char *end = strstr(text, "\nstatic ");
	return end ? end + 1 : text + strlen(text);
}

static int pack_definition(const char *text, const char *end, FILE *out, FILE *calls, bool *many)
{
	struct dense_table t = {NULL};
	struct code p = {0};
	int rv = find_code(text, end, &t, &p);
	if (rv == 1) {
		write_definition(&t, out);
		write_call(&t, &p, calls);
		*many |= t.count >= NUMBERS_MANY;
	} else if (rv == 0) {
		fwrite(text, 1, (size_t)(end - text), out);
	}
	budget_free(t.values);
	budget_free(p.copies.each);
	return rv;
}

size_t dense_size(const char *definitions)
{
	size_t size = 0;
	for (const char *at = definitions, *end; *at; at = end) {
		struct dense_table t = {NULL};
		struct code p = {0};
		end = end_of_definition(at);
		size += find_code(at, end, &t, &p) == 1 ? p.size / 6 + CALL_COST : (size_t)(end - at);
		budget_free(t.values);
		budget_free(p.copies.each);
	}
	return size;
}

static const char UNPACK[] =
	"\n/* ---- what has no rule ---- */\n\n"
	"static const char *packed; /* six bits in each letter */\nstatic long packed_at;\n\n"
	"static long next_bit(void)\n{\n"
	"\tstatic const char digits[] = \"" DENSE_DIGITS "\";\n"
	"\tconst long digit = strchr(digits, packed[packed_at / 6]) - digits;\n\n"
	"\treturn digit >> (5 - packed_at++ % 6) & 1;\n}\n\n"
	"/* Zeros, a one, and `bits` more: a zero skips what those can say, and makes them `wider`. */\n"
	"static long next_number(long bits, long wider)\n{\n"
	"\tlong v = 0, low = 0;\n\n"
	"\tfor (; !next_bit(); bits += wider)\n\t\tv += 1L << bits;\n"
	"\twhile (bits-- > 0)\n\t\tlow = low * 2 + next_bit();\n"
	"\treturn v + low;\n}\n\n"
	"static long next_signed(long bits, long wider)\n{\n"
	"\tconst long v = next_number(bits, wider);\n\n"
	"\treturn v / 2 ^ -(v % 2);\n}\n\n"
	"/* Numbers off `base`, or off those `back` places before; then some of those before again, and so on. */\n"
	"static void unpack(void *table, const char *text)\n{\n"
	"\tlong *const to = table;\n\n"
	"\tpacked = text;\n\tpacked_at = 0;\n"
	"\tconst long n = " COUNT ", base = " BASE ", back = " BACK ", bits = " BITS ", wider = next_bit();\n"
	"\tfor (long i = 0; i < n;) {\n"
	"\t\tfor (long more = " NUMBERS "; more > 0; more--, i++)\n"
	"\t\t\tto[i] = (back && i >= back ? to[i - back] : base) + next_signed(bits, wider);\n"
	"\t\tif (i == n)\n\t\t\tbreak;\n"
	"\t\tconst long from = " FROM " + 1;\n"
	"\t\tfor (long more = " COPIES "; more > 0; more--, i++)\n"
	"\t\t\tto[i] = to[i - from];\n"
	"\t}\n}\n\n"
	"static void unpack_tables(void)\n{\n";

/* Returns how many tables are packed, or -1: no memory. *many: one of them has many numbers. */
static int pack_all(const char *definitions, FILE *out, FILE *calls, bool *many)
{
	int count = 0, rv = out && calls ? 0 : -1;
	for (const char *at = definitions, *end; rv >= 0 && *at; at = end) {
		end = end_of_definition(at);
		rv = pack_definition(at, end, out, calls, many);
		count += rv > 0;
	}
	return rv < 0 ? -1 : count;
}

int dense_tables(char **definitions, FILE *end_of_program)
{
	char *made = NULL, *calls_text = NULL;
	size_t size = 0, calls_size = 0;
	FILE *out = open_memstream(&made, &size), *calls = open_memstream(&calls_text, &calls_size);
	bool many = false;
	int count = pack_all(*definitions, out, calls, &many);
	if (out)
		fclose(out);
	if (calls)
		fclose(calls);
	bool taken = count > 0 && (many || size + calls_size + sizeof UNPACK < strlen(*definitions));
	if (taken) {
		fprintf(end_of_program, "%s%s}\n", UNPACK, calls_text);
		free(*definitions);
		*definitions = made;
	} else {
		free(made);
	}
	free(calls_text);
	return count < 0 ? -1 : taken ? count : 0;
}
