/* SPDX-License-Identifier: BSD-3-Clause
 * queues - numbers of a large program that have no rule
 */
#include "proxy/queues.h"

#include <inttypes.h>
#include <string.h>

#include "proxy/dense_code.h"
#include "proxy/first_alike.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

/* ---- a queue ---- */

static uint64_t length_of(const struct queue_list *l)
{
	return l->lead + l->period;
}

static bool same_list(const void *context, uint32_t a, uint32_t b)
{
	const struct queue_list *x = (const struct queue_list *)context + a,
				*y = (const struct queue_list *)context + b;
	return x->lead == y->lead && x->period == y->period &&
	       memcmp(x->values, y->values, length_of(x) * sizeof *x->values) == 0;
}

int queues_find_rows(struct queue_list *of_rank, uint32_t ranks, uint32_t *rows)
{
	struct first_alike alike = {same_list, of_rank, {0}};
	int rv = 0;
	*rows = 0;
	for (uint32_t r = 0; r < ranks && rv == 0; r++) {
		struct queue_list *l = &of_rank[r];
		if (!l->values)
			continue;
		uint64_t hash = hash_mix(hash_bytes(l->values, length_of(l) * sizeof *l->values), l->lead);
		uint32_t first = first_alike_find(&alike, r, hash);
		rv = first == INDEX_NONE ? -1 : 0;
		l->row = first == r ? (*rows)++ : rv == 0 ? of_rank[first].row : 0;
	}
	first_alike_free(&alike);
	return rv;
}

static int put_head(struct queue *q, uint64_t v)
{
	if (!budget_grow(&q->head, q->head_count, &q->head_capacity, sizeof *q->head))
		return -1;
	q->head[q->head_count++] = v;
	return 0;
}

/* Ranks begin with a row that none of those before has, or one of these has it: rows are numbered so. */
static int put_rows(struct queue *q, const struct queue_list *of_rank, const bool *none, uint32_t ranks, uint32_t rows)
{
	int rv = put_head(q, rows - 1);
	for (uint32_t r = 0, seen = 0; rv == 0 && rows > 1 && r < ranks; r++) {
		uint32_t row = none[r] ? (seen ? seen - 1 : 0) : of_rank[r].row;
		rv = put_head(q, seen - row);
		seen += seen == row;
	}
	return rv;
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

static int put_lengths(struct queue *q, const struct queue_list *const *row, uint32_t rows)
{
	int rv = 0;
	for (uint32_t i = 0; i < rows && rv == 0; i++) {
		int64_t length = (int64_t)length_of(row[i]), more = length - (i ? (int64_t)length_of(row[i - 1]) : 0);
		uint64_t period = row[i]->period;
		rv = put_head(q, i == 0 ? (uint64_t)length : more < 0 ? (uint64_t)-more * 2 - 1 : (uint64_t)more * 2);
		if (rv == 0)
			rv = put_head(q, period == 1 ? QUEUE_LAST : period == (uint64_t)length ? QUEUE_ALL : period);
	}
	return rv;
}

/* The numbers of all rows. Returns 0; -1: no memory; -2: some are too large. */
static int join_rows(struct queue *q, const struct queue_list *const *row, uint32_t rows)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < rows; i++)
		all += length_of(row[i]);
	q->values = all < UINT32_MAX ? budget_malloc(all * sizeof *q->values) : NULL;
	q->row = rows > 1 ? (uint32_t)length_of(row[0]) : 1;
	for (uint32_t i = 0; q->values && i < rows; q->count += (uint32_t)length_of(row[i++]))
		memcpy(q->values + q->count, row[i]->values, length_of(row[i]) * sizeof *q->values);
	for (uint32_t i = 0; i < q->count; i++)
		if (q->values[i] > DENSE_MOST || q->values[i] < -DENSE_MOST)
			return -2;
	return q->values ? 0 : -1;
}

static int choose_code(const struct queue *q, const struct copies_past *past, struct dense_code *code)
{
	const uint32_t backs[] = {1, q->row};
	return dense_code_choose(code, q->values, q->count, backs, q->row > 1 ? 2 : 1, past);
}

static uint64_t head_bits(const struct queue *q)
{
	uint64_t bits = 1; /* it is not as another one */
	for (uint32_t i = 0; i < q->head_count; i++)
		bits += gamma_bits(q->head[i], 0);
	return bits;
}

static void queue_free(struct queue *q)
{
	budget_free(q->values);
	budget_free(q->head);
}

