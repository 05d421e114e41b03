/* SPDX-License-Identifier: BSD-3-Clause
 * compute - the time between two calls
 */
#include "replay/compute.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "insight/times.h"

#define SHORT_NS 3000 /* not worth a system call: is waited for with the next one */
/* More than this late, and it is not made up for: the machine was busy with something else. */
#define LATE_NS 1000000000.0

struct compute {
	const struct trace *trace;
	uint32_t rank;
	enum compute_mode mode;
	const double *scales; /* by site */
	struct times *times;
	struct rank_times *own;
	uint32_t last; /* site of the last call, or UINT32_MAX */
	int64_t end;   /* of the last call, ns */
	double late;   /* ns */
};

static int64_t compute_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct compute *compute_create(const struct trace *t, uint32_t rank, enum compute_mode mode, const double *scales,
                               bool exact, uint64_t seed)
{
	struct compute *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	*c = (struct compute){.trace = t, .rank = rank, .mode = mode, .scales = scales, .last = UINT32_MAX};
	if (mode == COMPUTE_NONE)
		return c;
	c->times = times_create(t, exact, seed);
	c->own = c->times ? rank_times_create(c->times, rank) : NULL;
	if (!c->own) {
		compute_destroy(c);
		return NULL;
	}
	/* before the program begins: where ranks share processors, all of them would pay for it in their first steps */
	rank_times_prepare(c->own);
	if (mode == COMPUTE_SLEEP)
		prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* else a sleep takes 50 us longer */
	return c;
}

void compute_destroy(struct compute *c)
{
	if (!c)
		return;
	rank_times_destroy(c->own);
	times_destroy(c->times);
	free(c);
}

static void wait_until(struct compute *c, int64_t begin, double ns)
{
	int64_t until = begin + (int64_t)ns;
	if (c->mode == COMPUTE_SPIN) {
		while (compute_now() < until)
			;
		return;
	}
	struct timespec t = {until / 1000000000, until % 1000000000};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
		;
}

void compute_wait(struct compute *c, uint32_t site)
{
	if (c->mode == COMPUTE_NONE)
		return;
	double ns = rank_times_before(c->own, site);
	if (c->last == UINT32_MAX)
		return;
	double want = ns * c->scales[site] - c->late, passed = (double)(compute_now() - c->end);
	if (want - passed > (c->mode == COMPUTE_SPIN ? 0 : SHORT_NS)) {
		wait_until(c, c->end, want);
		passed = (double)(compute_now() - c->end);
	}
	c->late = passed - want;
	if (c->late > LATE_NS)
		c->late = 0;
}

void compute_call_ended(struct compute *c, uint32_t site)
{
	c->last = site;
	if (c->mode != COMPUTE_NONE)
		c->end = compute_now();
}
