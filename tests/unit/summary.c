/* SPDX-License-Identifier: BSD-3-Clause
 * summary - unit test of trace/read/summary.c: the numbers of a job that is made up, and of one that says nothing
 */
#include "trace/read/summary.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"

enum { INIT, SEND, PUT, READ, WRITE_BEGIN, WRITE, SITES, RANKS = 3 };
static struct trace t;

static void one_site(uint32_t site, enum mpi_number f, uint64_t count, uint64_t sum)
{
	const char *schema = mpi_functions[f].schema;
	uint32_t text = pool_intern(&t.strings, schema, strlen(schema));
	if (trace_site(&t, trace_function(&t, text), 0, false) != site)
		abort();
	t.sites[site].communicate.count = count;
	t.sites[site].communicate.sum = sum;
}

static void made_up(void)
{
	if (trace_init(&t) != 0)
		abort();
	one_site(INIT, FN_MPI_Init, 2, 1000);
	one_site(SEND, FN_MPI_Send, 10, 20);
	one_site(PUT, FN_MPI_Put, 5, 300);
	one_site(READ, FN_MPI_File_read, 3, 4000);
	one_site(WRITE_BEGIN, FN_MPI_File_write_all_begin, 7, 50000);
	one_site(WRITE, FN_MPI_File_write, 1, 600000);
	t.size = 8;
	struct trace_edge *e = trace_edge(&t.sites[SEND], PUT);
	if (!e || rankmap_single(&t.events, 4, 28, false) != 0 || rankmap_single(&t.lost, 4, 12, false) != 0 ||
	    rankmap_single(&t.first, 4, INIT, true) != 0 || rankmap_single(&t.sites[SEND].visits, 4, 10, false) != 0)
		abort();
	e->compute.count = 17;
	e->compute.sum = 8000;
}

static void test_calls(void)
{
	struct activity sites[SITES] = {
		[SEND] = {.messages = 9, .message_bytes = 70, .unsized = 2, .bytes = 70},
		[PUT] = {.unsized = 1, .bytes = 400},
		[READ] = {.unsized = 1, .bytes = 64},
		[WRITE_BEGIN] = {.bytes = 1000},
		[WRITE] = {.bytes = 5},
	};
	struct site_activity v = {sites, {[0] = 1, [4] = 5, [ACTIVITY_SIZES - 1] = 3}};
	struct summary s;
	memset(&s, 0x55, sizeof s);
	ok(summary_make(&s, &t, &v) == 0 && s.ranks == 1 && s.events == 28 && s.lost == 12, "a rank, and its events");
	ok(summary_lost_share(&s) == 0.3, "12 of 40 calls were only counted");
	ok(s.messages == 9 && s.bytes == 70 && s.unsized == 2, "messages");
	ok(memcmp(s.sizes, v.sizes, sizeof s.sizes) == 0 && v.sites == sites, "their sizes");
	ok(s.one_sided == 5 && s.one_sided_bytes == 400 && s.one_sided_unsized == 1, "one-sided");
	ok(s.read.calls == 3 && s.read.bytes == 64 && s.read.unsized == 1 && s.read.timed_bytes == 64 &&
	           s.read.ns == 4000,
	   "what was read");
	ok(s.written.calls == 8 && s.written.bytes == 1005 && s.written.unsized == 0, "what was written");
	ok(s.mpi_ns == 654320, "all calls but MPI_Init");
	ok(s.compute_ns == 8000 && s.unplaced_ns == 0 && s.elapsed_ns == 662320 && s.run_ns == 0,
	   "without totals: the edges, and the sum");
	ok(s.load_balance == -1 && s.communication_efficiency == -1 && s.parallel_efficiency == -1 &&
	           s.overhead_ns == 0,
	   "efficiencies are not known");
}

static void test_totals(void)
{
	struct activity sites[SITES] = {{0}};
	struct site_activity v = {sites, {0}};
	struct summary s;
	t.total[TOTAL_COMPUTE] =
		(struct trace_total){.count = 4, .sum = 12000, .min = 2000, .max = 4000, .min_rank = 3, .max_rank = 1};
	t.total[TOTAL_ELAPSED] = (struct trace_total){.count = 4, .sum = 30000, .min = 7000, .max = 8000};
	t.total[TOTAL_OVERHEAD] =
		(struct trace_total){.count = 4, .sum = 50, .min = 5, .max = 20, .min_rank = 2, .max_rank = 6};
	ok(summary_make(&s, &t, &v) == 0 && s.compute_ns == 12000 && s.unplaced_ns == 4000 && s.elapsed_ns == 30000 &&
	           s.run_ns == 8000,
	   "with totals, these");
	ok(s.compute_min_ns == 2000 && s.compute_min_rank == 3 && s.compute_max_ns == 4000 && s.compute_max_rank == 1,
	   "the least and the most computation");
	ok(s.overhead_ns == 50 && s.overhead_min_ns == 5 && s.overhead_min_rank == 2 && s.overhead_max_ns == 20 &&
	           s.overhead_max_rank == 6,
	   "overhead");
	ok(s.load_balance == 0.75 && s.communication_efficiency == 0.5 && s.parallel_efficiency == 0.375,
	   "efficiencies");
	t.total[TOTAL_COMPUTE].max = 0;
	ok(summary_make(&s, &t, &v) == 0 && s.load_balance == -1 && s.parallel_efficiency == -1, "no computation");
}

