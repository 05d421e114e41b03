/* SPDX-License-Identifier: BSD-3-Clause
 * slim - lossy traces that are too large: times become means, and every count and sum stays
 */
#include "merge/slim.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"

enum { RANKS = 6 };

struct times {
	uint64_t count, sum, spread; /* of the edges' times; how far the extremes are apart, together */
};

static struct times times_of(const struct trace *t)
{
	struct times all = {0, 0, 0};
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++) {
			const struct histogram *h = &t->sites[i].edges[k].compute;
			all.count += h->count;
			all.sum += h->sum;
			all.spread += h->count > 1 ? h->max - h->min : 0;
		}
	return all;
}

static void test_bytes(void)
{
	struct trace t;
	sample_merged(&t, RANKS, SAMPLE_PART);
	t.loss = (struct trace_loss){.lossy = true, .structure = true, .threshold = 30};
	ok(slim_bytes(&t) == SIZE_MAX, "what is to be merged may have any size");
	trace_free(&t);
	sample_merged(&t, RANKS, 0);
	size_t most = 16384 + (size_t)40 * t.site_count;
	ok(slim_bytes(&t) == SIZE_MAX, "so may what is not lossy");
	t.loss = (struct trace_loss){.lossy = true, .threshold = 30};
	ok(slim_bytes(&t) == SIZE_MAX, "and what keeps its structure");
	t.loss.structure = true;
	ok(slim_bytes(&t) == most, "16 KiB, and 40 bytes a site");
	t.loss.threshold = 0;
	ok(slim_bytes(&t) == most, "the same below lossy:30");
	t.loss.threshold = 300;
	ok(slim_bytes(&t) == 10 * most, "more above it");
	t.loss.threshold = UINT64_MAX - 1;
	ok(slim_bytes(&t) == SIZE_MAX, "no limit is too large");
	trace_free(&t);
}

static void test_steps(void)
{
	struct trace t;
	uint8_t *bytes = NULL;
	size_t size;
	sample_merged(&t, RANKS, 0);
	t.loss = (struct trace_loss){.lossy = true, .structure = true};
	struct times before = times_of(&t), now = before;
	bool same = true;
	for (unsigned step = 0; step < SLIM_STEPS; step++) {
		struct times last = now;
		ok(slim_shrink(&t, step) == 1 && t.loss.slim == step + 1, "step %u", step);
		now = times_of(&t);
		same &= now.count == before.count && now.sum == before.sum && now.spread <= last.spread;
	}
	ok(same && before.spread > 0 && now.spread <= t.site_count * RANKS, "counts and sums stay, extremes go");
	ok(slim_shrink(&t, SLIM_STEPS) == 0 && t.loss.slim == SLIM_STEPS, "no further step");
	ok(trace_check(&t, NULL) == 0 && trace_encode(&t, NULL, 0, NULL, &bytes, &size) == 0, "it is still a trace");
	size_t old = size;
	ok(slim_encode(&t, NULL, NULL, &bytes, &size) == 0 && size == old, "what is small enough stays as it is");
	free(bytes);
	trace_free(&t);
}

static struct trace whole;

static int shrink(void *context)
{
	(void)context;
	return slim_shrink(&whole, 0) < 0 ? -1 : 0;
}

int main(void)
{
	test_bytes();
	test_steps();
	sample_merged(&whole, RANKS, 0);
	ok(fails_well(shrink, NULL), "no memory");
	trace_free(&whole);
	return tap_end();
}
