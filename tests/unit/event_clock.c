/* SPDX-License-Identifier: BSD-3-Clause
 * event_clock - unit test of trace/read/event_clock.c: times as recorded, drawn from histograms, and made to fit totals
 */
#include "trace/read/event_clock.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/flow_code.h"
#include "trace/model/timing.h"

enum { START, SEND, RANKS = 2, EVENTS = 3 };

/* Two values, whose mean all others draw: that of the first visit of rank 0 is `a`. */
static struct histogram two(uint64_t a, uint64_t b, uint32_t b_rank, uint64_t b_visit)
{
	return (struct histogram){.count = 2,
	                          .sum = a + b,
	                          .min = a < b ? a : b,
	                          .max = a < b ? b : a,
	                          .min_rank = a < b ? 0 : b_rank,
	                          .max_rank = a < b ? b_rank : 0,
	                          .min_visit = a < b ? 0 : b_visit,
	                          .max_visit = a < b ? b_visit : 0};
}

/* Rank 0 was in MPI_Init for 1000 ns, rank 1 for 300. A send takes 20 ns on average. */
static void make_clocked(struct trace *t)
{
	if (trace_init(t) != 0)
		abort();
	t->size = RANKS;
	rankmap_single(&t->events, 0, 2 * EVENTS, false);
	static const char *const texts[] = {"MPI_Init", "MPI_Send count:i"};
	for (uint32_t i = START; i <= SEND; i++) {
		uint32_t text = pool_intern(&t->strings, texts[i], strlen(texts[i]));
		if (trace_site(t, trace_function(t, text), 0, false) != i || !trace_edge(&t->sites[i], SEND))
			abort();
	}
	t->sites[START].communicate = two(1000, 300, 1, 0);
	t->sites[SEND].communicate = two(10, 30, 0, 1);
	trace_edge(&t->sites[START], SEND)->compute = two(40, 60, 1, 0);
	trace_edge(&t->sites[SEND], SEND)->compute = two(5, 7, 1, 0);
}

static void give_flow(struct trace_timing *r, uint32_t from, uint32_t to, uint8_t ticks)
{
	uint8_t *bytes = malloc(1);
	*bytes = ticks;
	if (timing_add_flow_take(r, &(struct trace_flow){from, to, 1, bytes, 1}) != 0)
		abort();
}

/* The first two events of rank 0 have times: 50 ticks, 10 between, 7. A tick is 2 ns. Those of rank 1, none. */
static void give_times(struct trace *t)
{
	struct trace_timing head = {.rank = 0, .digits = FLOW_EXACT, .events = 2, .ticks = 1, .ns = 2, .start = 5000};
	struct trace_timing *r = timing_add(t, &head);
	give_flow(r, START, TIMING_CALLS, 50);
	give_flow(r, START, SEND, 10);
	give_flow(r, SEND, TIMING_CALLS, 7);
	timing_add(t, &(struct trace_timing){.rank = 1, .digits = FLOW_EXACT, .ticks = 1, .ns = 1, .start = 4900});
}

/* What passes between recorded events is the application's but for the tracer's time; what is drawn has none of it. */
static void look_at_own_time(struct trace *t)
{
	static const uint32_t sites[EVENTS] = {START, SEND, SEND};
	struct trace_rank_ns one = {0, 18}; /* 3 an event */
	struct trace_total total = {.count = 1, .sum = 18, .min = 18, .max = 18, .ranks = &one};
	struct event_clock *c;
	uint64_t begin, end, last = 0;
	double got[EVENTS];
	if (trace_total_add(&t->total[TOTAL_OVERHEAD], &total) != 0 || event_clock_create(&c, t, 0, NULL) != 0)
		abort();
	for (int i = 0; i < EVENTS; i++) {
		event_clock_next(c, &(struct event){.site = sites[i]}, &begin, &end);
		got[i] = event_clock_computed(c, i ? begin - last : 0);
		last = end;
	}
	event_clock_destroy(c);
	ok(got[0] == 0 && got[1] == 20 - 6 && got[2] == 5,
	   "the tracer's time is no computation: %g, %g as recorded, %g as drawn", got[0], got[1], got[2]);
}

