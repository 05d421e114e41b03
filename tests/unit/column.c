/* SPDX-License-Identifier: BSD-3-Clause
 * column - unit test of trace/record/column.c, trace/record/grammar.c and trace/model/pattern.c: what is put comes
 * back, and is small
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/record/column.h"
#include "trace/record/image.h"
#include "trace/model/pattern.h"

#define MAX 400000
static int64_t in[MAX];

struct result {
	bool exact;
	size_t pattern, dict, arena;
	uint32_t overflows;
};

/* Puts n values, takes the first `visits` out, and compares. */
static struct result round_trip(size_t n, size_t visits, bool references)
{
	struct result result = {.exact = true};
	struct arena a;
	struct columns x;
	struct column_image image;
	if (arena_create(&a, NULL, UINT64_C(256) << 20, NULL) != 0 || columns_init(&x, &a) != 0)
		abort();
	ref r = arena_alloc(&a, sizeof(struct column));
	uint64_t begin = a.header->used;
	struct column *c = arena_at(&a, struct column, r);
	arena_commit(&a);
	column_init(c);
	for (size_t i = 0; i < n; i++)
		column_put(&x, c, i, in[i]);
	result.arena = a.header->used - begin;
	result.overflows = a.header->overflows;
	if (x.failed || column_extract(&x, c, visits, references, &image) != 0) {
		result.exact = false;
		goto done;
	}
	int64_t *values = malloc((visits + 1) * sizeof *values);
	size_t known = 0, at = 0;
	for (size_t i = 0; i < image.dict_count; i++) {
		if (image.dict[i].count > 1 && image.dict[i].count < DICT_STRETCH)
			result.exact = false;
		for (uint64_t k = 0; k < image.dict[i].count && known < visits; k++)
			values[known++] = image.dict[i].start + image.dict[i].stride * (int64_t)k;
	}
	if (image.pattern.size == 0) {
		for (; at < visits; at++)
			result.exact &= in[at] == values[0];
	} else {
		struct pattern p;
		struct pattern_cursor cursor;
		uint32_t token;
		uint64_t count, fresh = 0;
		if (pattern_parse(&p, image.pattern.data, image.pattern.size) != 0 || pattern_begin(&cursor, &p) != 0)
			abort();
		result.exact &= pattern_length(&p) == visits && pattern_news(&p) == known;
		while (result.exact && pattern_next(&cursor, &token, &count) == 0)
			for (; count > 0; count--, at++) {
				uint64_t index = token ? token - 1 : fresh++;
				if (at >= visits || index >= known || values[index] != in[at]) {
					result.exact = false;
					break;
				}
			}
		result.exact &= at == visits;
		pattern_end(&cursor);
		pattern_free(&p);
	}
	result.pattern = image.pattern.size;
	result.dict = image.dict_count;
	free(values);
done:
	column_image_free(&image);
	columns_free(&x);
	arena_close(&a);
	return result;
}

static size_t generate(int kind, size_t total)
{
	size_t n = 0;
	while (n < total) {
		switch (kind) {
		case 0: /* a few values at random */
			in[n++] = (int64_t)random_below(5);
			break;
		case 1: /* loops of changing trip counts */
			for (uint64_t i = 0, m = 1 + random_below(30); i < m; i++)
				in[n++] = 1000 + (int64_t)i;
			in[n++] = -5;
			break;
		case 2: /* a nest that is broken now and then */
			for (int k = 0; k < 3; k++) {
				for (int i = 0; i < 7; i++) {
					for (int j = 0; j < 4; j++)
						in[n++] = i;
					in[n++] = 100;
				}
				in[n++] = 200;
			}
			if (random_below(20) == 0)
				in[n++] = 300 + (int64_t)random_below(3);
			break;
		case 3: /* everything is new */
			in[n++] = (int64_t)(random_next() >> 1);
			break;
		case 4: /* stretches that begin anywhere, named constants between */
			if (random_below(3) == 0) {
				in[n++] = VALUE_CONSTANT + (int64_t)random_below(6);
			} else {
				int64_t value = (int64_t)random_below(1000), stride = (int64_t)random_below(5) - 2;
				for (uint64_t i = 0, m = random_below(12); i < m; i++)
					in[n++] = value + (int64_t)i * stride;
			}
			break;
		case 5: /* parts of the past again */
			if (n > 0 && random_below(3) > 0) {
				size_t from = random_below(n), m = 1 + random_below(200);
				for (size_t i = 0; i < m && from + i < n && n < total; i++)
					in[n++] = in[from + i];
			} else {
				in[n++] = (int64_t)random_below(40);
			}
			break;
		default: /* a random walk */
			in[n] = n ? in[n - 1] + (int64_t)random_below(3) - 1 : 0;
			n++;
			break;
		}
	}
	return n;
}

