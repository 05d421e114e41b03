/* SPDX-License-Identifier: BSD-3-Clause
 * classes_file - the chunk CLAS: what is in it, what is refused, damage
 */
#include "trace/file/classes_file.h"

#include "tests/unit/chunk.h"
#include "trace/model/classes.h"

/* ---- what is refused ---- */

static void test_refused(int how, const char *what)
{
	struct chunk_test x;
	chunk_test_begin(&x, "CLAS", 3, SAMPLE_CLASSES | how);
	ok(chunk_look(&x, "", 0), "%s: refused: nothing", what);
	ok(chunk_numbers(&x, NUMBERS(1, 1 << 20, 0, 2, 5, 0, 0)), "%s: refused: a site that there is not", what);
	ok(chunk_numbers(&x, NUMBERS(1, 0, 1 << 20, 2, 5, 0, 0)), "%s: refused: an edge that there is not", what);
	ok(chunk_numbers(&x, NUMBERS(1, 0, 0, 2 << 20, 5, 0, 0)), "%s: refused: more classes than there are keys",
	   what);
	ok(chunk_numbers(&x, NUMBERS(1, 0, 0, 2, CLASS_KEYS, 0, 0)), "%s: refused: a key that is none", what);
	ok(chunk_numbers(&x, NUMBERS(1, 0, 0, 2, 5, 1, 0, 1 << 20, 1, 0, 10, 0)),
	   "%s: refused: a pattern that there is not", what);
	ok(chunk_numbers(&x, NUMBERS(1, 0, 0, 2, 5, 1, 0, 0, 0)), "%s: refused: a group without values", what);
	ok(chunk_numbers(&x, NUMBERS(1, 0, 0, 2, 5, 1, 0, 0, 1, 0, 0, 0)), "%s: refused: the rest as a key", what);
	chunk_damage(&x, what);
	ok(fails_well(chunk_decode_again, &x), "%s: no memory", what);
	chunk_test_end(&x);
}

/* ---- what is in it ---- */

/* The edge that has most computations. */
static const struct trace_edge *largest_edge(const struct trace *t)
{
	const struct trace_edge *best = NULL;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			if (!best || t->sites[i].edges[k].compute.count > best->compute.count)
				best = &t->sites[i].edges[k];
	return best;
}

static bool has_key(const struct trace_group *g, uint32_t rank, uint64_t ns)
{
	int64_t key;
	uint32_t wanted = class_key(ns);
	for (uint32_t i = 0; i < g->count; i++)
		if (rankmap_get(&g->dict[i].start, rank, &key) && key + 4 >= wanted && key <= wanted + 4)
			return true;
	return false;
}

static void test_keys(void)
{
	struct trace t;
	sample_merged(&t, 4, SAMPLE_CLASSES);
	const struct trace_edge *e = largest_edge(&t);
	const struct trace_classes *c = e->classes;
	uint64_t count = 0;
	int64_t value;
	ok(c && c->finished && c->column.count == 2 && rankmap_size(trace_group_ranks(&c->column.groups[0])) == 3,
	   "three ranks have one pattern, a fourth has another");
	for (uint32_t i = 0; c && i < c->count; i++)
		count += c->each[i].compute.count;
	ok(count == e->compute.count, "all computations are in a class");
	const struct trace_group *g = &c->column.groups[0];
	ok(g->count == 2 && has_key(g, 0, 10000000) && has_key(g, 0, 30000000) && has_key(g, 1, 40000000) &&
	           has_key(g, 1, 120000000),
	   "each fifth takes longer, and all of rank 1");
	ok(rankmap_empty(&c->mean) || (rankmap_get(&c->mean, 0, &value) && value >= -1 && value <= 1),
	   "the mean of rank 0 is about what is expected");
	trace_free(&t);
}

static void test_brief(void)
{
	struct trace t;
	bool none = true;
	sample_merged(&t, 4, SAMPLE_CLASSES | SAMPLE_BRIEF);
	for (uint32_t i = 0; i < t.site_count; i++)
		for (uint32_t k = 0; k < t.sites[i].edge_count; k++)
			none &= !t.sites[i].edges[k].classes;
	ok(none && largest_edge(&t)->compute.max > 20000, "the same in some us: it does not matter");
	trace_free(&t);
}

static void test_counts(int how, const char *what)
{
	struct trace t;
	sample_merged(&t, 4, SAMPLE_CLASSES | SAMPLE_DETAIL | how);
	const struct trace_edge *e = largest_edge(&t);
	const struct trace_classes *c = e->classes;
	uint64_t counted = 0, sum = 0;
	for (uint32_t i = 0; c && i < c->count; i++) {
		const struct histogram *h = c->each[i].counts;
		counted += h ? h->count : 0;
		sum += h ? h->sum : 0;
	}
	ok(counted > 0 && counted <= e->counts[0].count && sum / counted - 1000000 < 100,
	   "%s: what was counted is with the classes", what);
	trace_free(&t);
}

int main(void)
{
	test_keys();
	test_brief();
	test_counts(0, "whole");
	test_refused(SAMPLE_DETAIL, "final, counted");
	test_refused(SAMPLE_PART | SAMPLE_DETAIL, "a part, counted");
	test_refused(0, "final");
	test_refused(SAMPLE_PART, "a part");
	return tap_end();
}
