/* SPDX-License-Identifier: BSD-3-Clause
 * bound - unit test of trace/read/bound.c: a trace that has no bound; what a small one has and may have, counted by
 * hand; what the bound depends on; whether files keep it
 */
#include "trace/read/bound.h"

#include <stdio.h>

#include "merge/loss.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"

enum { RANKS = 3, THRESHOLD = 10 };

/* Tokens, nodes, stretches and bins that a column may have: doc and header say N, 4 N + 16, N + 2, 16 a tally. */
enum { COLUMN = THRESHOLD + 4 * THRESHOLD + 16 + THRESHOLD + 2 + TALLY_EXACT };

static struct rankmap map_of_all(int64_t value, bool reference)
{
	struct rankmap_builder b = {.references = reference};
	struct rankmap m;
	rankmap_add(&b, (struct rank_piece){.count = RANKS, .step = 1, .value = value});
	if (rankmap_take(&b, &m) != 0)
		abort();
	return m;
}

static void put_constant(struct trace_site *s, uint32_t column, int64_t value, bool reference)
{
	struct trace_group g = {.count = 1, .dict = calloc(1, sizeof *g.dict)};
	if (!g.dict)
		abort();
	g.dict[0] = (struct trace_stretch){.count = 1, .start = map_of_all(value, reference)};
	if (trace_add_group_take(&s->columns[column], &g) != 0)
		abort();
}

/* A number, a handle and the successor of three ranks (2, 3 and 3 nodes); one edge, three bins of times. */
static struct trace_site *small_trace(struct trace *t, const char *schema)
{
	if (trace_init(t) != 0)
		abort();
	uint32_t f = trace_function(t, pool_intern(&t->strings, schema, strlen(schema)));
	if (f == UINT32_MAX || trace_site(t, f, 0, false) != 0 || !trace_edge(&t->sites[0], 0))
		abort();
	struct trace_site *s = &t->sites[0];
	s->visits = map_of_all(5, false);
	s->communicate.bins = calloc(3, sizeof *s->communicate.bins);
	s->communicate.bin_count = 3;
	put_constant(s, 0, 7, false);
	put_constant(s, 1, VALUE_CONSTANT, false);
	put_constant(s, 2, 0, true);
	t->loss = (struct trace_loss){.lossy = true, .threshold = THRESHOLD};
	return s;
}

static struct bound bound_of(const struct trace *t)
{
	struct bound b;
	if (bound_make(&b, t) != 0)
		abort();
	return b;
}

static void test_none(void)
{
	static const struct bound nothing;
	struct bound b;
	struct trace t;
	memset(&b, 0xff, sizeof b);
	small_trace(&t, "F a:i b:c");
	t.loss.lossy = false;
	ok(bound_make(&b, &t) == 1 && memcmp(&b, &nothing, sizeof b) == 0, "no bound if the mode was not lossy");
	trace_free(&t);
	if (trace_init(&t) != 0)
		abort();
	t.loss.lossy = true;
	b = bound_of(&t);
	ok(b.sites + b.columns + b.edges + b.behaviours + b.exact + b.entries + b.entries_most == 0 && b.bytes_most,
	   "a trace of nothing is a header");
	trace_free(&t);
}

static void test_counts(void)
{
	struct trace t;
	struct trace_site *s = small_trace(&t, "F a:i b:c");
	struct bound b = bound_of(&t);
	ok(b.sites == 1 && b.columns == 3 && b.edges == 1 && b.behaviours == 2, "the shape");
	ok(b.entries == 2 + 1 + 3 + 1 + 3 + 1 + 3, "%d entries", (int)b.entries);
	ok(b.exact == 2 && b.entries_most == COLUMN + (3 + 1) + (3 + 1) + 2 * HISTOGRAM_BINS,
	   "handle and successor keep their order: at most %d", (int)b.entries_most);
	t.loss.structure = true;
	t.bins = 5;
	b = bound_of(&t);
	ok(b.exact == 0 && b.entries_most == 3 * COLUMN + 2 * 5, "no column does: at most %d", (int)b.entries_most);
	t.loss.threshold = 0;
	ok(bound_of(&t).entries_most == 3 * (16 + 2 + TALLY_EXACT) + 2 * 5, "nothing in order");
	t.loss.threshold = THRESHOLD;
	if (!trace_edge(s, 1))
		abort();
	b = bound_of(&t);
	ok(b.edges == 2 && b.entries_most == 3 * COLUMN + TALLY_EXACT + 3 * 5, "an edge: a tally and a histogram more");
	uint32_t f = trace_function(&t, pool_intern(&t.strings, "@o n:i", 6));
	if (f == UINT32_MAX || trace_site(&t, f, 0, true) != 0)
		abort();
	put_constant(&t.objects[0], 0, 7, false);
	struct bound more = bound_of(&t);
	ok(more.sites == 1 && more.columns == 4 && more.edges == 2 && more.exact == 1 &&
	           more.entries == b.entries + 3 && more.entries_most == b.entries_most + 3,
	   "an object keeps its order in any case");
	trace_free(&t);
}

