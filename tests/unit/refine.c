/* SPDX-License-Identifier: BSD-3-Clause
 * refine - ranks of a grid become one group, with the same events; what has nothing in common is left alone
 */
#include "merge/refine.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"
#include "trace/read/walk.h"

enum { SIDE = 3, RANKS = SIDE * SIDE };

/* A hash of all that a rank did. */
static uint64_t events_of(const struct trace *t, uint32_t rank)
{
	struct walk *w;
	struct event e;
	uint64_t h = rank;
	if (walk_begin(&w, t, rank, NULL) != 0)
		return 0;
	int rv;
	while ((rv = walk_next(w, &e, NULL)) == 0) {
		h = hash_mix(h, e.site);
		for (size_t k = 0; k < e.schema->count; k++)
			h = hash_mix(h, (uint64_t)e.values[k]);
	}
	walk_end(w);
	return rv == 1 ? h : 0;
}

/* A grid of ranks without the last one, each of which sends to its neighbours and receives from them `turns` times;
 * MPI_PROC_NULL is behind the border. odd: ranks have patterns that are nothing alike. */
static void grid(struct trace *part, int turns, bool odd)
{
	struct trace all, one;
	if (trace_init(&all) != 0)
		abort();
	for (uint32_t rank = 0; rank < RANKS - 1; rank++) {
		struct arena a;
		struct sample x;
		if (arena_create(&a, NULL, UINT64_C(1) << 22, NULL) != 0)
			abort();
		sample_start(&x, &a, rank, RANKS, 0);
		int64_t nobody = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_PROC_NULL", 13);
		int64_t to[4] = {rank >= SIDE ? -SIDE : nobody, rank % SIDE ? -1 : nobody,
		                 rank % SIDE < SIDE - 1 ? 1 : nobody, rank < RANKS - SIDE ? SIDE : nobody};
		uint64_t chance = rank + 1;
		for (int i = 0; i < 4 * turns; i++) {
			chance = hash_mix(chance, 7);
			int64_t peer = odd ? (int64_t)(chance % 11) : to[i % 4];
			sample_event(&x, i % 2, (int64_t[]){5, nobody, peer, 0, nobody});
		}
		columns_free(&x.columns);
		if (trace_extract(&one, &a, NULL) != 0 || merge_into(&all, &one, NULL) != 0)
			abort();
		trace_free(&one);
		arena_close(&a);
	}
	if (merge_finish(&all, NULL) != 0)
		abort();
	*part = all;
}

static uint32_t groups_of(const struct trace *t)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].column_count; k++)
			n += t->sites[i].columns[k].count;
	return n;
}

static bool same_events(const struct trace *t, const uint64_t *before)
{
	bool same = trace_check(t, NULL) == 0;
	for (uint32_t rank = 0; rank < RANKS - 1; rank++)
		same &= events_of(t, rank) == before[rank];
	return same;
}

static int refine_all(struct trace *t)
{
	int changed = 0;
	for (uint32_t i = 0; i < t->site_count && changed >= 0; i++) {
		int rv = refine_site(t, &t->sites[i]);
		changed = rv < 0 ? -1 : changed + rv;
	}
	return changed;
}

static void test_grid(int turns, bool odd, bool expected)
{
	struct trace t;
	uint64_t before[RANKS];
	grid(&t, turns, odd);
	uint32_t groups = groups_of(&t);
	for (uint32_t rank = 0; rank < RANKS - 1; rank++)
		before[rank] = events_of(&t, rank);
	int changed = refine_all(&t);
	ok((changed > 0) == expected && (groups_of(&t) < groups) == expected, "%d turns%s: %u groups become %u", turns,
	   odd ? " of chance" : "", groups, groups_of(&t));
	ok(same_events(&t, before), "with the same events");
	ok(refine_all(&t) == 0, "once is enough");
	trace_free(&t);
}

static struct trace whole;
static uint64_t whole_events[RANKS];

static int refine_copy(void *context)
{
	struct trace t;
	long left = fail_left;
	(void)context;
	fail_left = 0; /* the copy is not what is tested */
	if (trace_init(&t) != 0 || merge_into(&t, &whole, NULL) != 0)
		abort();
	fail_left = left;
	int rv = refine_all(&t);
	left = fail_left;
	bool happened = fail_happened;
	fail_left = 0;
	fail_happened = false;
	if (!same_events(&t, whole_events))
		abort();
	fail_happened = happened;
	fail_left = left;
	trace_free(&t);
	return rv < 0 ? -1 : 0;
}

int main(void)
{
	test_grid(6, false, true);
	test_grid(3000, false, true);
	test_grid(300, true, false);
	grid(&whole, 20, false);
	for (uint32_t rank = 0; rank < RANKS - 1; rank++)
		whole_events[rank] = events_of(&whole, rank);
	ok(fails_well(refine_copy, NULL), "without memory the events are the same");
	trace_free(&whole);
	return tap_end();
}
