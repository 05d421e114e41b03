/* SPDX-License-Identifier: BSD-3-Clause
 * block_fit - computations of which counters say nothing take as long as they took
 */
#include "proxy/block_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

#define TURN_NS 10.0
#define PAGE_NS 500.0

static struct calibration measured;

/* A machine on which each turn takes as long, and only new pages are counted; or instructions, too. */
static struct block_fit fit_of(bool instructions)
{
	struct block_fit f = {.ns = measured.ns, .pages = true};
	measured = (struct calibration){.counter_count = 2};
	snprintf(measured.counters[0].name, CALIBRATION_NAME, "perf::PAGE-FAULTS");
	snprintf(measured.counters[1].name, CALIBRATION_NAME, "PAPI_TOT_INS");
	for (int k = 0; k < BLOCKS; k++) {
		measured.ns[k] = k == BLOCK_PAGES ? PAGE_NS : TURN_NS;
		measured.counters[1].counts[k] = 20;
	}
	measured.counters[0].counts[BLOCK_PAGES] = 1;
	for (unsigned i = 0; i < (instructions ? 2 : 1); i++) {
		f.counter[f.count] = i;
		f.measured[f.count++] = &measured.counters[i];
	}
	return f;
}

static double ns_of(const double turns[BLOCKS])
{
	double ns = 0;
	for (int k = 0; k < BLOCKS; k++)
		ns += turns[k] * measured.ns[k];
	return ns;
}

int main(void)
{
	static const double faults[] = {0, 3, 100};
	double turns[BLOCKS];
	for (int i = 0; i < 3; i++) {
		struct block_fit f = fit_of(false);
		double counts[TRACE_COUNTERS] = {faults[i]};
		int rv = block_fit_turns(&f, counts, 1e6, turns);
		ok(rv == 0 && fabs(ns_of(turns) / 1e6 - 1) < 0.02, "%g page faults in 1 ms: it takes 1 ms: %g ns",
		   faults[i], ns_of(turns));
		ok(fabs(turns[BLOCK_PAGES] - faults[i]) < 0.1 + 0.02 * faults[i], "and has %g page faults",
		   turns[BLOCK_PAGES]);
	}
	struct block_fit f = fit_of(true);
	double idle[TRACE_COUNTERS] = {0, 50}, busy[TRACE_COUNTERS] = {0, 4e5}, none[TRACE_COUNTERS] = {0};
	int rv = block_fit_turns(&f, idle, 1e6, turns);
	ok(rv == 0 && fabs(ns_of(turns) / 1e6 - 1) < 0.02, "50 instructions in 1 ms say nothing: %g ns", ns_of(turns));
	rv = block_fit_turns(&f, busy, 1e6, turns);
	ok(rv == 0 && fabs(20 * ns_of(turns) / TURN_NS / 4e5 - 1) < 0.05, "400,000 do, whatever that takes: %g ns",
	   ns_of(turns));
	rv = block_fit_turns(&f, none, 0, turns);
	ok(rv == 0 && ns_of(turns) <= 0, "nothing in no time is nothing");
	return tap_end();
}
