/* SPDX-License-Identifier: BSD-3-Clause
 * lossy - a column that gives up its order at any moment, by its threshold or because it is told to, still counts every
 * value; so does the same column with the last put undone
 */
#include "trace/record/lossy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/record/record.h"

static bool equal(const struct tally *a, const struct tally *b)
{
	return a->count == b->count && (a->count == 0 || memcmp(a->bins, b->bins, a->count * sizeof *a->bins) == 0);
}

enum { N = 3000, SITES = 40, VECTORS = 50 };

/* Loops that begin and end, counters, repetitions, nothing regular. */
static int64_t value_of(int kind, int i)
{
	switch (kind % 8) {
	case 0:
		return i % 3;
	case 1:
		return i < 1500 ? i % 26 : (int64_t)random_below(13);
	case 2:
		return i * 3;
	case 3:
		return (int64_t)random_below(SITES);
	case 4:
		return i / 100 % 2 ? i % 7 : (int64_t)random_below(2);
	case 5:
		return random_below(20) ? 4 : 5;
	case 6:
		return i % 50 < 25 ? 1 : i % 50 < 40 ? 2 + i / 500 : i % 3;
	default:
		return (int64_t)(i / (1 + i / 300) % SITES);
	}
}

static bool check(struct columns *x, struct column *c, const int64_t *values, size_t n, const struct record *record)
{
	struct lossy_image image;
	struct tally wanted = {0}, elements = {0}, runs[3 * N] = {{0}};
	bool good = lossy_extract(x, c, n, &image) == 0;
	int role = c->role & ROLE_KINDS;
	for (size_t i = 0; role == ROLE_VALUE && i < n; i++)
		tally_add(&wanted, values[i], 1);
	for (size_t i = 0; role == ROLE_VECTOR && i < n; i++) {
		const struct record_vector *v =
			arena_at(x->arena, struct record_vector,
		                 *(ref *)table_at(x->arena, &record->vectors, (uint32_t)values[i], sizeof(ref)));
		tally_add(&wanted, v->count, 1);
		for (uint32_t k = 0; k < v->count; k++)
			tally_add(&elements, v->values[k], 1);
	}
	for (size_t i = 0, k; role == ROLE_NEXT && i < n; i = k) {
		for (k = i + 1; k < n && values[k] == values[i]; k++) {
		}
		tally_add(&runs[values[i]], (int64_t)(k - i), 1);
	}
	good = good && equal(&image.values, &wanted) && equal(&image.elements, &elements);
	size_t successors = 0, found = 0;
	for (size_t i = 0; i < 3 * N; i++)
		successors += runs[i].count > 0;
	for (size_t i = 0; good && i < image.next_count; i++) {
		found += image.next[i].runs.count > 0;
		good = equal(&image.next[i].runs, &runs[image.next[i].to]);
	}
	good = good && found == successors;
	tally_free(&wanted);
	tally_free(&elements);
	for (size_t i = 0; i < 3 * N; i++)
		tally_free(&runs[i]);
	lossy_image_free(&image);
	return good;
}

int main(void)
{
	static const char *const names[] = {"values", "vectors", "successors"};
	static const int roles[] = {ROLE_VALUE, ROLE_VECTOR, ROLE_NEXT};
	random_seed(99);
	for (int kind = 0; kind < 3; kind++) {
		int wrong = 0, wrong_undone = 0, made = 0;
		for (int round = 0; round < 200; round++) {
			struct arena a;
			struct columns x;
			int64_t values[N];
			if (arena_create(&a, NULL, UINT64_C(16) << 20, NULL) != 0 || columns_init(&x, &a) != 0)
				return 1;
			struct record *record = record_create(&a);
			x.record = record;
			int64_t vector[LOSSY_QUEUE_WORDS + VECTORS];
			for (uint32_t i = 0; i < VECTORS; i++) {
				uint32_t length =
					i % 13 == 12 ? LOSSY_QUEUE_WORDS + i : i % 20; /* some do not fit a queue */
				for (uint32_t k = 0; k < length; k++)
					vector[k] = (int64_t)random_below(1 + i * 3);
				record_add_vector(&a, record, vector, length);
			}
			x.threshold = round % 2 ? random_below(60) : UINT64_MAX;
			x.structure = true;
			ref r = arena_alloc(&a, sizeof(struct column));
			arena_commit(&a);
			struct column *c = arena_at(&a, struct column, r);
			column_init(c);
			c->role = (uint16_t)roles[kind];
			int by_hand = (int)random_below(N), last = 100 + (int)random_below(N - 100);
			for (int i = 0; i < last; i++) {
				values[i] = value_of(round / 2, i) % (kind == 1 ? VECTORS : 3 * N);
				if (i == by_hand)
					lossy_make(&x, c, (uint64_t)i, 2);
				/* what the recorder does */
				const struct record_vector *v =
					kind == 1 ? arena_at(&a, struct record_vector,
				                             *(ref *)table_at(&a, &record->vectors, (uint32_t)values[i],
				                                              sizeof(ref)))
						  : NULL;
				if (v && c->lossy)
					lossy_put_vector(&x, c, (uint64_t)i, v->values, v->count);
				else
					column_put(&x, c, (uint64_t)i, values[i]);
			}
			if (c->lossy) {
				made++;
				wrong += x.failed || !check(&x, c, values, (size_t)last, record);
				wrong_undone += !check(&x, c, values, (size_t)last - 1, record);
			}
			columns_free(&x);
			arena_close(&a);
		}
		ok(wrong == 0 && made > 100, "%s: %d columns, %d wrong", names[kind], made, wrong);
		ok(wrong_undone == 0, "%s: without the last one, %d wrong", names[kind], wrong_undone);
	}
	/* memory comes back */
	struct arena a;
	struct columns x;
	uint64_t used = 0;
	if (arena_create(&a, NULL, UINT64_C(16) << 20, NULL) != 0 || columns_init(&x, &a) != 0)
		return 1;
	for (int round = 0; round < 20; round++) {
		ref r = arena_alloc(&a, sizeof(struct column));
		struct column *c = arena_at(&a, struct column, r);
		column_init(c);
		for (int i = 0; i < 10000; i++)
			column_put(&x, c, (uint64_t)i, (int64_t)random_below(1000));
		lossy_make(&x, c, 10000, 2);
		if (round == 0)
			used = a.header->used;
	}
	ok(!x.failed && a.header->used < used + used / 2,
	   "the memory of a column that gave up its order is used again: %llu, %llu", (unsigned long long)used,
	   (unsigned long long)a.header->used);
	columns_free(&x);
	arena_close(&a);
	return tap_end();
}