struct expected {
	const char *title;
	uint32_t stream, sites[EVENTS];
	uint64_t times[2 * EVENTS]; /* begin, end */
};

static void look_at_times(const struct trace *t, const struct expected *x)
{
	struct event_clock *c;
	uint64_t got[2 * EVENTS];
	if (event_clock_create(&c, t, x->stream, NULL) != 0)
		abort();
	for (int i = 0; i < EVENTS; i++)
		event_clock_next(c, &(struct event){.site = x->sites[i]}, &got[2 * i], &got[2 * i + 1]);
	event_clock_destroy(c);
	for (int i = 0; i < 2 * EVENTS; i++)
		if (got[i] != x->times[i])
			printf("# time %d: %llu\n", i, (unsigned long long)got[i]);
	ok(memcmp(got, x->times, sizeof got) == 0, "%s", x->title);
}

static void see_times(void)
{
	static const struct expected drawn[] = {
		{"the longest and the shortest have their place",
	         0,
	         {START, SEND, SEND},
	         {0, 1000, 1040, 1050, 1055, 1085}},
		{"MPI_Init ends at the same time", 1, {START, SEND, SEND}, {700, 1000, 1060, 1080, 1087, 1107}},
		{"a further thread begins behind it", 2, {SEND, SEND, SEND}, {1000, 1020, 1026, 1046, 1052, 1072}},
		{"a rank without it begins at 0", 1, {SEND, SEND, SEND}, {0, 20, 27, 47, 53, 73}},
		{"an edge that is not there takes no time",
	         1,
	         {START, START, SEND},
	         {700, 1000, 1000, 1650, 1700, 1720}}};
	static const struct expected recorded[] = {
		{"two as recorded, one drawn", 0, {START, SEND, SEND}, {100, 200, 220, 234, 239, 269}},
		{"another order than recorded: drawn from there",
	         0,
	         {START, START, SEND},
	         {100, 200, 200, 850, 900, 910}},
		{"none recorded", 1, {START, SEND, SEND}, {700, 1000, 1060, 1080, 1087, 1107}}};
	static const struct expected damaged = {
		"numbers too large", 0, {START, SEND, SEND}, {0, 1000, 1040, 1ULL << 62, 1ULL << 62, 1ULL << 62}};
	struct trace t;
	int64_t origin = 1;
	char says[EVENT_CLOCK_SAYS];
	make_clocked(&t);
	for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
		look_at_times(&t, &drawn[i]);
	ok(!event_clock_origin(&t, &origin) && strcmp(event_clock_says(&t, says), "drawn from histograms") == 0,
	   "no times: no origin; %s", says);
	/* rank 1 is in its sends half as long as all are on average, rank 0 twice as long; at most 30 ns are known */
	t.sites[SEND].means = (struct trace_means){.finished = true};
	rankmap_single(&t.sites[SEND].means.map, 0, 16, false);
	struct rankmap one = {.level = 0};
	rankmap_single(&one, 1, -8, false);
	rankmap_union(&t.sites[SEND].means.map, &t.sites[SEND].means.map, &one);
	rankmap_free(&one);
	look_at_times(&t, &(struct expected){"a rank's calls take as long as its mean says",
	                                     1,
	                                     {START, SEND, SEND},
	                                     {700, 1000, 1060, 1070, 1077, 1087}});
	look_at_times(&t, &(struct expected){"but not the longest and the shortest, and no call longer than that",
	                                     0,
	                                     {SEND, SEND, SEND},
	                                     {0, 10, 15, 45, 51, 81}});
	rankmap_free(&t.sites[SEND].means.map);
	give_times(&t);
	for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
		look_at_times(&t, &recorded[i]);
	ok(event_clock_origin(&t, &origin) && origin == 4900, "0 is the first begin of all ranks");
	look_at_own_time(&t);
	event_clock_says(&t, says);
	ok(strcmp(says, "exact for 2 of 6 events, the others drawn from histograms") == 0, "%s", says);
	t.timing[1].digits = 4;
	t.timing[1].events = 4;
	ok(strcmp(event_clock_says(&t, says), "rounded, at most 3.1 % off") == 0, "%s", says); /* 1 / 32 */
	timing_free(&t);
	t.sites[SEND].communicate = two(UINT64_MAX, 30, 0, 1);
	look_at_times(&t, &damaged);
	trace_free(&t);
	event_clock_destroy(NULL);
}

