/* SPDX-License-Identifier: BSD-3-Clause
 * table - what libspoor returns as rows and columns: each column is one array, for languages that have such
 *
 * What is read within a budget (trace/base/budget.h) is charged for its rows as well: a few bytes of a trace can stand
 * for many of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inside.h"

#define COLUMNS 48

struct table_texts {
	char *bytes;
	size_t used, room;
};

struct spoor_table {
	bool failed;
	uint32_t columns;
	uint64_t rows, room;
	struct {
		const char *name;
		enum spoor_type type;
		union {
			int64_t *integers;
			double *numbers;
			uint64_t texts; /* rows that have theirs */
		};
		struct table_texts text;
	} column[COLUMNS];
};

uint32_t table_column(struct spoor_table *t, const char *name, enum spoor_type type)
{
	if (!t || t->columns == COLUMNS) {
		if (t)
			t->failed = true;
		return 0;
	}
	t->column[t->columns].name = name;
	t->column[t->columns].type = type;
	return t->columns++;
}

struct spoor_table *table_create(const struct table_column *columns, uint32_t n)
{
	struct spoor_table *t = calloc(1, sizeof *t);
	for (uint32_t i = 0; i < n; i++)
		table_column(t, columns[i].name, columns[i].type);
	return t;
}

static bool table_grow(struct spoor_table *t)
{
	uint64_t room = t->room ? 2 * t->room : 64;
	for (uint32_t i = 0; i < t->columns; i++) {
		if (t->column[i].type == SPOOR_TEXTS)
			continue;
		int64_t *more = budget_realloc(t->column[i].integers, room * sizeof *more);
		if (!more)
			return false;
		t->column[i].integers = more;
	}
	t->room = room;
	return true;
}

static void add_text(struct spoor_table *t, uint32_t column, const char *text)
{
	struct table_texts *to = &t->column[column].text;
	size_t n = strlen(text) + 1;
	if (to->room - to->used < n) {
		size_t room = 2 * to->room > to->used + n ? 2 * to->room : to->used + n + 256;
		char *more = budget_realloc(to->bytes, room);
		if (!more) {
			t->failed = true;
			return;
		}
		to->bytes = more;
		to->room = room;
	}
	memcpy(to->bytes + to->used, text, n);
	to->used += n;
	t->column[column].texts++;
}

/* The texts of rows that none was put into. */
static void fill_texts(struct spoor_table *t)
{
	for (uint32_t i = 0; i < t->columns; i++)
		while (t->column[i].type == SPOOR_TEXTS && t->column[i].texts < t->rows && !t->failed)
			add_text(t, i, "");
}

void table_row(struct spoor_table *t)
{
	if (!t || t->failed)
		return;
	fill_texts(t);
	t->failed |= t->rows == t->room && !table_grow(t);
	if (t->failed)
		return;
	for (uint32_t i = 0; i < t->columns; i++) {
		if (t->column[i].type == SPOOR_INTEGERS)
			t->column[i].integers[t->rows] = 0;
		else if (t->column[i].type == SPOOR_NUMBERS)
			t->column[i].numbers[t->rows] = NAN;
	}
	t->rows++;
}

void table_integer(struct spoor_table *t, uint32_t column, uint64_t value)
{
	if (t && !t->failed)
		t->column[column].integers[t->rows - 1] = (int64_t)value;
}

void table_number(struct spoor_table *t, uint32_t column, double value)
{
	if (t && !t->failed)
		t->column[column].numbers[t->rows - 1] = value;
}

void table_text(struct spoor_table *t, uint32_t column, const char *text)
{
	if (t && !t->failed)
		add_text(t, column, text ? text : "");
}

struct spoor_table *table_done(struct spoor_table *t, char *error)
{
	if (t && !t->failed)
		fill_texts(t);
	if (t && !t->failed)
		return t;
	inside_say(error, "out of memory");
	spoor_table_free(t);
	return NULL;
}

const struct error inside_no_memory = {"out of memory"};

struct budget inside_budget(void)
{
	return (struct budget){.memory = 8 * BUDGET_MEMORY, .steps = BUDGET_STEPS};
}

struct spoor_table *inside_finish(struct spoor_table *t, struct budget *budget, const struct error *failed, char *error)
{
	struct error why = {""};
	if (failed)
		why = *failed;
	const bool spent = budget_explain("the trace", &why);
	budget_end(budget);
	if (!spent && !failed)
		return table_done(t, error);
	inside_say(error, why.text);
	spoor_table_free(t);
	return NULL;
}

uint64_t spoor_table_rows(const struct spoor_table *t)
{
	return t->rows;
}

uint32_t spoor_table_columns(const struct spoor_table *t)
{
	return t->columns;
}

const char *spoor_table_name(const struct spoor_table *t, uint32_t column)
{
	return column < t->columns ? t->column[column].name : NULL;
}

enum spoor_type spoor_table_type(const struct spoor_table *t, uint32_t column)
{
	return column < t->columns ? t->column[column].type : SPOOR_INTEGERS;
}

const int64_t *spoor_table_integers(const struct spoor_table *t, uint32_t column)
{
	return column < t->columns && t->column[column].type == SPOOR_INTEGERS ? t->column[column].integers : NULL;
}

const double *spoor_table_numbers(const struct spoor_table *t, uint32_t column)
{
	return column < t->columns && t->column[column].type == SPOOR_NUMBERS ? t->column[column].numbers : NULL;
}

const char *spoor_table_texts(const struct spoor_table *t, uint32_t column, size_t *size)
{
	*size = 0;
	if (column >= t->columns || t->column[column].type != SPOOR_TEXTS)
		return NULL;
	*size = t->column[column].text.used;
	return t->column[column].text.bytes;
}

void spoor_table_free(struct spoor_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->columns; i++) {
		if (t->column[i].type == SPOOR_TEXTS)
			budget_free(t->column[i].text.bytes);
		else
			budget_free(t->column[i].integers);
	}
	free(t);
}
