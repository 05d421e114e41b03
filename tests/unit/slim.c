/* SPDX-License-Identifier: BSD-3-Clause
 * slim - lossy traces that are too large: times become means, call paths are cut, and every count and sum stays
 */
#include "merge/slim.h"

#include "merge/path_cut.h"
#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"

enum { RANKS = 6, PATHS_STEP = SLIM_STEPS - 1, DEEP = 40 };

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
	size_t size = 0;
	sample_merged(&t, RANKS, 0);
	t.loss = (struct trace_loss){.lossy = true, .structure = true};
	struct times before = times_of(&t), now = before;
	bool same = true;
	for (unsigned step = 0; step < PATHS_STEP; step++) {
		struct times last = now;
		ok(slim_shrink(&t, step) == 1 && t.loss.slim == step + 1, "step %u", step);
		now = times_of(&t);
		same &= now.count == before.count && now.sum == before.sum && now.spread <= last.spread;
	}
	ok(same && before.spread > 0 && now.spread <= t.site_count * RANKS, "counts and sums stay, extremes go");
	ok(slim_shrink(&t, PATHS_STEP) == 0 && slim_shrink(&t, SLIM_STEPS) == 0 && t.loss.slim == PATHS_STEP,
	   "no further step where paths are short");
	ok(trace_check(&t, NULL) == 0 && trace_encode(&t, NULL, 0, NULL, &bytes, &size) == 0, "it is still a trace");
	size_t old = size;
	ok(slim_encode(&t, NULL, NULL, &bytes, &size) == 0 && size == old, "what is small enough stays as it is");
	free(bytes);
	trace_free(&t);
}

/* A path of DEEP frames like no other but in its `same` innermost ones. */
static uint32_t deep_path(struct trace *t, uint32_t number, uint32_t same)
{
	uint32_t node = 0;
	for (uint32_t i = DEEP; i-- > 0;)
		node = trace_node(t, (struct trace_node){node, 0, 1000 + (i < same ? i : (number + 1) * DEEP + i)});
	return node;
}

/* The frames of a path; *gap: what is at its outer end. */
static uint32_t frames_of(const struct trace *t, uint32_t node, const struct trace_node **gap)
{
	uint32_t n = 0;
	for (*gap = NULL; node; node = t->nodes[node].parent, n++)
		*gap = &t->nodes[node];
	return n - (*gap && (*gap)->module == UINT32_MAX);
}

/* Two sites of a function differ 12 frames further out; the others are of functions of their own. */
static void test_paths(void)
{
	struct trace t;
	const struct trace_node *gap;
	struct error error;
	sample_merged(&t, RANKS, 0);
	t.loss = (struct trace_loss){.lossy = true, .structure = true};
	uint32_t n = t.site_count, function = t.sites[0].function;
	uint32_t deep = trace_site(&t, function, deep_path(&t, n, 12), false);
	ok(deep == n && rankmap_union(&t.sites[n].visits, &t.sites[n].visits, &t.sites[0].visits) == 0,
	   "one more site");
	for (uint32_t i = 0; i < n; i++)
		t.sites[i].node = deep_path(&t, i, 12);
	if (merge_finish(&t, &error) != 0)
		abort();
	uint32_t nodes = t.node_count;
	ok(slim_shrink(&t, PATHS_STEP) == 1 && t.loss.slim == SLIM_STEPS && t.site_count == n + 1,
	   "paths are cut, and sites stay apart");
	uint32_t wrong = 0, cut = 0;
	for (uint32_t i = 0; i < t.site_count; i++) {
		uint32_t frames = frames_of(&t, t.sites[i].node, &gap);
		wrong += !gap || gap->module != UINT32_MAX || gap->offset != GAP_SMALL;
		wrong += frames != (t.sites[i].function == function ? 13 : 8);
		cut += t.sites[i].function == function;
	}
	ok(wrong == 0 && cut == 2 && t.node_count < nodes / 2, "8 frames, or as many as tell sites apart; and a gap");
	nodes = t.node_count;
	ok(slim_shrink(&t, PATHS_STEP) == 0 && t.node_count == nodes, "they are not cut again");
	trace_free(&t);
}

static struct trace whole;

static int shrink(void *context)
{
	(void)context;
	return slim_shrink(&whole, 0) < 0 ? -1 : 0;
}

static int cut(void *context)
{
	(void)context;
	return path_cut(&whole) < 0 ? -1 : 0;
}

int main(void)
{
	test_bytes();
	test_steps();
	test_paths();
	sample_merged(&whole, RANKS, 0);
	ok(fails_well(shrink, NULL), "no memory");
	for (uint32_t i = 0; i < whole.site_count; i++)
		whole.sites[i].node = deep_path(&whole, i, 0);
	ok(fails_well(cut, NULL), "no memory for paths");
	trace_free(&whole);
	return tap_end();
}