/* Two constants and three numbers, of which nobody knows the order. */
static void test_tallies(void)
{
	struct trace t;
	struct trace_site *s = small_trace(&t, "F a:[i b:c");
	struct bound before = bound_of(&t);
	struct trace_group *g = &s->columns[0].groups[0], lossy = {0};
	if (trace_group_lossy(&lossy, &s->visits) != 0)
		abort();
	trace_group_free(g);
	*g = lossy;
	for (int64_t i = 0; i < 5; i++)
		if (tally_add(i < 4 ? &g->lossy->values : &g->lossy->elements, i < 2 ? VALUE_CONSTANT + i : i, 9) != 0)
			abort();
	struct bound b = bound_of(&t);
	ok(before.entries_most == COLUMN + TALLY_EXACT + 4 + 4 + 2 * HISTOGRAM_BINS, "arrays have two tallies");
	ok(b.entries == before.entries - 3 + 5 && b.entries_most == before.entries_most + 2,
	   "constants are counted as what they are");
	trace_free(&t);
}

static void test_bytes(void)
{
	static const int64_t array[8];
	struct trace t;
	uint64_t bytes[4];
	struct trace_site *s = small_trace(&t, "F a:[i b:c");
	for (uint64_t i = 0; i < 3; i++) {
		t.loss.threshold = 100 * i;
		bytes[i] = bound_of(&t).bytes_most;
	}
	ok(bytes[1] > bytes[0] && bytes[2] - bytes[1] == bytes[1] - bytes[0], "linear in the threshold");
	t.loss.threshold = UINT32_MAX;
	bytes[0] = bound_of(&t).bytes_most;
	t.loss.threshold = UINT64_MAX;
	ok(bound_of(&t).bytes_most == bytes[0], "no more than 2^32 - 1 tokens");
	t.loss.threshold = THRESHOLD;
	for (size_t i = 0; i < 4; i++) {
		bytes[i] = bound_of(&t).bytes_most;
		pool_intern(&t.vector_pool, array, (i + 1) * 2 * sizeof *array);
	}
	ok(bytes[1] > bytes[0] && bytes[3] - bytes[2] == bytes[1] - bytes[0], "linear in the longest array");
	pool_intern(&t.vector_pool, array, sizeof *array);
	bytes[0] = bound_of(&t).bytes_most;
	pool_intern(&t.strings, "abc", 3);
	bytes[1] = bound_of(&t).bytes_most;
	pool_intern(&t.strings, "abcdefghij", 10);
	ok(bytes[1] > bytes[0] + 3 && bound_of(&t).bytes_most - bytes[1] == bytes[1] - bytes[0] + 7, "names");
	bytes[0] = bound_of(&t).bytes_most;
	rankmap_free(&s->visits);
	s->visits = map_of_all(INT64_C(1) << 60, false);
	ok(bound_of(&t).bytes_most == bytes[0], "however many events");
	trace_free(&t);
}

/* Files of traces that gave up what they may are no larger than their bound, and no more is in them. */
static void test_file_sizes(void)
{
	size_t wrong = 0;
	for (uint32_t i = 0; i < 12; i++) {
		struct trace t;
		uint8_t *bytes;
		size_t n;
		sample_merged(&t, 2 + i % 3, i % 2 ? SAMPLE_PART : 0);
		t.loss = (struct trace_loss){.lossy = true, .structure = true, .threshold = i / 3};
		if (loss_finish(&t) < 0 || trace_encode(&t, NULL, 0, NULL, &bytes, &n) != 0)
			abort();
		struct bound b = bound_of(&t);
		wrong += b.exact != 0 || n > b.bytes_most || b.entries > b.entries_most || !b.entries;
		free(bytes);
		trace_free(&t);
	}
	ok(wrong == 0, "files keep their bound");
}

int main(void)
{
	test_none();
	test_counts();
	test_tallies();
	test_bytes();
	test_file_sizes();
	return tap_end();
}
