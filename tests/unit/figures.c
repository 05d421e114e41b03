/* SPDX-License-Identifier: BSD-3-Clause
 * figures - unit test of trace/read/figures.c: which figures of a trace contradict each other, and which are rounded
 */
#include "trace/read/figures.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/model/unended.h"

static struct trace t;

static void set_times(struct histogram *h, uint64_t count, uint64_t sum, uint64_t min, uint64_t max)
{
	h->count = count;
	h->sum = sum;
	h->min = min;
	h->max = max;
}

static void even_and_odd(struct rankmap *m, int64_t even, int64_t odd)
{
	struct rankmap a, b;
	rankmap_free(m);
	if (rankmap_single(&a, 0, even, false) != 0 || rankmap_single(&b, 1, odd, false) != 0 ||
	    rankmap_union(m, &a, &b) != 0)
		abort();
	rankmap_free(&a);
	rankmap_free(&b);
}

/* Two ranks call MPI_Init once and MPI_Send twice. */
static void two_ranks(void)
{
	static const char *const schemas[] = {"MPI_Init", "MPI_Send count:i"};
	if (trace_init(&t) != 0)
		abort();
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t text = pool_intern(&t.strings, schemas[i], strlen(schemas[i]));
		if (trace_site(&t, trace_function(&t, text), 0, false) != i)
			abort();
		struct trace_edge *e = trace_edge(&t.sites[i], 1);
		struct histogram_bin *bins = calloc(2, sizeof *bins);
		if (!e || !bins)
			abort();
		set_times(&e->compute, 2, i ? 20000 : 10000, i ? 9000 : 4000, i ? 11000 : 6000);
		for (int k = 0; k < 2; k++)
			bins[k] = (struct histogram_bin){.count = 1, .max = 1 << 20, .sum = e->compute.sum / 2};
		e->compute.bins = bins;
		e->compute.bin_count = 2;
	}
	even_and_odd(&t.sites[0].visits, 1, 1);
	even_and_odd(&t.sites[1].visits, 2, 2);
	even_and_odd(&t.events, 3, 3);
	set_times(&t.sites[0].communicate, 2, 1000, 400, 600);
	set_times(&t.sites[1].communicate, 4, 8000, 1000, 3000);
	t.sites[0].least = 400;
	t.sites[0].most = 600;
	t.sites[1].least = 3000;
	t.sites[1].most = 5000;
	t.total[TOTAL_COMPUTE] = (struct trace_total){.count = 2, .sum = 30000, .min = 13000, .max = 17000};
	t.total[TOTAL_ELAPSED] = (struct trace_total){.count = 2, .sum = 38000, .min = 18000, .max = 20000};
	t.total[TOTAL_OVERHEAD] = (struct trace_total){.count = 2, .sum = 300, .min = 100, .max = 200};
}

/* What is said of the trace contains `word`; NULL: nothing is. */
static bool says(const char *word)
{
	struct error error = {""};
	int rv = figures_check(&t, &error);
	return word ? rv == -1 && strstr(error.text, word) : rv == 0 && !error.text[0];
}

static void one_changed(void)
{
	struct trace_site *send = &t.sites[1];
	struct histogram *in = &send->communicate, *first = &t.sites[0].edges[0].compute,
			 *behind = &send->edges[0].compute;
	struct trace_total *compute = &t.total[TOTAL_COMPUTE], *elapsed = &t.total[TOTAL_ELAPSED],
			   *overhead = &t.total[TOTAL_OVERHEAD];
	const struct {
		uint64_t *what, value;
		const char *word;
	} change[] = {
		{&in->sum, 13000, "site 1: the mean time in it, 3250 ns, is not between 1000 and 3000"},
		{&in->min, 2100, "site 1: the mean time in it, 2000 ns, is not between 2100 and 3000"},
		{&in->min, 2030, NULL},
		{&in->max, 9000, "site 1: the longest time in it, 9000 ns, is more than all, 8000"},
		{&in->max, 6000, "site 1: a call took 6000 ns, but no rank was there for more than 5000"},
		{&in->max, 1900, "not between 1000 and 1900"},
		{&in->max, 1990, NULL},
		{&in->count, 5, "site 1: 5 times of 4 visits"},
		{&send->least, 4100, "site 1: the mean of its ranks, 4000 ns, is not between 4100 and 5000"},
		{&send->least, 4050, NULL},
		{&send->most, 3900, "not between 3000 and 3900"},
		{&t.sites[0].most, 300, "site 0: the mean of its ranks, 500 ns"},
		{&first->bins[1].count, 2, "site 0: the bins of the time behind it have 3 of 2 values"},
		{&behind->bins[0].count, 0, "site 1: the bins of the time behind it have 1 of 2 values"},
		{&behind->bins[1].sum, 1 << 20, "site 1: the bins of the time behind it have 1058576 of 20000 ns"},
		{&behind->bins[1].sum, 30000, NULL},
		{&behind->max, 9500, "site 1: the mean time behind it, 10000 ns"},
		{&behind->sum, 21000, "all ranks computed for 30000 ns, but 31000 ns are between sites"},
		{&behind->sum, 20200, NULL},
		{&behind->sum, 18000, NULL},
		{&compute->min, 16000, "the mean computation of the ranks, 15000 ns, is not between 16000 and 17000"},
		{&compute->sum, 31000, "all ranks took 38000 ns, but computation and calls are 39000 ns"},
		{&compute->sum, 29000, "all ranks took 38000 ns, but computation and calls are 37000 ns"},
		{&compute->max, 21000, "a rank computed for 21000 ns, but none took more than 20000"},
		{&elapsed->max, 18500, "the mean time of the ranks, 19000 ns, is not between 18000 and 18500"},
		{&elapsed->sum, 39000, "all ranks took 39000 ns"},
		{&elapsed->sum, 38300, NULL},
		{&overhead->max, 120, "the mean overhead of the ranks, 150 ns, is not between 100 and 120"},
		{&overhead->max, 140, NULL},
	};
	for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
		uint64_t old = *change[i].what;
		*change[i].what = change[i].value;
		ok(says(change[i].word), "%s", change[i].word ? change[i].word : "what may come from rounding");
		*change[i].what = old;
	}
}

