/* SPDX-License-Identifier: BSD-3-Clause
 * trend - histories that are made up, with noise, outliers, drift, and steps; nodes that are slow, and applications
 * that have a slow rank
 */
#include "archive/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

enum { RUNS = 160, HISTORIES = 50, LONG = 1000, MOST = 100, NODES = 200, JOBS = 400, OF_JOB = 8 };

static uint64_t seed = 1;

static double chance(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

static double normal(void)
{
	return sqrt(-2 * log(chance() + 1e-300)) * cos(6.283185307179586 * chance());
}

/* kind: 0 noise, 1 runs that follow each other are alike, 2 one in 20 runs takes up to 80 % longer, 3 a drift of 10 %
 * in 100 runs, 4 all of it */
static void make_history(double *times, size_t n, int kind, double noise)
{
	double before = 0;
	for (size_t i = 0; i < n; i++) {
		double z = normal(), log_time = 6;
		before = kind == 1 || kind == 4 ? 0.3 * before + 0.954 * z : z;
		log_time += noise * before;
		log_time += (kind == 2 || kind == 4) && chance() < 0.05 ? 0.1 + 0.5 * chance() : 0;
		log_time += kind >= 3 ? 0.001 * (double)i : 0;
		times[i] = exp(log_time);
	}
}

static void test_steps(void)
{
	struct trend_change c[MOST];
	double times[RUNS];
	unsigned large = 0, found = 0, located = 0, right = 0;
	for (int h = 0; h < HISTORIES; h++) {
		size_t at = 40 + (size_t)(80 * chance());
		double step = 0.1 + 0.4 * (double)h / (HISTORIES - 1), sign = h % 3 ? 1 : -1;
		make_history(times, RUNS, h % 5, 0.01 + 0.04 * chance());
		for (size_t i = at; i < RUNS; i++)
			times[i] *= sign > 0 ? 1 + step : 1 / (1 + step);
		int n = trend_changes(times, RUNS, c, MOST);
		large += step >= 0.2;
		for (int k = 0; k < n; k++)
			if (step >= 0.2 && c[k].found >= at && c[k].found < at + 5) {
				found++;
				located += c[k].first + 2 >= at && c[k].first <= at + 2;
				right += (c[k].after > c[k].before) == (sign > 0);
				break;
			}
	}
	ok(found * 10 >= large * 9, "%u of %u steps of 20 %% or more are found within 5 runs", found, large);
	ok(located * 10 >= found * 9, "%u of them begin within 2 runs of where they are", located);
	ok(right == found, "slower is slower, faster is faster");
}

static void test_false_alarms(void)
{
	struct trend_change c[MOST];
	static double times[LONG];
	int alarms = 0;
	for (int h = 0; h < HISTORIES; h++) {
		make_history(times, LONG, h % 4, 0.01 + 0.09 * (double)h / HISTORIES);
		if (h % 4 == 3) /* drifting for ever is no noise: it goes up and down */
			for (size_t i = 0; i < LONG; i++)
				times[i] *= exp(-0.001 * (double)(i % 200 < 100 ? i - i % 100 : i));
		alarms += trend_changes(times, LONG, c, MOST);
	}
	ok(alarms * 1000 <= HISTORIES * LONG, "%d false alarms in %d runs", alarms, HISTORIES * LONG);
}

static void test_small(void)
{
	struct trend_change c[4];
	double few[] = {1, 2, 3}, same[RUNS], none = 0;
	uint64_t events[] = {1000, 5000, 1050, 990, 5200, 0};
	unsigned input[6];
	ok(trend_median(&none, 0) == 0 && trend_median(few, 3) == 2 && trend_median(few, 2) == 1.5, "medians");
	ok(trend_changes(few, 3, c, 4) == 0 && trend_changes(few, 0, c, 4) == 0, "nothing is said of few runs");
	for (size_t i = 0; i < RUNS; i++)
		same[i] = i < 80 ? 10 : 12;
	ok(trend_changes(same, RUNS, c, 4) == 1 && c[0].first == 80 && c[0].found < 85 &&
	           fabs(c[0].before - 10) < 1e-9 && fabs(c[0].after - 12) < 1e-9,
	   "a step without noise");
	same[40] = 1000;
	ok(trend_changes(same, 80, c, 4) == 0, "a single run that takes long is no change");
	ok(trend_inputs(events, 6, input) == 0 && input[0] == input[2] && input[0] == input[3] &&
	           input[1] == input[4] && input[0] != input[1] && input[5] != input[0],
	   "runs by their input");
}

/* Jobs on some nodes. slow: late where it is, in nine of ten jobs; negative: none. rank0: the first node of each job
 * has a rank that does more; its number says nothing of the node. Returns how many nodes are said to be slow. */
static unsigned slow_nodes(int slow, bool rank0, bool *right)
{
	static struct trend_seat seats[NODES][JOBS];
	static size_t count[NODES];
	unsigned found = 0;
	memset(count, 0, sizeof count);
	for (int j = 0; j < JOBS; j++) {
		unsigned first = (unsigned)(chance() * NODES), late = (unsigned)(chance() * OF_JOB);
		if (rank0)
			late = 0;
		for (unsigned i = 0; i < OF_JOB; i++)
			if (slow >= 0 && (first + i) % NODES == (unsigned)slow && chance() < 0.9)
				late = i;
		for (unsigned i = 0; i < OF_JOB; i++) {
			unsigned node = (first + i) % NODES;
			seats[node][count[node]++] =
				(struct trend_seat){OF_JOB, i == late, rank0 && late == 0 ? 0.95 : 0.125};
		}
	}
	*right = slow < 0;
	for (int node = 0; node < NODES; node++) {
		struct trend_node t;
		trend_node_test(&t, seats[node], count[node]);
		found += trend_node_slow(&t, NODES);
		*right = *right || (node == slow && trend_node_slow(&t, NODES));
	}
	return found;
}

static void test_nodes(void)
{
	struct trend_node t;
	struct trend_seat alone[8], late[16];
	unsigned right = 0, wrong = 0, nothing = 0, application = 0;
	bool is_right;
	for (int i = 0; i < HISTORIES; i++) {
		unsigned found = slow_nodes((i * 7) % NODES, i % 2, &is_right);
		right += is_right;
		wrong += found - is_right;
		nothing += slow_nodes(-1, false, &is_right);
		application += slow_nodes(-1, true, &is_right);
	}
	ok(right * 10 >= HISTORIES * 9, "%u of %d slow nodes are found", right, HISTORIES);
	ok(wrong + nothing + application <= 1, "%u nodes that are not slow, in %d archives",
	   wrong + nothing + application, 3 * HISTORIES);
	for (size_t i = 0; i < 8; i++)
		alone[i] = (struct trend_seat){4, true, -1};
	trend_node_test(&t, alone, 8);
	ok(t.jobs == 0 && t.p == 1 && !trend_node_slow(&t, 1), "an application that never ran elsewhere says nothing");
	for (size_t i = 0; i < 16; i++)
		late[i] = (struct trend_seat){8, i < 14, 0.1};
	trend_node_test(&t, late, 16);
	ok(t.jobs == 16 && t.late == 14 && fabs(t.expected - 2) < 1e-9 && t.p < 1e-9 && trend_node_slow(&t, 1000),
	   "late in 14 of 16 jobs: %.1f expected, p %.1g", t.expected, t.p);
}

int main(void)
{
	test_small();
	test_steps();
	test_false_alarms();
	test_nodes();
	return tap_end();
}
