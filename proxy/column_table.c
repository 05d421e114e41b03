/* SPDX-License-Identifier: BSD-3-Clause
 * column_table - the runs of a column as a table, which draw() of the program goes through
 *
 * What comes again and again in it is there once, with a row behind it that leads back (repeats.h).
 */
#include "proxy/column_numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/repeats.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

struct same_text {
	char **texts;
	const char *text;
};

static bool is_same_text(const void *context, uint32_t i)
{
	const struct same_text *k = context;
	return strcmp(k->texts[i], k->text) == 0;
}

/* Rows of a table of runs, and loops of rows. */
struct table {
	char **texts; /* of each run */
	FILE *out;
	uint32_t rows;
	FILE *given; /* each different row once, and `out` has their numbers; NULL: `out` has the rows */
	char **different;
	uint32_t count, capacity;
	struct index index;
};

static int write_given(struct table *t, const char *text)
{
	struct same_text key = {t->different, text};
	uint64_t hash = hash_bytes(text, strlen(text));
	uint32_t found = index_find(&t->index, hash, is_same_text, &key);
	if (found == INDEX_NONE) {
		char *copy =
			budget_grow(&t->different, t->count, &t->capacity, sizeof *t->different) ? strdup(text) : NULL;
		if (!copy)
			return -1;
		found = t->count;
		t->different[t->count++] = copy;
		if (index_add(&t->index, hash, found) != 0)
			return -1;
		fprintf(t->given, "%s%s", found == 0 ? "" : found % 8 ? ", " : ",\n\t\t", text);
	}
	fprintf(t->out, "%" PRIu32, found);
	return 0;
}

static int write_row(struct table *t, const char *text)
{
	const unsigned wide = t->given ? 32 : 8;
	fputs(t->rows == 0 ? "" : t->rows % wide ? ", " : ",\n\t\t", t->out);
	t->rows++;
	if (t->given)
		return write_given(t, text);
	return fputs(text, t->out) < 0 ? -1 : 0;
}

/* Writes symbols; behind a loop comes a row that leads back: {how many more times, 0, -rows}. */
static int write_symbols(struct table *t, const struct repeats *r, const uint32_t *symbols, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char back[80];
		uint32_t first = t->rows;
		if (symbols[i] < r->base) {
			if (write_row(t, t->texts[symbols[i]]) != 0)
				return -1;
			continue;
		}
		const struct repeat *loop = &r->each[symbols[i] - r->base];
		if (write_symbols(t, r, loop->body, loop->length) != 0)
			return -1;
		snprintf(back, sizeof back, "{%" PRIu64 ", 0, -%" PRIu32 "}", loop->times - 1, t->rows - first);
		if (write_row(t, back) != 0)
			return -1;
	}
	return 0;
}

/* Runs [begin, end) of a table, those that are equal as one symbol. */
static int write_rows(struct table *t, int64_t begin, int64_t end)
{
	struct repeats loops = {0};
	struct index index = {0};
	size_t n = 0;
	uint32_t *symbols = budget_malloc((size_t)(end - begin + 1) * sizeof *symbols);
	int rv = symbols ? 0 : -1;
	for (int64_t i = begin; i < end && rv == 0; i++) {
		struct same_text key = {t->texts, t->texts[i]};
		uint64_t hash = hash_bytes(key.text, strlen(key.text));
		uint32_t found = index_find(&index, hash, is_same_text, &key);
		rv = found == INDEX_NONE ? index_add(&index, hash, (uint32_t)i) : 0;
		symbols[n++] = found == INDEX_NONE ? (uint32_t)i : found;
	}
	if (rv == 0)
		rv = repeats_find(&loops, symbols, &n, (uint32_t)end);
	if (rv == 0)
		rv = write_symbols(t, &loops, symbols, n);
	repeats_free(&loops);
	index_free(&index);
	budget_free(symbols);
	return rv;
}

static void table_free(struct table *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->different[i]);
	budget_free(t->different);
	index_free(&t->index);
}

/* Rows that depend on the rank are computed at each call. A compiler takes long for a large table that is computed:
 * there is each row once, and the table is put together in a loop. */
static void write_computed(FILE *f, uint32_t number, uint32_t rows, const char *given, const char *order)
{
	fprintf(f,
	        "\tconst long given[][3] = {%s};\n\tstatic const int order[] = {%s};\n"
	        "\tlong runs_%" PRIu32 "[%" PRIu32 "][3];\n\tfor (int i = 0; i < %" PRIu32 "; i++)\n"
	        "\t\tmemcpy(runs_%" PRIu32 "[i], given[order[i]], sizeof *given);\n",
	        given, order, number, rows, rows, number);
}

int numbers_table(struct numbers *n, char **texts, const struct runs *r, FILE *out)
{
	char *text = NULL, *given = NULL;
	size_t size, given_size;
	bool fixed = n->level == 0;
	struct table t = {.texts = texts, .out = open_memstream(&text, &size)};
	uint32_t lead = 0, number = n->c->table_count++;
	t.given = fixed ? NULL : open_memstream(&given, &given_size);
	int rv = t.out && (fixed || t.given) ? write_rows(&t, 0, r->lead) : -1;
	lead = t.rows;
	if (rv == 0)
		rv = write_rows(&t, r->lead, r->count);
	if (t.out)
		fclose(t.out);
	if (t.given)
		fclose(t.given);
	if (fixed)
		fprintf(n->c->tables, "static const long runs_%" PRIu32 "[][3] = {%s};\n", number, text ? text : "");
	fprintf(n->c->tables, "static long next_%" PRIu32 "(void)\n{\n\tstatic long at[%" PRIu32 "];\n", number,
	        t.rows + 2);
	if (!fixed && rv == 0)
		write_computed(n->c->tables, number, t.rows, given, text);
	fprintf(n->c->tables, "\treturn draw(runs_%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", at);\n}\n\n", number, t.rows,
	        lead);
	fprintf(out, "next_%" PRIu32 "()", number);
	n->drawn = true;
	table_free(&t);
	free(given);
	free(text);
	return rv;
}
