/* SPDX-License-Identifier: BSD-3-Clause
 * queues - numbers of a large program that have no rule
 */
#include "proxy/queues.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/dense_code.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

#define LENGTH_BITS 5
#define ALL_MOST    UINT32_MAX

/* ---- the text of a queue ---- */

static uint64_t length_of(const struct queue_list *l)
{
	return l->lead + l->period;
}

/* The first rank of each row; NULL: no memory. */
static const struct queue_list **find_rows(const struct queue_list *of_rank, const bool *none, uint32_t ranks,
                                           uint32_t rows)
{
	const struct queue_list **row = budget_calloc(rows + UINT64_C(1), sizeof(void *));
	for (uint32_t r = 0; row && r < ranks; r++)
		if (!none[r] && !row[of_rank[r].row])
			row[of_rank[r].row] = &of_rank[r];
	return row;
}

static void put_rows(struct letters *l, const struct queue_list *of_rank, const bool *none, uint32_t ranks,
                     uint32_t rows)
{
	letters_number(l, rows - 1, 0);
	for (uint32_t r = 0, seen = 0; rows > 1 && r < ranks; r++) {
		uint32_t row = none[r] ? (seen ? seen - 1 : 0) : of_rank[r].row;
		letters_number(l, seen - row, 0);
		seen += seen == row;
	}
}

static void put_lengths(struct letters *l, const struct queue_list *const *row, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t length = length_of(row[i]), period = row[i]->period;
		letters_signed(l, (int64_t)(length - (i ? length_of(row[i - 1]) : 0)), i ? 0 : LENGTH_BITS);
		letters_number(l, period == 1 ? QUEUE_LAST : period == length ? QUEUE_ALL : period, 0);
	}
}

/* The numbers of all rows; NULL: no memory. */
static int64_t *join_rows(const struct queue_list *const *row, uint32_t rows, uint32_t *count)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < rows; i++)
		all += length_of(row[i]);
	int64_t *values = all < ALL_MOST ? budget_malloc(all * sizeof *values) : NULL;
	*count = 0;
	for (uint32_t i = 0; values && i < rows; *count += (uint32_t)length_of(row[i++]))
		memcpy(values + *count, row[i]->values, length_of(row[i]) * sizeof *values);
	return values;
}

static bool are_small(const int64_t *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (values[i] > DENSE_MOST || values[i] < -DENSE_MOST)
			return false;
	return true;
}

/* Ranks begin with a row that none of those before has, or one of these has it: rows are numbered so. */
static int write_rows_text(char **text, const struct queue_list *of_rank, const bool *none, uint32_t ranks,
                           const struct queue_list *const *row, uint32_t rows)
{
	struct dense_code code = {.size = 0};
	struct letters l = {NULL};
	size_t size;
	uint32_t count, back;
	int64_t *values = join_rows(row, rows, &count);
	int rv = !values ? -1 : are_small(values, count) ? 0 : -2;
	back = rows > 1 ? (uint32_t)length_of(row[0]) : 1;
	if (rv == 0)
		rv = dense_code_choose(&code, values, count, (const uint32_t[]){1, back}, rows > 1 ? 2 : 1);
	if (rv == 0 && !(l.out = open_memstream(text, &size)))
		rv = -1;
	if (rv == 0) {
		put_rows(&l, of_rank, none, ranks, rows);
		put_lengths(&l, row, rows);
		letters_code(&l, &code, values, count);
		letters_end(&l);
		fclose(l.out);
	}
	budget_free(code.copies.each);
	budget_free(values);
	return rv;
}

int64_t queues_add(struct queues *q, const struct queue_list *of_rank, const bool *none, uint32_t ranks, uint32_t rows)
{
	char *text = NULL;
	const struct queue_list **row = find_rows(of_rank, none, ranks, rows);
	int rv = row ? write_rows_text(&text, of_rank, none, ranks, row, rows) : -1;
	budget_free(row);
	if (rv == 0 && !budget_grow(&q->each, q->count, &q->capacity, sizeof *q->each)) {
		free(text);
		rv = -1;
	}
	if (rv != 0)
		return rv;
	q->each[q->count] = (struct queue){text, 0};
	return q->count++;
}

size_t queues_size(const struct queues *q, uint32_t number)
{
	return strlen(q->each[number].text) + QUEUE_COST;
}

/* ---- the program ---- */

static int take_queue(struct queues *q, uint32_t number, FILE *out)
{
	struct queue *one = &q->each[number];
	if (one->id == 0) {
		if (!budget_grow(&q->order, q->ids, &q->ids_capacity, sizeof *q->order))
			return -1;
		q->order[q->ids++] = number;
		one->id = q->ids;
	}
	fprintf(out, "next(%" PRIu32 ")", one->id - 1);
	return 0;
}