int64_t queues_add(struct queues *q, const struct queue_list *of_rank, const bool *none, uint32_t ranks, uint32_t rows)
{
	struct queue one = {0};
	struct dense_code code = {.size = 0};
	const struct queue_list **row = find_rows(of_rank, none, ranks, rows);
	int rv = row && put_rows(&one, of_rank, none, ranks, rows) == 0 && put_lengths(&one, row, rows) == 0
	                 ? join_rows(&one, row, rows)
	                 : -1;
	budget_free(row);
	if (rv == 0)
		rv = choose_code(&one, NULL, &code);
	budget_free(code.copies.each);
	if (rv == 0 && !budget_grow(&q->each, q->count, &q->capacity, sizeof *q->each))
		rv = -1;
	if (rv != 0) {
		queue_free(&one);
		return rv;
	}
	one.size = DENSE_SIZE(head_bits(&one) + code.size);
	q->each[q->count] = one;
	return q->count++;
}

const struct tree_node *queues_use(const struct queues *q, struct tree *t, struct definitions *d, uint32_t number)
{
	struct definition *of = definition_add(d, t, "queue", number);
	of->queued = q->each[number].size;
	return node_new(t, NODE_QUEUE, &(struct tree_node){.number = number, .of = of}, NULL, 0);
}

/* ---- the program ---- */

int queues_take(struct queues *q, const struct tree_node *n)
{
	if (n->form == NODE_QUEUE && n->of) {
		struct queue *one = &q->each[n->number];
		if (one->id == 0) {
			if (!budget_grow(&q->order, q->ids, &q->ids_capacity, sizeof *q->order))
				return -1;
			q->order[q->ids++] = (uint32_t)n->number;
			one->id = q->ids;
		}
		struct tree_node *taken = (struct tree_node *)n; /* it is known only now */
		taken->number = one->id - 1;
		taken->of = NULL;
	}
	q->arrays |= n->form == NODE_CALL && n->count == 1 && n->at[0]->form == NODE_QUEUE &&
	             strcmp(n->name, "numbers") == 0;
	for (uint32_t i = 0; i < n->count; i++)
		if (queues_take(q, n->at[i]) != 0)
			return -1;
	return 0;
}

static const char NUMBERS[] =
	"/* So many numbers as the next one says. They stay until it is called for this queue again. */\n"
	"static int *numbers(int queue)\n{\n"
	"\tstatic struct pool *of_queue[%" PRIu32 "];\n"
	"\tconst long n = next(queue);\n"
	"\tint *const all = grown(&of_queue[queue], (size_t)(n + 1) * sizeof *all);\n\n"
	"\tfor (long i = 0; i < n; i++)\n"
	"\t\tall[i] = (int)next(queue);\n"
	"\treturn all;\n}\n\n";

static const char NEXT[] =
	"/* Its place, where the numbers of this rank end, how many of them then come again, and what becomes of them. "
	"*/\n"
	"static struct queue {\n\tlong at, end, period, times, more;\n} queues[%" PRIu32 "];\n"
	"static long queue_numbers[%" PRIu64 "];\n\n"
	"/* Each follows from one before, or says who has which row, how long rows are, and how much of each comes "
	"again. */\n"
	"static void read_queues(void)\n{\n"
	"\tlong n = 0, end = 0;\n\n"
	"\tpacked = queue_text;\n\tpacked_at = 0;\n"
	"\tfor (struct queue *q = queues; q < queues + sizeof queues / sizeof *queues; q++, n = end) {\n"
	"\t\tconst long same = next_number(0, 1), rows = same ? 0 : next_number(0, 1) + 1;\n"
	"\t\tlong own = 0, length = 0;\n\n"
	"\t\tfor (long r = 0, seen = 0; rows > 1 && r < size; r++) {\n"
	"\t\t\tconst long row = seen - next_number(0, 1);\n\n"
	"\t\t\tseen += row == seen;\n"
	"\t\t\town = r == rank ? row : own;\n\t\t}\n"
	"\t\tfor (long row = 0; row < rows; row++, end += length) {\n"
	"\t\t\tlength += row ? next_signed(0, 1) : next_number(0, 1);\n"
	"\t\t\tconst long period = next_number(0, 1);\n"
	"\t\t\tif (row == own)\n"
	"\t\t\t\t*q = (struct queue){end, end + length, period == 0 ? 1 : period == 1 ? length : period, 1, "
	"0};\n\t\t}\n"
	"\t\tif (same) {\n\t\t\t*q = q[-same];\n\t\t\tq->times += next_signed(0, 1);\n"
	"\t\t\tq->more += next_signed(0, 1);\n\t\t} else {\n"
	"\t\t\tunpack_numbers(queue_numbers + n, end - n);\n\t\t}\n"
	"\t}\n}\n\n"
	"static long next(int queue)\n{\n"
	"\tstatic int ready;\n"
	"\tstruct queue *const q = &queues[queue];\n\n"
	"\tif (!ready)\n"
	"\t\tread_queues();\n"
	"\tready = 1;\n"
	"\tif (q->at == q->end)\n"
	"\t\tq->at -= q->period;\n"
	"\treturn q->times * queue_numbers[q->at++] + q->more;\n}\n\n";

/* ---- queues that follow from others ---- */

