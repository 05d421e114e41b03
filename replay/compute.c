/* SPDX-License-Identifier: BSD-3-Clause
 * compute - the time between two calls
 */
#include "replay/compute.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "replay/together.h"
#include "trace/read/summary.h"
#include "trace/read/timeline.h"

#define SHORT_NS 3000 /* not worth a system call: is waited for with the next one */
/* More than this late, and it is not made up for: the machine was busy with something else. */
#define LATE_NS 1000000000.0

struct compute {
	const struct trace *trace;
	uint32_t rank;
	enum compute_mode mode;
	const double *scales; /* by site */
	uint64_t seed;
	struct pattern *patterns; /* parsed when first used */
	struct state {
		uint64_t visits;
		struct class_times **edges; /* by edge, when it is first used */
	} * sites;
	struct timeline *exact; /* NULL: times are drawn */
	uint64_t exact_end;     /* of the last event, ns */
	uint32_t last;          /* site of the last call, or UINT32_MAX */
	int64_t end;            /* of the last call, ns */
	double late;            /* ns */
	double factor;          /* of what is drawn (class_times_factor) */
	double unplaced;        /* ns before a call that no edge leads to */
};

static int64_t compute_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* NULL: no memory. */
static struct class_times *edge_times(struct compute *c, uint32_t from, const struct trace_edge *e)
{
	const struct trace_site *s = &c->trace->sites[from];
	struct state *state = &c->sites[from];
	if (!state->edges)
		state->edges = calloc(s->edge_count, sizeof *state->edges);
	if (!state->edges)
		return NULL;
	struct class_times **times = &state->edges[e - s->edges];
	if (!*times)
		*times = together_times(c->trace, s, e, c->rank, c->seed, c->patterns);
	return *times;
}

/* Before the program begins. Where ranks share processors, all of them would pay for it in their first steps. */
static void prepare_edges(struct compute *c)
{
	int64_t visits;
	for (uint32_t i = 0; i < c->trace->site_count; i++)
		for (uint32_t k = 0; k < c->trace->sites[i].edge_count; k++) {
			const struct trace_edge *e = &c->trace->sites[i].edges[k];
			if (e->compute.count && rankmap_get(&c->trace->sites[i].visits, c->rank, &visits) &&
			    rankmap_get(&c->trace->sites[e->to].visits, c->rank, &visits))
				edge_times(c, i, e);
		}
}

struct compute *compute_create(const struct trace *t, uint32_t rank, enum compute_mode mode, const double *scales,
                               bool exact, uint64_t seed)
{
	bool none;
	struct compute *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	*c = (struct compute){
		.trace = t, .rank = rank, .mode = mode, .scales = scales, .seed = seed, .last = UINT32_MAX};
	c->unplaced = summary_unplaced_mean(t);
	c->sites = calloc((size_t)t->site_count + 1, sizeof *c->sites);
	c->patterns = calloc((size_t)t->patterns.count + 1, sizeof *c->patterns);
	if (!c->sites || !c->patterns) {
		compute_destroy(c);
		return NULL;
	}
	if (exact && mode != COMPUTE_NONE)
		c->exact = timeline_open(t, rank, &none);
	c->factor = c->exact || mode == COMPUTE_NONE ? 1 : class_times_factor(t, rank);
	if (!c->exact && mode != COMPUTE_NONE)
		prepare_edges(c);
	if (mode == COMPUTE_SLEEP)
		prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* else a sleep takes 50 us longer */
	return c;
}

void compute_destroy(struct compute *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; c->sites && i < c->trace->site_count; i++) {
		for (uint32_t k = 0; c->sites[i].edges && k < c->trace->sites[i].edge_count; k++)
			class_times_destroy(c->sites[i].edges[k]);
		free(c->sites[i].edges);
	}
	for (uint32_t i = 0; c->patterns && i < c->trace->patterns.count; i++)
		pattern_free(&c->patterns[i]);
	timeline_close(c->exact);
	free(c->patterns);
	free(c->sites);
	free(c);
}

static double draw_time(struct compute *c, uint32_t to)
{
	assert(c->last < c->trace->site_count && c->sites[c->last].visits > 0);
	const struct trace_edge *e = trace_edge_to(&c->trace->sites[c->last], to);
	if (!e || e->compute.count == 0)
		return c->unplaced;
	struct class_times *times = edge_times(c, c->last, e);
	return times ? class_times_next(times, c->sites[to].visits, c->factor) : histogram_mean(&e->compute);
}

/* How long the rank computed before an event of this site: as it was, where the trace has it. */
static double compute_time(struct compute *c, uint32_t site)
{
	uint64_t begin, end;
	if (c->exact && timeline_next(c->exact, site, &begin, &end) != 0) {
		timeline_close(c->exact);
		c->exact = NULL;
	}
	if (c->last == UINT32_MAX) {
		c->exact_end = c->exact ? end : 0;
		return 0;
	}
	double ns = c->exact ? (double)(begin - c->exact_end) : draw_time(c, site);
	c->exact_end = c->exact ? end : 0;
	return ns;
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
	double ns = compute_time(c, site);
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
	c->sites[site].visits++;
	if (c->mode != COMPUTE_NONE)
		c->end = compute_now();
}
