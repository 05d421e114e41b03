/* SPDX-License-Identifier: BSD-3-Clause
 * extraction - traces from arenas: each word of an arena is damaged, and memory runs out
 */
#include "trace/record/extraction.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

/* A copy of an arena, which an extraction may use up. */
static struct arena copy_of(const struct arena *a)
{
	struct arena copy;
	if (arena_create(&copy, NULL, a->size, NULL) != 0)
		abort();
	memcpy(copy.base, a->base, a->header->used);
	return copy;
}

/* As merge/world.c reads the arena of somebody else: within a budget, and checked. */
static int extract(void *context)
{
	struct arena a = copy_of(context);
	struct budget budget = {.memory = 1 << 23, .steps = 1 << 15};
	struct trace t;
	struct error error = {""};
	budget_begin(&budget);
	int rv = trace_extract(&t, &a, &error) || trace_check(&t, &error) ? -1 : 0;
	if ((rv != 0) != (error.text[0] != '\0'))
		abort();
	trace_free(&t);
	budget_end(&budget);
	arena_close(&a);
	return rv;
}

static void test_arena(int how, const char *what)
{
	static const uint64_t lies[] = {0,      1, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0x100000001),
	                                1 << 20};
	struct arena a;
	size_t refused = 0, tried = 0;
	sample_record(&a, 1, 4, how);
	ok(extract(&a) == 0, "%s: %llu bytes", what, (unsigned long long)a.header->used);
	ok(fails_well(extract, &a), "%s: no memory", what);
	for (uint64_t at = sizeof(struct arena_header); at + 8 <= a.header->used; at += 8) {
		uint64_t *word = arena_at(&a, uint64_t, at), saved = *word;
		for (size_t i = 0; saved && i < 5; i++, tried++) {
			uint64_t lie = lies[random_below(sizeof lies / sizeof *lies)];
			*word = i == 0 ? lie : i == 1 ? saved ^ lie : saved ^ UINT64_C(1) << random_below(64);
			refused += extract(&a) != 0;
		}
		*word = saved;
	}
	ok(refused > 0, "%s: %zu damaged words: %zu are refused, all others give traces", what, tried, refused);
	arena_close(&a);
}

int main(void)
{
	test_arena(0, "with their order");
	test_arena(SAMPLE_LOSSY | SAMPLE_KILLED | SAMPLE_DETAIL, "without, killed, counters, all times");
	return tap_end();
}