/* ---- totals ---- */

enum { COMPUTE = 1000000, ELAPSED = 1500000 };

static void give_total(struct trace *t, enum trace_total_kind kind, uint32_t rank, uint64_t ns)
{
	free(t->total[kind].ranks);
	t->total[kind] = (struct trace_total){.count = 1, .sum = ns, .ranks = malloc(sizeof *t->total[kind].ranks)};
	t->total[kind].ranks[0] = (struct trace_rank_ns){rank, ns};
}

struct sums {
	uint64_t compute, calls, events;
};

/* What rank 1 has in all. Returns 0 or -1. */
static int rank_sums(const struct trace *t, struct sums *sums)
{
	struct event_clock *c = NULL;
	struct walk *w = NULL;
	struct event e;
	struct error error = {""};
	uint64_t begin, end, last = 0;
	*sums = (struct sums){0, 0, 0};
	int rv = event_clock_create(&c, t, 1, &error);
	if ((rv != 0) != (c == NULL) || (rv != 0) != (error.text[0] != '\0'))
		abort();
	if (rv == 0)
		rv = walk_begin(&w, t, 1, NULL);
	while (rv == 0 && (rv = walk_next(w, &e, NULL)) == 0) {
		event_clock_next(c, &e, &begin, &end);
		sums->compute += sums->events++ ? begin - last : 0;
		sums->calls += end - begin;
		last = end;
	}
	walk_end(w);
	event_clock_destroy(c);
	return rv < 0 ? -1 : 0;
}

static int sums_again(void *context)
{
	return rank_sums(context, &(struct sums){0, 0, 0});
}

/* Each event is rounded down to whole ns. */
static bool is_near(uint64_t ns, uint64_t expected, uint64_t events)
{
	return ns <= expected + events && expected <= ns + events;
}

static void see_totals(int how, uint64_t recorded, const char *title)
{
	struct trace t;
	struct sums plain, sums;
	sample_merged(&t, 3, how);
	for (uint32_t i = 0; i < t.timing_count; i++)
		t.timing[i].events = recorded;
	for (int i = 0; i < TRACE_TOTALS; i++) /* of another rank */
		give_total(&t, (enum trace_total_kind)i, 2, 1000);
	if (rank_sums(&t, &plain) != 0)
		abort();
	give_total(&t, TOTAL_COMPUTE, 1, ELAPSED);
	give_total(&t, TOTAL_ELAPSED, 1, COMPUTE);
	ok(rank_sums(&t, &sums) == 0 && memcmp(&sums, &plain, sizeof sums) == 0 && plain.compute < COMPUTE / 2 &&
	           plain.compute > 1000 && plain.calls < (ELAPSED - COMPUTE) / 2,
	   "%s: totals that contradict each other do not count", title);
	give_total(&t, TOTAL_COMPUTE, 1, COMPUTE);
	give_total(&t, TOTAL_ELAPSED, 1, ELAPSED);
	bool near = rank_sums(&t, &sums) == 0 && sums.events == plain.events &&
	            is_near(sums.compute, COMPUTE, sums.events) && is_near(sums.calls, ELAPSED - COMPUTE, sums.events);
	ok(near, "%llu of computation, %llu of calls", (unsigned long long)sums.compute,
	   (unsigned long long)sums.calls);
	ok(fails_well(sums_again, &t), "no memory");
	rankmap_free(&t.first);
	t.first = (struct rankmap){.root = DIAGRAM_ABSENT};
	ok(rank_sums(&t, &sums) == -1, "a rank that cannot be walked is refused");
	trace_free(&t);
}

int main(void)
{
	see_times();
	see_totals(0, 0, "drawn");
	see_totals(SAMPLE_DETAIL, 5, "drawn behind five that are recorded");
	return tap_end();
}
