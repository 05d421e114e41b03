/* SPDX-License-Identifier: BSD-3-Clause
 * timeline - unit test of trace/read/timeline.c: when events begin and end, and where their times come to an end
 */
#include "trace/read/timeline.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/model/flow_code.h"
#include "trace/model/timing.h"

enum { A, B, RANK = 7 };
static struct trace t;

/* A flow of these ticks; claimed: how many values it says it has. */
static void flow_of(struct trace_timing *r, uint32_t from, uint32_t to, const uint64_t *ticks, size_t n,
                    uint64_t claimed)
{
	struct writer w = {NULL, 0, 0, false};
	uint64_t previous = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t code = flow_code(ticks[i], r->digits);
		writer_uint(&w, r->digits == FLOW_EXACT ? code : zigzag((int64_t)(code - previous)));
		previous = code;
	}
	struct trace_flow f = {.from = from, .to = to, .count = claimed, .bytes = w.data, .size = w.size};
	if (w.failed || timing_add_flow_take(r, &f) != 0)
		abort();
}

/* Events at A, A, B, A: the calls take 10, 20, 5 and 30 ticks; 100, 200, 0 and 1000000 are between them. A tick is 2.5
 * ns. */
static struct trace_timing *four_events(uint32_t digits, uint64_t events)
{
	if (trace_init(&t) != 0)
		abort();
	struct trace_timing *r = timing_add(
		&t, &(struct trace_timing){.rank = RANK, .digits = digits, .events = events, .ticks = 2, .ns = 5});
	if (!r)
		abort();
	flow_of(r, A, TIMING_CALLS, (uint64_t[]){10, 20, 30}, 3, 3);
	flow_of(r, B, TIMING_CALLS, (uint64_t[]){5}, 1, 1);
	flow_of(r, A, A, (uint64_t[]){100}, 1, 1);
	flow_of(r, A, B, (uint64_t[]){200}, 1, 1);
	flow_of(r, B, A, (uint64_t[]){0}, 1, 1);
	return r;
}

static const uint64_t begins[] = {0, 275, 825, 837}, ends[] = {25, 325, 837, 912};

/* How many events have the times above, at these sites; then there are no more, whoever asks. -1: no memory; -2: a time
 * is another one, or there are some again. */
static int events_of(const char *sites)
{
	bool none = true;
	uint64_t begin = 1, end = 1;
	int n = 0;
	struct timeline *l = timeline_open(&t, RANK, &none);
	if (!l)
		return none ? -2 : -1;
	for (; sites[n] && timeline_next(l, sites[n] == 'A' ? A : B, &begin, &end) == 0; n++)
		if (n >= 4 || begin != begins[n] || end != ends[n]) {
			timeline_close(l);
			return -2;
		}
	if (sites[n])
		for (int i = 0; i < 4; i++)
			n = timeline_next(l, i % 2 ? A : B, &begin, &end) == 1 ? n : -2;
	timeline_close(l);
	return n;
}

static void test_ends(void)
{
	static const struct {
		const char *sites;
		uint64_t events;
		int expected;
	} rows[] = {
		{"AABA", 4, 4}, {"AABAB", 4, 4}, {"AABAB", 9, 4}, {"AABA", 3, 3}, {"AABA", 1, 1},
		{"AABA", 0, 0}, {"BA", 4, -2},   {"ABAB", 4, -2}, {"AAA", 4, 2},  {"", 4, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		four_events(FLOW_EXACT, rows[i].events);
		int n = events_of(rows[i].sites);
		ok(n == rows[i].expected, "\"%s\", the first %d have times: %d", rows[i].sites, (int)rows[i].events, n);
		trace_free(&t);
	}
}

/* What no tracer writes ends the times, and nothing else. */
static void test_bad_flows(void)
{
	struct trace_timing *r = four_events(FLOW_EXACT, 9);
	r->flows[0].size--;
	ok(events_of("AABA") == 3, "a flow that is cut short");
	r->flows[0].size = 0;
	ok(events_of("AABA") == 0, "or empty");
	r->flows[0].size = 3;
	r->flows[0].count = 2;
	ok(events_of("AABA") == 3, "one that has fewer values than bytes");
	r->flows[1].from = 99;
	ok(events_of("AABA") == 2, "a site without calls");
	r->flow_count = 0;
	ok(events_of("AABA") == 0, "no flows at all");
	r->flow_count = 5;
	trace_free(&t);
	static const uint64_t far[] = {(UINT64_C(1) << 62) - 201, (UINT64_C(1) << 62) - 200, UINT64_MAX};
	for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
		uint64_t begin, end;
		bool none;
		r = four_events(FLOW_EXACT, 9);
		r->ticks = r->ns = 1;
		flow_of(r, 5, TIMING_CALLS, (uint64_t[]){100}, 1, 1);
		flow_of(r, 5, 6, (uint64_t[]){100}, 1, 1);
		flow_of(r, 6, TIMING_CALLS, &far[i], 1, 1);
		struct timeline *l = timeline_open(&t, RANK, &none);
		bool first = l && timeline_next(l, 5, &begin, &end) == 0 && begin == 0 && end == 100;
		int rv = timeline_next(l, 6, &begin, &end);
		ok(first && (i ? rv == 1 : rv == 0 && begin == 200 && end == (UINT64_C(1) << 62) - 1),
		   "a call of %llu ticks %s", (unsigned long long)far[i], i ? "is too long" : "is just possible");
		timeline_close(l);
		trace_free(&t);
	}
}

/* Each time is rounded alone, so that a sum of them is no more off than one. */
static void test_rounded(void)
{
	static const char sites[] = "AABA";
	uint64_t begin, end;
	bool none, near = true;
	four_events(3, 4);
	struct timeline *l = timeline_open(&t, RANK, &none);
	for (int i = 0; l && i < 4; i++) {
		near &= timeline_next(l, sites[i] == 'A' ? A : B, &begin, &end) == 0;
		near &= (double)begin >= (double)begins[i] * (1 - flow_error(3)) - 3;
		near &= (double)begin <= (double)begins[i] * (1 + flow_error(3)) + 3;
		near &= (double)end >= (double)ends[i] * (1 - flow_error(3)) - 3 && end >= begin;
		near &= (double)end <= (double)ends[i] * (1 + flow_error(3)) + 3;
	}
	ok(l && near, "times that were rounded");
	timeline_close(l);
	trace_free(&t);
}

static int whole_line(void *context)
{
	int n = events_of(context);
	if (n != 4 && n != -1)
		abort();
	return n == 4 ? 0 : -1;
}

int main(void)
{
	bool none = false;
	if (trace_init(&t) != 0)
		abort();
	ok(!timeline_open(&t, RANK, &none) && none, "a trace without times");
	timeline_close(NULL);
	trace_free(&t);
	four_events(FLOW_EXACT, 4);
	none = false;
	ok(!timeline_open(&t, RANK - 1, &none) && none, "a rank without times");
	ok(fails_well(whole_line, "AABA"), "no memory");
	trace_free(&t);
	test_ends();
	test_bad_flows();
	test_rounded();
	return tap_end();
}