static size_t regular(size_t steps, int kind)
{
	size_t n = 0;
	for (size_t s = 0; s < steps; s++)
		switch (kind) {
		case 0:
			in[n++] = 7;
			break;
		case 1:
			in[n++] = (int64_t)s * 3 + 100;
			break;
		case 2:
			for (int k = 0; k < 26; k++)
				in[n++] = k * k - 5;
			break;
		case 3: /* three levels */
			for (int i = 0; i < 5; i++) {
				for (int j = 0; j < 4; j++) {
					in[n++] = 1;
					in[n++] = 2;
				}
				in[n++] = 3;
			}
			in[n++] = 4;
			break;
		}
	return n;
}

int main(void)
{
	static const char *const kinds[] = {
		"few values", "changing trip counts", "broken nest", "all new", "stretches", "the past", "walk"};
	static const char *const nests[] = {"constant", "counter", "26 values", "three levels"};
	uint32_t overflows = 0;

	struct column_image image;
	struct arena a;
	struct columns x;
	if (arena_create(&a, NULL, 0, NULL) != 0 || columns_init(&x, &a) != 0)
		abort();
	ref r = arena_alloc(&a, sizeof(struct column));
	struct column *c = arena_at(&a, struct column, r);
	arena_commit(&a);
	column_init(c);
	ok(column_extract(&x, c, 0, false, &image) == 0 && image.dict_count == 0, "an empty column gives nothing");
	column_image_free(&image);
	ok(column_extract(&x, c, 1, false, &image) != 0, "more values than there are: refused");
	column_image_free(&image);
	column_put(&x, c, 0, 1);
	column_put(&x, c, 1, 2);
	column_put(&x, c, 2, 1);
	c->grammar = 0x7ffffff8;
	ok(column_extract(&x, c, 3, false, &image) != 0, "a grammar outside of the arena: refused");
	column_image_free(&image);
	columns_free(&x);
	arena_close(&a);

	for (int kind = 0; kind < 7; kind++) {
		int wrong = 0;
		for (uint64_t seed = 1; seed <= 150; seed++) {
			random_seed(seed * 7 + (uint64_t)kind);
			size_t n = generate(kind, 1 + random_below(4000));
			size_t visits = seed % 3 == 0 ? 1 + random_below(n) : n;
			struct result result = round_trip(n, visits, seed % 5 == 0);
			wrong += !result.exact;
			overflows += result.overflows;
		}
		ok(wrong == 0, "%s: 150 sequences, and their beginnings, come back", kinds[kind]);
	}
	ok(overflows == 0, "every operation fits the journal");
	for (int kind = 0; kind < 4; kind++) {
		struct result few = round_trip(regular(50, kind), regular(50, kind), false);
		struct result many = round_trip(regular(5000, kind), regular(5000, kind), false);
		ok(few.exact && many.exact, "%s: exact", nests[kind]);
		ok(many.pattern <= few.pattern + 4 && many.dict == few.dict && many.arena == few.arena,
		   "%s: 5000 steps take what 50 take (pattern %zu and %zu bytes, dictionary %zu, arena %zu and %zu "
		   "bytes)",
		   nests[kind], few.pattern, many.pattern, many.dict, few.arena, many.arena);
	}
	static const uint8_t bad[][6] = {{0}, {1, 0}, {1, 1, 2}, {1, 1, 1, 0}, {2, 1, 0, 1, 6}, {1, 1, 0, 0}, {0x80}};
	static const size_t sizes[] = {1, 2, 3, 4, 5, 4, 1};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct pattern p;
		ok(pattern_parse(&p, bad[i], sizes[i]) != 0, "bad pattern %zu is refused", i);
		pattern_free(&p);
	}
	return tap_end();
}
