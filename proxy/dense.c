/* SPDX-License-Identifier: BSD-3-Clause
 * dense - long tables of a program, as short texts at its end
 */
#include "proxy/dense.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "proxy/dense_code.h"
#include "trace/base/budget.h"

#define NUMBERS_FEW  32  /* are read as they are */
#define NUMBERS_MANY 128 /* are read by nobody: so a table has one form, however much longer it becomes */
#define CALL_COST    30  /* letters of a call */

/* Bits of what stands in front of the numbers. */
#define COUNT_BITS 6

#define TEXT(x)    #x
#define TEXT_OF(x) TEXT(x)
#define COUNT      "next_number(" TEXT_OF(COUNT_BITS) ", 1)"
#define BASE       "next_signed(" TEXT_OF(DENSE_BASE_BITS) ", 1)"
#define BACK       "next_number(" TEXT_OF(DENSE_BACK_BITS) ", 1)"
#define BITS       "next_number(" TEXT_OF(DENSE_BITS_BITS) ", 1)"
#define NUMBERS    "next_number(" TEXT_OF(COPY_NUMBERS_BITS) ", 1)"
#define FROM       "next_number(" TEXT_OF(COPY_FROM_BITS) ", 1)"
#define COPIES     "next_number(" TEXT_OF(COPY_LENGTH_BITS) ", 1)"

/* ---- a table ---- */

/* The numbers of a row. */
static int64_t row_of(const struct definition *d)
{
	int64_t row = 1;
	for (int i = 1; i < d->sides; i++)
		row *= d->side[i];
	return row;
}

/* Are all values numbers, and not too few? */
static bool may_be_packed(const struct definition *d)
{
	if (d->text || d->queued || d->gone || d->hexadecimal || d->count < NUMBERS_FEW || d->count % row_of(d))
		return false;
	for (uint32_t i = 0; i < d->count; i++)
		if ((d->names && d->names[i]) || d->values[i] > DENSE_MOST || d->values[i] < -DENSE_MOST)
			return false;
	return true;
}

/* As many places before are numbers of the same place in a row. */
static int choose_code(const struct definition *t, struct dense_code *p)
{
	uint32_t backs[DEFINITION_SIDES];
	int64_t row = 1;
	size_t count = 0;
	for (int i = t->sides - 1; i >= 0 && row < t->count; row *= t->side[i], i--)
		backs[count++] = (uint32_t)row;
	return dense_code_choose(p, t->values, t->count, backs, count, NULL);
}

static size_t plain_size(const struct definition *d)
{
	struct printer p = {.out = NULL};
	print_definition(&p, d);
	return p.size;
}

/* Does a table become shorter? Its copies are to be freed in any case. Returns 1, 0, or -1: no memory. */
static int find_code(const struct definition *d, struct dense_code *code)
{
	if (!may_be_packed(d))
		return 0;
	return choose_code(d, code) != 0 ? -1 : DENSE_SIZE(code->size) + CALL_COST < plain_size(d);
}

size_t dense_size(struct tree *t, struct definition *d)
{
	struct dense_code code = {0};
	if (d->queued)
		return d->queued;
	if (d->size)
		return d->size;
	int rv = find_code(d, &code);
	t->failed |= rv < 0;
	d->size = rv == 1 ? DENSE_SIZE(code.size) + CALL_COST : plain_size(d);
	budget_free(code.copies.each);
	return d->size;
}

size_t dense_sizes(struct tree *t, const struct definitions *d)
{
	size_t size = 0;
	for (struct definition *one = d->first; one; one = one->next)
		size += dense_size(t, one);
	return size;
}

static const char UNPACK[] =
	"\n/* ---- what has no rule ---- */\n\n"
	"static const char *packed; /* 13 bits in two letters */\nstatic long packed_at;\n\n"
	"static int digit(char letter)\n{\n"
	"\treturn (letter == ' ' ? '\\\\' : letter == '!' ? '?' : letter) - '#';\n}\n\n"
	"static long next_bit(void)\n{\n"
	"\tconst char *two = packed + packed_at / 13 * 2;\n\n"
	"\treturn (digit(two[0]) * 92 + digit(two[1])) >> (12 - packed_at++ % 13) & 1;\n}\n\n"
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
	"static void unpack_numbers(long *to, long n)\n{\n"
	"\tconst long base = " BASE ", back = " BACK ", bits = " BITS ", wider = next_bit();\n"
	"\tfor (long i = 0; i < n;) {\n"
	"\t\tfor (long more = " NUMBERS "; more > 0; more--, i++)\n"
	"\t\t\tto[i] = (back && i >= back ? to[i - back] : base) + next_signed(bits, wider);\n"
	"\t\tif (i == n)\n\t\t\tbreak;\n"
	"\t\tconst long from = " FROM " + 1;\n"
	"\t\tfor (long more = " COPIES "; more > 0; more--, i++)\n"
	"\t\t\tto[i] = to[i - from];\n"
	"\t}\n}\n\n";

static const char UNPACK_TABLES[] = "static void unpack(void *table, const char *text)\n{\n"
				    "\tpacked = text;\n\tpacked_at = 0;\n"
				    "\tconst long n = " COUNT ";\n"
				    "\tunpack_numbers(table, n);\n}\n\n"
				    "static void unpack_tables(void)\n{\n";

/* Returns 1: it is packed; 0; -1: no memory. */
static int pack_table(struct definition *d, FILE *calls)
{
	struct dense_code code = {0};
	int rv = find_code(d, &code);
	d->is_packed = rv == 1;
	if (rv == 1) {
		fprintf(calls, d->number == DEFINITION_ALONE ? "\tunpack(%s, \"" : "\tunpack(%s_%" PRIu32 ", \"",
		        d->kind, d->number);
		struct letters l = {.out = calls};
		letters_number(&l, d->count, COUNT_BITS);
		letters_code(&l, &code, d->values, d->count);
		letters_end(&l);
		fputs("\");\n", calls);
	}
	budget_free(code.copies.each);
	return rv;
}

/* Packs all that become shorter. Returns how many, or -1: no memory. *many: one of them has many numbers; *saved: that
 * many letters. */
static int pack_all(struct definitions *d, FILE *calls, bool *many, size_t *saved)
{
	int count = 0;
	for (struct definition *one = d->first; one; one = one->next) {
		size_t before = plain_size(one);
		int rv = pack_table(one, calls);
		if (rv < 0)
			return -1;
		count += rv;
		*many |= rv > 0 && one->count >= NUMBERS_MANY;
		*saved += before - plain_size(one);
	}
	return count;
}

int dense_tables(struct definitions *d, const char *queues, FILE *end)
{
	char *text = NULL;
	size_t size = 0, saved = 0;
	FILE *calls = open_memstream(&text, &size);
	bool many = false;
	int count = calls ? pack_all(d, calls, &many, &saved) : -1;
	if (calls)
		fclose(calls);
	size_t reader = *queues ? 0 : sizeof UNPACK;
	bool taken = count > 0 && (many || size + reader + sizeof UNPACK_TABLES < saved);
	if (count >= 0 && (taken || *queues))
		fprintf(end, "%s%s", UNPACK, queues);
	if (taken)
		fprintf(end, "%s%s}\n", UNPACK_TABLES, text);
	for (struct definition *one = d->first; one && !taken; one = one->next)
		one->is_packed = false;
	free(text);
	return count < 0 ? -1 : taken ? count : 0;
}
