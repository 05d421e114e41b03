/* SPDX-License-Identifier: BSD-3-Clause
 * clock - begin and end of every event of a rank
 */
#include "cmd/export/clock.h"

#include <stdlib.h>
#include <string.h>

#include "trace/index.h"


struct clock {
	const struct trace *trace;
	uint32_t stream;
	struct state {
		uint64_t visits;
		double call;  /* where in the site's histogram the next draw is, 0 .. 1; negative: not yet */
		double *edge; /* the same of each edge */
	} *sites;
	uint32_t last; /* site of the last event, or UINT32_MAX */
	double now, start, compute_stretch, call_stretch;
	double compute, calls; /* sums, without MPI_Init */
};

static double first_place(const struct clock *c, uint32_t site, uint32_t to)
{
	return (double)(hash_mix(hash_mix(hash_mix(11, c->stream), site), to) >> 11) * 0x1p-53;
}

static double compute_before(struct clock *c, uint32_t to)
{
	const struct trace_site *s = &c->trace->sites[c->last];
	struct state *state = &c->sites[c->last];
	uint32_t low = 0, high = s->edge_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (s->edges[middle].to < to)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->edge_count || s->edges[low].to != to)
		return 0;
	if (!state->edge && (state->edge = malloc(s->edge_count * sizeof *state->edge)))
		for (uint32_t i = 0; i < s->edge_count; i++)
			state->edge[i] = first_place(c, c->last, s->edges[i].to);
	double middle = 0.5;
	return trace_time_draw(&s->edges[low].compute, c->stream, state->visits - 1, state->edge ? &state->edge[low] : &middle);
}

static void step(struct clock *c, uint32_t site, double *begin, double *end)
{
	struct state *state = &c->sites[site];
	const struct trace_site *s = &c->trace->sites[site];
	bool init = trace_initializes(trace_schema(c->trace, s));
	double compute = c->last == UINT32_MAX ? 0 : compute_before(c, site);
	if (state->visits == 0)
		state->call = first_place(c, site, UINT32_MAX);
	double call = trace_time_draw(&s->communicate, c->stream, state->visits, &state->call);
	c->compute += compute;
	c->calls += init ? 0 : call;
	if (init && c->last == UINT32_MAX)
		c->now = c->start > call ? c->start - call : 0;
	*begin = c->now + compute * c->compute_stretch;
	*end = c->now = *begin + call * (init ? 1 : c->call_stretch);
	c->last = site;
	state->visits++;
}

void clock_event(struct clock *c, const struct event *e, uint64_t *begin, uint64_t *end)
{
	double b, f;
	step(c, e->site, &b, &f);
	*begin = (uint64_t)b;
	*end = (uint64_t)f;
}

static bool total_of(const struct trace *t, enum trace_total_kind kind, uint32_t rank, double *ns)
{
	const struct trace_total *total = &t->total[kind];
	for (uint64_t i = 0; total->ranks && i < total->count; i++)
		if (total->ranks[i].rank == rank) {
			*ns = (double)total->ranks[i].ns;
			return true;
		}
	return false;
}

static struct clock *create(const struct trace *t, uint32_t stream)
{
	struct clock *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	*c = (struct clock){.trace = t, .stream = stream, .last = UINT32_MAX, .compute_stretch = 1, .call_stretch = 1};
	c->sites = calloc((size_t)t->site_count + 1, sizeof *c->sites);
	if (!c->sites) {
		free(c);
		return NULL;
	}
	for (uint32_t i = 0; i < t->site_count; i++) /* all ranks leave MPI_Init when the last one does */
		if (trace_initializes(trace_schema(t, &t->sites[i])) && t->sites[i].communicate.count && (double)t->sites[i].communicate.max > c->start)
			c->start = (double)t->sites[i].communicate.max;
	return c;
}

int clock_create(struct clock **out, const struct trace *t, uint32_t stream, struct error *error)
{
	double compute, elapsed;
	struct walk *w = NULL;
	struct event e;
	int rv = 0;
	struct clock *c = *out = create(t, stream);
	if (!c)
		return error_set(error, "no memory");
	if (!total_of(t, TOTAL_COMPUTE, stream, &compute) || !total_of(t, TOTAL_ELAPSED, stream, &elapsed) || compute > elapsed)
		return 0;
	if (walk_begin(&w, t, stream, error) != 0)
		rv = -1;
	for (double begin, end; rv == 0 && (rv = walk_next(w, &e, error)) == 0;)
		step(c, e.site, &begin, &end);
	walk_end(w);
	double drawn_compute = c->compute, drawn_calls = c->calls;
	clock_destroy(c);
	*out = NULL;
	if (rv < 0)
		return -1;
	if (!(c = *out = create(t, stream)))
		return error_set(error, "no memory");
	if (drawn_compute > 0)
		c->compute_stretch = compute / drawn_compute;
	if (drawn_calls > 0)
		c->call_stretch = (elapsed - compute) / drawn_calls;
	return 0;
}

void clock_destroy(struct clock *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; c->sites && i < c->trace->site_count; i++)
		free(c->sites[i].edge);
	free(c->sites);
	free(c);
}