/* 28 events of one rank: one is the first, 17 have an edge, so that 10 lack one. */
static void test_unplaced(void)
{
	static const struct {
		uint64_t count, total, compute, unplaced;
		double mean;
	} rows[] = {
		{0, 99999, 8000, 0, 0},         {1, 7000, 7000, 0, 0}, {1, 8000, 8000, 0, 0},
		{1, 8040, 8040, 40, 4},         {1, 8039, 8039, 0, 0}, {1, 9000, 9000, 1000, 100},
		{1, 18000, 18000, 10000, 1000},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t unplaced = 5;
		t.total[TOTAL_COMPUTE] = (struct trace_total){.count = rows[i].count, .sum = rows[i].total};
		uint64_t compute = summary_compute(&t, &unplaced);
		ok(compute == rows[i].compute && unplaced == rows[i].unplaced &&
		           summary_unplaced_mean(&t) == rows[i].mean,
		   "computation of %d, of which %d has no edge", (int)compute, (int)unplaced);
	}
	t.sites[SEND].edges[0].compute.count = 27;
	ok(summary_unplaced_mean(&t) == 0, "all events have an edge");
	t.sites[SEND].edges[0].compute.count = 100;
	ok(summary_unplaced_mean(&t) == 0, "more edges than events");
}

static void test_all(void)
{
	ok(summary_all(7, 2, 0) == 7 && summary_all(7, 2, 3) == 7 && summary_all(7, 2, 4) == 8 &&
	           summary_all(1, UINT64_MAX, 2) == UINT64_MAX,
	   "what shares are of: as long as the job ran, but no less than its parts");
}

static void test_imbalance(void)
{
	struct trace_site s = {.most = 600, .communicate = {.sum = 1200}};
	struct rankmap a, b;
	uint64_t ranks = 7;
	ok(summary_imbalance(&s, &ranks) == 0 && ranks == 0, "a site of no rank");
	if (rankmap_single(&a, 2, 5, false) != 0 || rankmap_single(&b, 9, 5, false) != 0 ||
	    rankmap_union(&s.visits, &a, &b) != 0)
		abort();
	ok(summary_imbalance(&s, &ranks) == 1 && ranks == 2, "two ranks that share it evenly");
	s.most = 900;
	ok(summary_imbalance(&s, &ranks) == 1.5, "one has three quarters");
	s.communicate.sum = 0;
	ok(summary_imbalance(&s, &ranks) == 0 && ranks == 2, "no time at all");
	rankmap_free(&a);
	rankmap_free(&s.visits);
	s.communicate.sum = 900;
	if (rankmap_single(&a, 2, 0, false) != 0 || rankmap_union(&s.visits, &a, &b) != 0)
		abort();
	ok(summary_imbalance(&s, &ranks) == 1 && ranks == 1, "a rank that never came back has no share");
	rankmap_free(&a);
	rankmap_free(&b);
	rankmap_free(&s.visits);
}

static int sample_summary(void *context)
{
	struct summary s;
	return summary_make(&s, context, NULL);
}

int main(void)
{
	struct summary none = {.ranks = 0};
	ok(summary_lost_share(&none) == 0, "no calls, none of them lost");
	if (trace_init(&t) != 0)
		abort();
	ok(summary_make(&none, &t, NULL) == 0 && none.ranks == 0 && none.elapsed_ns == 0 && none.load_balance == -1 &&
	           summary_unplaced_mean(&t) == 0,
	   "a trace of nothing");
	trace_free(&t);
	made_up();
	test_calls();
	test_totals();
	test_unplaced();
	trace_free(&t);
	test_all();
	test_imbalance();
	sample_merged(&t, RANKS, 0);
	/* each rank sends and receives twelve times, gathers three times, and calls something unknown four times */
	ok(summary_make(&none, &t, NULL) == 0 && none.ranks == RANKS && none.events == 93 && none.messages == 36 &&
	           none.lost == 0 && none.one_sided + none.read.calls + none.written.calls == 0,
	   "a trace of a few ranks");
	ok(fails_well(sample_summary, &t), "no memory: nothing leaks");
	trace_free(&t);
	return tap_end();
}
