/* SPDX-License-Identifier: BSD-3-Clause
 * record_class - computations of an edge become classes: which, in what order, and when they do not
 */
#include "trace/record/record_class.h"

#include <stdlib.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

#define MS 3000000 /* ticks */

static struct arena arena;
static struct columns columns;
static struct record_edge *edge;

static void begin(uint64_t memory)
{
	if (arena_create(&arena, NULL, memory, NULL) != 0 || columns_init(&columns, &arena) != 0)
		abort();
	columns.record = record_create(&arena);
	edge = arena_at(&arena, struct record_edge, record_new_edge(&arena, 0, 1));
}

static void end(void)
{
	columns_free(&columns);
	arena_close(&arena);
}

static const struct record_classes *classes(void)
{
	ref at = record_edge_classes(edge, record_no_times(&arena));
	return at ? arena_at(&arena, struct record_classes, at) : NULL;
}

static uint64_t seed;

static double random_unit(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) * 0x1p-53;
}

static uint64_t balanced(uint64_t i)
{
	(void)i;
	return (uint64_t)(MS * (0.8 + 0.4 * random_unit()));
}

static uint64_t tiny(uint64_t i)
{
	return 300 + (i % 7 == 3) * 2000;
}

static uint64_t cold(uint64_t i)
{
	return i == 0 ? 10 * MS : MS + i % 5;
}

static uint64_t tenth(uint64_t i)
{
	return (i % 10 == 9 ? 10 * MS : MS) + i % 7;
}

static uint64_t phases(uint64_t i)
{
	return i / 200 % 2 ? 3 * MS : MS;
}

static uint64_t outliers(uint64_t i)
{
	return balanced(i) * (random_unit() < 0.1 ? 5 : 1);
}

static uint64_t many(uint64_t i)
{
	return (uint64_t)MS << i % 12;
}

static const struct row {
	const char *what;
	uint64_t (*ticks)(uint64_t i);
	uint32_t classes, mixed;
	uint32_t tokens; /* of the pattern at most */
} rows[] = {
	{"balanced, 20 % more or less: one class", balanced, 0, 0, 0},
	{"times of some ns, some more: one class", tiny, 0, 0, 0},
	{"the first one is long", cold, 2, 0, 4},
	{"each tenth is long", tenth, 2, 0, 12},
	{"phases", phases, 2, 0, 12},
	{"outliers at random are mixed", outliers, 2, 1, 0},
	{"twelve times in turn: eight classes", many, 8, 0, 40},
};

static bool right(const struct row *row, uint64_t visits)
{
	const struct record_classes *k = classes();
	if (!row->classes || !k)
		return !row->classes && !k;
	if (k->count != row->classes && !row->mixed)
		return false;
	if (k->mixed != row->mixed || edge->compute.few[0] != visits)
		return false;
	const struct column *c = cell_column(&columns, &k->column);
	return row->mixed || !c->grammar || grammar_size(&columns.grammars, c->grammar, 1000) <= row->tokens;
}

/* All values are in some histogram. */
static bool whole(uint64_t sum)
{
	const struct record_classes *k = classes();
	uint64_t found = k ? 0 : edge->compute.at->sum;
	for (uint32_t i = 0; k && i < k->count; i++)
		found += arena_at(&arena, struct record_time, k->each[i].time)->sum;
	return found == sum;
}

static void test_rows(void)
{
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		const struct row *row = &rows[r];
		uint64_t sum = 0;
		begin(8 << 20);
		for (uint64_t i = 0; i < 2000; i++) {
			uint64_t ticks = row->ticks(i);
			sum += ticks;
			record_edge_add(&columns, edge, ticks, i);
			arena_commit(&arena);
		}
		const struct record_classes *k = classes();
		ok(right(row, 2000) && whole(sum), "%s (%u classes%s)", row->what, k ? k->count : 1,
		   k && k->mixed ? ", mixed" : "");
		end();
	}
}

/* Without memory nothing is lost but the order. */
static void test_memory(void)
{
	uint64_t taken = 0;
	begin(ARENA_MIN_SIZE);
	while (arena_alloc(&arena, 64))
		arena_commit(&arena);
	arena_commit(&arena);
	for (uint64_t i = 0; i < 500; i++, taken++) {
		record_edge_add(&columns, edge, many(i) + tenth(i), i);
		arena_commit(&arena);
	}
	ok(taken == edge->compute.few[0], "no memory: no classes");
	end();
}

int main(void)
{
	test_rows();
	test_memory();
	return tap_end();
}