/* Who had the extremes was there, and who was killed was either in a call or in none. */
static void ranks(void)
{
	struct trace_site *send = &t.sites[1];
	struct rankmap one;
	send->communicate.max_rank = 2;
	ok(says("site 1: ranks 0 and 2 have the least and the most time in it, but were not there"), "who was there");
	send->communicate.max_rank = 0;
	send->least_rank = 3;
	ok(says("site 1: ranks 3 and 0 have the least and the most time, but"), "and for how long in all");
	send->least_rank = 0;
	t.total[TOTAL_COMPUTE].max_rank = 7;
	ok(says("ranks 0 and 7 have the least and the most computation, but are not in the trace"), "who computed");
	t.total[TOTAL_COMPUTE].max_rank = 0;
	if (unended_add(&t, 1, true, 1, 500, NULL) != 0)
		abort();
	ok(says("rank 1: is it in a call that did not end, or not?"), "a call that did not end, of a rank in none");
	if (rankmap_single(&one, 1, 1, true) != 0)
		abort();
	t.in_flight = one;
	ok(says(NULL), "and of one that is in it");
	t.unended[0].max = 400;
	t.unended[0].min = 300;
	ok(says("site 1: the mean of what did not end is not between 300 and 400"), "for how long");
	unended_free(&t);
	rankmap_free(&t.in_flight);
	rankmap_free(&send->visits);
	if (rankmap_single(&one, 0, 4, false) != 0 || rankmap_single(&send->visits, 1, 0, false) != 0 ||
	    rankmap_union(&send->visits, &send->visits, &one) != 0)
		abort();
	rankmap_free(&one);
	send->least = send->most = 8000;
	ok(says(NULL), "a rank that never came back has no share");
	send->least = 3000;
	send->most = 5000;
	even_and_odd(&send->visits, 2, 2);
}

/* What is not known is not compared. */
static void unknown(void)
{
	struct trace_total none = {.count = 0, .sum = 5, .min = 9, .max = 1};
	t.sites[1].communicate.count = 3;
	t.sites[1].least = 9000;
	ok(says(NULL), "a site that lacks a time: nothing is known of its ranks");
	t.sites[1].least = 3000;
	t.sites[1].communicate.count = 4;
	t.sites[1].edges[0].compute.bin_count = 0;
	ok(says(NULL), "a time without bins");
	t.sites[1].edges[0].compute.bin_count = 2;
	for (int i = 0; i < TRACE_TOTALS; i++)
		t.total[i] = none;
	ok(says(NULL), "totals of no rank");
}

int main(void)
{
	static const struct {
		int64_t events[2], lost[2];
		const char *word;
	} calls[] = {
		{{3, 3}, {0, 0}, NULL},
		{{3, 4}, {0, 0}, "the sites have 6 visits, the ranks made 7 calls"},
		{{3, 2}, {0, 0}, "the sites have 6 visits, the ranks made 5 calls"},
		{{3, 2}, {0, 1}, NULL},
		{{0, 0}, {2, 3}, "the sites have 6 visits, the ranks made 5 calls"},
		{{3, 2}, {7, 7}, NULL},
	};
	if (trace_init(&t) != 0)
		abort();
	ok(says(NULL), "a trace of nothing");
	trace_free(&t);
	two_ranks();
	one_changed();
	ok(says(NULL), "as it was made");
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		even_and_odd(&t.events, calls[i].events[0], calls[i].events[1]);
		even_and_odd(&t.lost, calls[i].lost[0], calls[i].lost[1]);
		ok(says(calls[i].word), "%s", calls[i].word ? calls[i].word : "calls that are enough");
	}
	ranks();
	unknown();
	trace_free(&t);
	return tap_end();
}
