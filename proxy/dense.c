/* SPDX-License-Identifier: BSD-3-Clause
 * dense - long tables of a program, as short texts at its end
 */
#include "proxy/dense.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/dense_code.h"
#include "proxy/queues.h"
#include "trace/base/budget.h"

#define NUMBERS_FEW  32  /* are read as they are */
#define NUMBERS_MANY 128 /* are read by nobody: so a table has one form, however much longer it becomes */
#define CALL_COST    30  /* letters of a call */
#define SIDES        3

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
		if (behind == at || depth != t->sides || v > DENSE_MOST || v < -DENSE_MOST)
			return 0;
		if (!budget_grow(&t->values, t->count, &t->capacity, sizeof *t->values))
			return -1;
		t->values[t->count++] = v;
		at = behind + (*behind == 'L');
	}
	return depth == 0 && strncmp(at, ";\n", 2) == 0 && is_full(t, 1);
}

/* ---- writing ---- */

static void write_call(const struct dense_table *t, const struct dense_code *p, FILE *calls)
{
	fprintf(calls, "\tunpack(%.*s, \"", (int)t->name_length, t->name);
	struct letters l = {.out = calls};
	letters_number(&l, t->count, COUNT_BITS);
	letters_code(&l, p, t->values, t->count);
	letters_end(&l);
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

/* As many places before are numbers of the same place in a row. */
static int choose_code(const struct dense_table *t, struct dense_code *p)
{
	uint32_t backs[SIDES];
	int64_t row = 1;
	size_t count = 0;
	for (int i = t->sides - 1; i >= 0 && row < t->count; row *= t->side[i--])
		backs[count++] = (uint32_t)row;
	return dense_code_choose(p, t->values, t->count, backs, count, NULL);
}

/* Is [text, end) a table that becomes shorter? Its values and copies are to be freed in any case. Returns 1, 0, or
 * -1: no memory. */
static int find_code(const char *text, const char *end, struct dense_table *t, struct dense_code *p)
{
	bool begins = strncmp(text, BEGIN, sizeof BEGIN - 1) == 0;
	const char *numbers = begins ? read_head(t, text + sizeof BEGIN - 1) : NULL;
	int rv = numbers ? read_numbers(t, numbers, end) : 0;
	if (rv < 1 || t->count < NUMBERS_FEW)
		return rv < 0 ? -1 : 0;
	if (choose_code(t, p) != 0)
		return -1;
	return DENSE_SIZE(p->size) + CALL_COST < (uint64_t)(end - text);
}

static const char *end_of_definition(const char *text)
{
	const char *end = strstr(text, "\nstatic ");
	return end ? end + 1 : text + strlen(text);
}

static int pack_definition(const char *text, const char *end, FILE *out, FILE *calls, bool *many)
{
	struct dense_table t = {0};
	struct dense_code p = {0};
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
		struct dense_table t = {0};
		struct dense_code p = {0};
		end = end_of_definition(at);
		if (strncmp(at, QUEUE_LINE, sizeof QUEUE_LINE - 1) == 0) {
			size += strtoul(at + sizeof QUEUE_LINE - 1, NULL, 10);
			continue;
		}
		size += find_code(at, end, &t, &p) == 1 ? DENSE_SIZE(p.size) + CALL_COST : (size_t)(end - at);
		budget_free(t.values);
		budget_free(p.copies.each);
	}
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

int dense_tables(char **definitions, const char *queues, FILE *end_of_program)
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
	size_t reader = *queues ? 0 : sizeof UNPACK;
	bool taken = count > 0 && (many || size + calls_size + reader + sizeof UNPACK_TABLES < strlen(*definitions));
	if (count >= 0 && (taken || *queues))
		fprintf(end_of_program, "%s%s", UNPACK, queues);
	if (taken) {
		fprintf(end_of_program, "%s%s}\n", UNPACK_TABLES, calls_text);
		free(*definitions);
		*definitions = made;
	} else {
		free(made);
	}
	free(calls_text);
	return count < 0 ? -1 : taken ? count : 0;
}