#define TIMES_MOST (INT64_C(1) << 20)

/* What is between the first number and another one is a multiple of this, and of the sign of the first that is not 0;
 * 0: all are the same. */
static int64_t unit_of(const struct queue *q)
{
	uint64_t unit = 0;
	int64_t sign = 0;
	for (uint32_t i = 1; i < q->count; i++) {
		int64_t d = q->values[i] - q->values[0];
		sign = sign ? sign : (d > 0) - (d < 0);
		for (uint64_t a = (uint64_t)(d < 0 ? -d : d), rest; a; a = rest) {
			rest = unit % a;
			unit = a;
		}
	}
	return sign * (int64_t)unit;
}

/* So many units is a number behind the first one. */
static int64_t units_at(const struct queue *q, int64_t unit, uint32_t i)
{
	return unit ? (q->values[i] - q->values[0]) / unit : 0;
}

struct queue_key {
	const struct queues *q;
	const struct queue *queue;
	int64_t unit;
};

static uint64_t hash_queue(const struct queue_key *k)
{
	uint64_t hash = hash_bytes(k->queue->head, k->queue->head_count * sizeof *k->queue->head);
	for (uint32_t i = 0; i < k->queue->count; i++)
		hash = hash_mix(hash, (uint64_t)units_at(k->queue, k->unit, i));
	return hash;
}

/* Does a queue follow from an earlier one? Then its numbers are those times *times, and *more. */
static bool follows(const struct queue *from, const struct queue_key *k, int64_t *times, int64_t *more)
{
	const struct queue *q = k->queue;
	int64_t unit = unit_of(from);
	*times = unit ? k->unit / unit : 1;
	if (from->count != q->count || from->head_count != q->head_count ||
	    memcmp(from->head, q->head, q->head_count * sizeof *q->head) != 0 || (unit == 0) != (k->unit == 0) ||
	    (unit && k->unit % unit) || *times > TIMES_MOST || *times < -TIMES_MOST)
		return false;
	for (uint32_t i = 1; i < q->count; i++)
		if (units_at(from, unit, i) != units_at(q, k->unit, i))
			return false;
	*more = q->count ? q->values[0] - *times * from->values[0] : 0;
	return true;
}

static bool follows_id(const void *context, uint32_t id)
{
	const struct queue_key *k = context;
	int64_t times, more;
	return follows(&k->q->each[k->q->order[id]], k, &times, &more);
}

static uint64_t signed_bits(int64_t v)
{
	return gamma_bits(v < 0 ? (uint64_t)-v * 2 - 1 : (uint64_t)v * 2, 0);
}

static int write_queue(const struct queue *q, struct copies_past *past, struct letters *l)
{
	struct dense_code code = {.size = 0};
	int rv = choose_code(q, past, &code);
	if (rv == 0) {
		letters_number(l, 0, 0);
		for (uint32_t i = 0; i < q->head_count; i++)
			letters_number(l, q->head[i], 0);
		letters_code(l, &code, q->values, q->count);
		rv = copies_past_add(past, q->values, q->count);
	}
	budget_free(code.copies.each);
	return rv;
}

/* Writes a queue, as one from which it follows if that is shorter. index: of those that were written in full. */
static int write_one(const struct queues *q, uint32_t id, struct index *index, struct copies_past *past,
                     struct letters *l)
{
	const struct queue *one = &q->each[q->order[id]];
	struct queue_key key = {q, one, unit_of(one)};
	uint64_t hash = hash_queue(&key);
	uint32_t found = index_find(index, hash, follows_id, &key);
	int64_t times, more;
	if (found != INDEX_NONE && follows(&q->each[q->order[found]], &key, &times, &more) &&
	    DENSE_SIZE(gamma_bits(id - found, 0) + signed_bits(times - 1) + signed_bits(more)) <= one->size) {
		letters_number(l, id - found, 0);
		letters_signed(l, times - 1, 0);
		letters_signed(l, more, 0);
		return 0;
	}
	return write_queue(one, past, l) == 0 ? index_add(index, hash, id) : -1;
}

int queues_write(const struct queues *q, FILE *out)
{
	struct index index = {0};
	struct copies_past past = {0};
	struct letters l = {.out = out};
	int rv = 0;
	fputs("static const char queue_text[] =\n\t\t\"", out);
	for (uint32_t id = 0; id < q->ids && rv == 0; id++)
		rv = write_one(q, id, &index, &past, &l);
	letters_end(&l);
	fputs("\";\n\n", out);
	fprintf(out, NEXT, q->ids, (uint64_t)past.count);
	if (q->arrays)
		fprintf(out, NUMBERS, q->ids);
	copies_past_free(&past);
	index_free(&index);
	return rv;
}

void queues_free(struct queues *q)
{
	for (uint32_t i = 0; i < q->count; i++)
		queue_free(&q->each[i]);
	budget_free(q->each);
	budget_free(q->order);
}
