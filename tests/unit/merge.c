/* SPDX-License-Identifier: BSD-3-Clause
 * merge - what cannot be merged; no order matters; memory runs out at each step
 */
#include "merge/merge.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"

enum { RANKS = 5 };
static struct trace part[RANKS];

struct wanted {
	uint8_t *bytes;
	size_t n;
	uint32_t order[RANKS];
	bool take, packing;
};

/* Merges all parts, in this order. Returns 0 if the bytes are the ones that are wanted. */
static int merge_all(void *context)
{
	struct wanted *w = context;
	struct trace all, canonical, copy;
	struct error error = {""};
	uint8_t *bytes;
	size_t n;
	int rv = trace_init(&all);
	all.packing = w->packing;
	for (uint32_t i = 0; i < RANKS && rv == 0; i++) {
		rv = trace_init(&copy);
		copy.packing = w->packing;
		if (rv == 0 && !w->take)
			rv = merge_into(&all, &part[w->order[i]], &error);
		else if (rv == 0 && (rv = merge_into(&copy, &part[w->order[i]], &error)) == 0)
			rv = merge_take(&all, &copy, &error);
		trace_free(&copy);
	}
	if (rv == 0) {
		rv = merge_canonical(&canonical, &all, &error);
		if (rv == 0 && (rv = trace_encode(&canonical, NULL, 0, NULL, &bytes, &n)) == 0) {
			rv = n == w->n && memcmp(bytes, w->bytes, n) == 0 ? 0 : -1;
			free(bytes);
		}
		trace_free(&canonical);
	}
	trace_free(&all);
	return rv;
}

static int finish_part(void *context)
{
	struct trace t;
	const bool *packing = context;
	int rv = trace_init(&t);
	t.packing = *packing;
	rv = rv || merge_into(&t, &part[0], NULL) || merge_into(&t, &part[3], NULL) || merge_finish(&t, NULL);
	trace_free(&t);
	return rv ? -1 : 0;
}

static void test_kind(int how, const char *what)
{
	struct wanted w = {.order = {0, 1, 2, 3, 4}};
	size_t wrong = 0;
	w.bytes = sample_bytes(RANKS, how, &w.n);
	for (uint32_t i = 0; i < RANKS; i++)
		sample_trace(&part[i], i, RANKS, how);
	for (int i = 0; i < 40; i++) {
		uint32_t a = (uint32_t)random_below(RANKS), b = (uint32_t)random_below(RANKS), saved = w.order[a];
		w.order[a] = w.order[b];
		w.order[b] = saved;
		w.take = i % 2;
		w.packing = i / 2 % 2;
		wrong += merge_all(&w) != 0;
	}
	ok(wrong == 0, "%s: any order of merging gives the same bytes", what);
	for (int packing = 0; packing < 2; packing++) {
		w.packing = packing;
		ok(fails_well(merge_all, &w), "%s%s: no memory to merge", what, packing ? ", packed" : "");
		ok(fails_well(finish_part, &w.packing), "%s%s: no memory to finish a part", what,
		   packing ? ", packed" : "");
	}
	struct trace all;
	struct error error = {""};
	if (trace_init(&all) != 0 || merge_into(&all, &part[0], NULL) != 0)
		abort();
	ok(merge_into(&all, &part[0], &error) == -1 && error.text[0], "%s: a rank twice: %s", what, error.text);
	trace_free(&all);
	for (uint32_t i = 0; i < RANKS; i++)
		trace_free(&part[i]);
	free(w.bytes);
}

int main(void)
{
	random_seed(8);
	test_kind(0, "with their order");
	test_kind(SAMPLE_LOSSY | SAMPLE_KILLED | SAMPLE_DETAIL, "without, counters, all times");
	test_kind(SAMPLE_PREFIX, "without, but for the first half");
	test_kind(SAMPLE_CLASSES, "classes of computations");
	test_kind(SAMPLE_CLASSES | SAMPLE_DETAIL, "classes that were counted");
	return tap_end();
}
