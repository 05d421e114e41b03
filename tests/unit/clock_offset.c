/* SPDX-License-Identifier: BSD-3-Clause
 * clock_offset - clocks that are apart, and drift, are brought together by messages that take different times
 */
#include "merge/clock_offset.h"

#include <stdlib.h>

#include "tests/unit/tap.h"
#include "trace/model/timing.h"

#define SECOND INT64_C(1000000000)

static uint64_t seed = 1;

static double random_unit(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) * 0x1p-53;
}

/* A message: 2 us, and at times much more, as on a busy machine. */
static int64_t delay(void)
{
	double u = random_unit();
	return 2000 + (int64_t)(u < 0.3 ? 1e6 * random_unit() : 500 * u);
}

/* The other node's clocks at a moment of ours: its counter drifts, its CLOCK_REALTIME does not. */
struct node {
	int64_t ahead, start;
	double drift;
};

static struct clock_reading there_at(const struct node *n, int64_t now)
{
	struct clock_reading r = {.real = now + n->ahead};
	r.events = r.real + (int64_t)((double)(now - n->start) * n->drift);
	return r;
}

static struct clock_reading here_at(int64_t now)
{
	return (struct clock_reading){now, now};
}

static struct clock_offset exchange(const struct node *n, int64_t now)
{
	struct clock_offset o = CLOCK_OFFSET_NONE;
	for (int round = 0; round < 16; round++) {
		int64_t there = now + delay(), back = there + delay();
		clock_offset_add(&o, here_at(now), there_at(n, there), here_at(back));
		now = back + 1000;
	}
	return o;
}

/* A rank of the other node, whose events were timed by the counter: how far a moment of the run is off when it has been
 * brought to our clock. */
static int64_t error_at(const struct trace *t, const struct node *n, int64_t moment)
{
	const struct trace_timing *r = &t->timing[0];
	double ticks = (double)(there_at(n, moment).events - there_at(n, n->start).events);
	return r->start + (int64_t)(ticks * (double)r->ns / (double)r->ticks) - moment;
}

static bool within(int64_t error, int64_t most)
{
	return error <= most && error >= -most;
}

static void test_node(int64_t ahead, double drift, int64_t lasted, const char *what)
{
	struct trace t = {.size = 2};
	struct node n = {.ahead = ahead, .start = 1800000000 * SECOND, .drift = drift};
	int64_t end = n.start + lasted;
	struct trace_timing *r = timing_add(&t, &(struct trace_timing){.rank = 1,
	                                                               .ticks = (uint64_t)lasted,
	                                                               .ns = (uint64_t)lasted,
	                                                               .start = there_at(&n, n.start).events});
	struct clock_offset o = exchange(&n, end);
	if (!r)
		abort();
	ok(o.way < 7000, "%s: the shortest way counts", what);
	clock_offset_apply(&o, &t);
	ok(within(error_at(&t, &n, end), 5000), "%s: at the end", what);
	ok(within(error_at(&t, &n, n.start), 5000), "%s: at the start", what);
	ok(within(error_at(&t, &n, n.start + lasted / 3), 5000), "%s: in between", what);
	timing_free(&t);
}

static void test_set_clock(void)
{
	/* CLOCK_REALTIME was set back by an hour while the job ran: only the end is known */
	struct clock_offset o = {.way = 4000, .events = 5000, .real = -3600 * SECOND, .at = 1800000060 * SECOND};
	struct trace t = {.size = 2};
	struct trace_timing *r =
		timing_add(&t, &(struct trace_timing){.ticks = 7, .ns = 7, .start = 1800000000 * SECOND});
	clock_offset_apply(&o, &t);
	ok(r && r->start == 1800000000 * SECOND - 5000 && r->ns == 7, "a clock that was set says nothing of the start");
	o = CLOCK_OFFSET_NONE;
	clock_offset_add(&o, here_at(100), here_at(200), here_at(50));
	clock_offset_apply(&o, &t);
	ok(r && o.way < 0 && r->start == 1800000000 * SECOND - 5000, "an answer before the question is none");
	timing_free(&t);
}

int main(void)
{
	test_node(0, 0, 10 * SECOND, "one clock");
	test_node(250 * SECOND / 1000, 0, 10 * SECOND, "250 ms ahead");
	test_node(-7 * SECOND, 3e-5, 3600 * SECOND, "7 s behind, 30 ppm faster");
	test_node(40000, -1e-6, 86400 * SECOND, "a day, 1 ppm slower");
	test_set_clock();
	return tap_end();
}
