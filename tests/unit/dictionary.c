/* SPDX-License-Identifier: BSD-3-Clause
 * dictionary - values get the numbers in which they first came: strides, chance, the ends of the range, no memory
 */
#include "trace/record/dictionary.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

enum { VALUES = 800 };
static int64_t values[VALUES];
static struct arena arena;
static struct columns columns;

static struct column *begin(void)
{
	if (arena_create(&arena, NULL, ARENA_MIN_SIZE, NULL) != 0)
		abort();
	columns = (struct columns){.arena = &arena};
	struct column *c = arena_at(&arena, struct column, arena_alloc(&arena, sizeof *c));
	arena_commit(&arena);
	column_init(c);
	return c;
}

static void end(void)
{
	columns_free(&columns);
	arena_close(&arena);
}

static int64_t draw(unsigned kind, int64_t i)
{
	switch (kind) {
	case 0: /* one stride */
		return 100 - 3 * i;
	case 1:
		return (int64_t)random_next();
	case 2: /* many short strides */
		return i / 5 * 1000 + i % 5;
	case 3: /* around the ends of the range */
		return (int64_t)(UINT64_C(0x7fffffffffffff00) + random_below(512));
	default: /* a stride that does not go on past the end of the range */
		return (int64_t)((uint64_t)INT64_MAX - 100 + (uint64_t)i * 7);
	}
}

/* Adds n different values, and looks for each, and for others. */
static bool holds(unsigned kind, size_t n)
{
	struct column *c = begin();
	size_t known = 0;
	bool right = true;
	for (size_t i = 0; i < n; i++) {
		int64_t v = draw(kind, (int64_t)i), there = -1;
		for (size_t k = 0; k < known; k++)
			there = values[k] == v ? (int64_t)k : there;
		right &= dictionary_find(&columns, c, v) == there;
		if (there < 0) {
			right &= dictionary_add(&columns, c, v);
			values[known++] = v;
		}
	}
	uint64_t first = 0;
	for (uint32_t i = 0; i < c->dict_count; i++) {
		right &= dictionary_runs(&columns, c)[i].first == first;
		first += dictionary_runs(&columns, c)[i].count;
	}
	right &= first == known && (kind || c->dict_count == 1);
	for (size_t k = 0; k < known; k++)
		right &= dictionary_value(&columns, c, (uint32_t)k) == values[k] &&
		         dictionary_find(&columns, c, values[k]) == (int64_t)k;
	end();
	return right;
}

/* The hash table alone, against a plain list. */
static bool slots_hold(void)
{
	struct column *c = begin();
	uint32_t number[64] = {0};
	bool right = dictionary_slot(&columns, c, 1) == -1;
	dictionary_slot_remove(&columns, c, 1);
	for (int i = 0; i < 20000; i++) {
		int64_t v = (int64_t)random_below(64);
		right &= dictionary_slot(&columns, c, v) == (int64_t)number[v] - 1;
		if (number[v])
			dictionary_slot_remove(&columns, c, v), number[v] = 0;
		else
			dictionary_slot_add(&columns, c, v, number[v] = (uint32_t)random_below(1000)), number[v]++;
	}
	end();
	return right;
}

/* Without memory values are not found again, and those that are have their numbers. */
static int add_all(void *context)
{
	struct column *c = begin();
	int found = 0;
	(void)context;
	for (int64_t i = 0; i < 2000; i++)
		if (!dictionary_add(&columns, c, i * i * 31))
			abort();
	for (int64_t i = 0; i < 2000; i++) {
		int64_t at = dictionary_find(&columns, c, i * i * 31);
		found += at == i;
		if (at != i && at != -1)
			abort();
	}
	end();
	return found == 2000 ? 0 : -1;
}

int main(void)
{
	static const char *const kinds[] = {"one stride", "chance", "many strides", "near the ends of the range",
	                                    "past the end"};
	random_seed(9);
	struct column *c = begin();
	ok(dictionary_find(&columns, c, 0) == -1, "nothing is in an empty dictionary");
	end();
	for (unsigned kind = 0; kind < 5; kind++)
		ok(holds(kind, 1) && holds(kind, 2) && holds(kind, DICTIONARY_LINEAR + 1) && holds(kind, VALUES), "%s",
		   kinds[kind]);
	ok(slots_hold(), "the hash table: what is added is found, what is removed is not");
	c = begin();
	arena.header->size = arena.header->used;
	arena.full = true;
	arena.size = arena.header->used;
	bool right = dictionary_add(&columns, c, 1) && dictionary_add(&columns, c, 5) &&
	             dictionary_add(&columns, c, 9) && !dictionary_add(&columns, c, 4) &&
	             dictionary_find(&columns, c, 9) == 2 && dictionary_find(&columns, c, 4) == -1;
	ok(right, "an arena that is used up: strides go on, and nothing else is added");
	arena.size = ARENA_MIN_SIZE;
	end();
	ok(fails_well(add_all, NULL), "no memory for the hash table");
	return tap_end();
}