/* A name in front of which stands no other letter, and behind which a number of a queue. */
static bool is_queue(const struct queues *q, const char *text, const char *at, const char **behind, uint32_t *number)
{
	char *end;
	unsigned long n = strtoul(at + strlen(QUEUE_NAME), &end, 10);
	if ((at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) || n >= q->count ||
	    strncmp(end, "()", 2) != 0)
		return false;
	*number = (uint32_t)n;
	*behind = end + 2;
	return true;
}

int queues_take(struct queues *q, char **text)
{
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);
	const char *at = *text, *found;
	int rv = out ? 0 : -1;
	while (rv == 0 && (found = strstr(at, QUEUE_NAME)) != NULL) {
		const char *behind = found + strlen(QUEUE_NAME), *line = found;
		uint32_t number;
		while (line > at && line[-1] != '\n')
			line--;
		if (strncmp(line, QUEUE_LINE, strlen(QUEUE_LINE)) == 0) {
			fwrite(at, 1, (size_t)(line - at), out);
			at = behind + strcspn(behind, "\n");
			at += *at == '\n';
			continue;
		}
		bool queue = is_queue(q, *text, found, &behind, &number);
		fwrite(at, 1, (size_t)((queue ? found : behind) - at), out);
		rv = queue ? take_queue(q, number, out) : 0;
		at = behind;
	}
	if (rv == 0)
		fputs(at, out);
	if (out)
		fclose(out);
	if (rv != 0) {
		free(made);
		return -1;
	}
	free(*text);
	*text = made;
	return 0;
}

#define TEXT(x)    #x
#define TEXT_OF(x) TEXT(x)

static const char NEXT[] =
	"struct queue {\n\tstruct pool *pool;\n\tlong *numbers, length, period, at;\n};\n\n"
	"/* Rows of numbers: which one is this rank's, how long they are, and how much of each comes again. */\n"
	"static void unpack_queue(struct queue *q, const char *text)\n{\n"
	"\tlong n = 0, length = 0, first = 0, own = 0, seen = 0;\n\n"
	"\tpacked = text;\n\tpacked_at = 0;\n"
	"\tconst long rows = next_number(0, 1) + 1;\n"
	"\tfor (long r = 0; rows > 1 && r < size; r++) {\n"
	"\t\tconst long row = seen - next_number(0, 1);\n\n"
	"\t\tseen += row == seen;\n"
	"\t\town = r == rank ? row : own;\n\t}\n"
	"\tfor (long row = 0; row < rows; row++, n += length) {\n"
	"\t\tlength += next_signed(row ? 0 : " TEXT_OF(
		LENGTH_BITS) ", 1);\n"
			     "\t\tconst long period = next_number(0, 1);\n"
			     "\t\tif (row == own) {\n"
			     "\t\t\tfirst = n;\n\t\t\tq->length = length;\n"
			     "\t\t\tq->period = period == 0 ? 1 : period == 1 ? length : period;\n\t\t}\n\t}\n"
			     "\tlong *const all = grown(&q->pool, (size_t)n * sizeof *all);\n"
			     "\tunpack_numbers(all, n);\n"
			     "\tq->numbers = all + first;\n}\n\n"
			     "static long next(int number)\n{\n"
			     "\tstatic struct queue queues[sizeof queue_texts / sizeof *queue_texts];\n"
			     "\tstruct queue *const q = &queues[number];\n\n"
			     "\tif (!q->numbers)\n"
			     "\t\tunpack_queue(q, *queue_texts[number] == '=' ? queue_texts[atol(queue_texts[number] + "
			     "1)] : "
			     "queue_texts[number]);\n"
			     "\tif (q->at == q->length)\n"
			     "\t\tq->at -= q->period;\n"
			     "\treturn q->numbers[q->at++];\n}\n\n";

static bool same_queue(const void *context, uint32_t id)
{
	const struct queues *q = ((const void *const *)context)[0];
	return strcmp(q->each[q->order[id]].text, ((const char *const *)context)[1]) == 0;
}

int queues_write(const struct queues *q, FILE *out)
{
	struct index index = {0};
	int rv = 0;
	fputs("static const char *const queue_texts[] = { /* \"=7\": that of 7 */\n", out);
	for (uint32_t id = 0; id < q->ids && rv == 0; id++) {
		const char *text = q->each[q->order[id]].text;
		const void *key[] = {q, text};
		uint64_t hash = hash_bytes(text, strlen(text));
		uint32_t found = index_find(&index, hash, same_queue, key);
		if (found == INDEX_NONE) {
			fprintf(out, "\t\"%s\",\n", text);
			rv = index_add(&index, hash, id);
		} else {
			fprintf(out, "\t\"=%" PRIu32 "\",\n", found);
		}
	}
	index_free(&index);
	fprintf(out, "};\n\n%s", NEXT);
	return rv;
}

void queues_free(struct queues *q)
{
	for (uint32_t i = 0; i < q->count; i++)
		free(q->each[i].text);
	budget_free(q->each);
	budget_free(q->order);
}
