/* SPDX-License-Identifier: BSD-3-Clause
 * compute - the time between two calls
 */
#include "replay/compute.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "replay/sampler.h"
#include "trace/read/summary.h"

#define SHORT_NS 3000 /* not worth a system call: is waited for with the next one */
/* More than this late, and it is not made up for: the machine was busy with something else. */
#define LATE_NS 1000000000.0

struct compute {
	const struct trace *trace;
	uint32_t rank;
	enum compute_mode mode;
	double scale;
	uint64_t seed;
	struct state {
		uint64_t visits;
		double *position; /* by edge: where in its histogram the next draw is, 0 .. 1 */
	} * sites;
	uint32_t last;   /* site of the last call, or UINT32_MAX */
	int64_t end;     /* of the last call, ns */
	double late;     /* ns */
	double unplaced; /* ns before a call that no edge leads to */
};

static int64_t compute_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct compute *compute_create(const struct trace *t, uint32_t rank, enum compute_mode mode, double scale,
                               uint64_t seed)
{
	struct compute *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	*c = (struct compute){.trace = t, .rank = rank, .mode = mode, .scale = scale, .seed = seed, .last = UINT32_MAX};
	c->unplaced = summary_unplaced_mean(t);
	c->sites = calloc((size_t)t->site_count + 1, sizeof *c->sites);
	if (!c->sites) {
		free(c);
		return NULL;
	}
	if (mode == COMPUTE_SLEEP)
		prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* else a sleep takes 50 us longer */
	return c;
}

void compute_destroy(struct compute *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->trace->site_count; i++)
		free(c->sites[i].position);
	free(c->sites);
	free(c);
}

static double draw_time(struct compute *c, uint32_t to)
{
	assert(c->last < c->trace->site_count && c->sites[c->last].visits > 0);
	const struct trace_site *s = &c->trace->sites[c->last];
	struct state *state = &c->sites[c->last];
	uint64_t visit = state->visits - 1;
	const struct trace_edge *e = trace_edge_to(s, to);
	if (!e || e->compute.count == 0)
		return c->unplaced;
	if (!state->position) {
		state->position = malloc(s->edge_count * sizeof *state->position);
		for (uint32_t i = 0; state->position && i < s->edge_count; i++)
			state->position[i] =
				(double)(sampler_hash(c->seed, c->rank, c->last, s->edges[i].to) >> 11) * 0x1p-53;
	}
	return state->position ? histogram_draw(&e->compute, c->rank, visit, &state->position[e - s->edges])
	                       : histogram_mean(&e->compute);
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
	if (c->last == UINT32_MAX || c->mode == COMPUTE_NONE)
		return;
	double want = draw_time(c, site) * c->scale - c->late, passed = (double)(compute_now() - c->end);
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
	c->sites[site].visits++;
	if (c->mode != COMPUTE_NONE)
		c->end = compute_now();
}
