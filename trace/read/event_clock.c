/* SPDX-License-Identifier: BSD-3-Clause
 * event_clock - begin and end of every event of a rank
 */
#include "trace/read/event_clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/flow_code.h"
#include "trace/base/index.h"
#include "trace/model/means.h"
#include "trace/model/stream.h"
#include "trace/model/timing.h"
#include "trace/read/own_time.h"
#include "trace/read/timeline.h"

struct event_clock {
	const struct trace *trace;
	uint32_t stream;
	struct state {
		uint64_t visits;
		double call;  /* where in the site's histogram the next draw is, 0 .. 1; negative: not yet */
		double *edge; /* the same of each edge */
		double mean;  /* of the rank's calls, in parts of the mean of all */
	} * sites;
	uint32_t last; /* site of the last event, or UINT32_MAX */
	double now, start, compute_stretch, call_stretch;
	struct timeline *line; /* NULL: the trace has no times of single events of it, or not of those that come now */
	double origin;         /* when the first event of `line` began */
	struct own_time own;
	struct sums {
		double compute, calls; /* without MPI_Init */
	} recorded, drawn;
};

static double first_place(const struct event_clock *c, uint32_t site, uint32_t to)
{
	return (double)(hash_mix(hash_mix(hash_mix(11, c->stream), site), to) >> 11) * 0x1p-53;
}

static double compute_before(struct event_clock *c, uint32_t to)
{
	const struct trace_site *s = &c->trace->sites[c->last];
	struct state *state = &c->sites[c->last];
	const struct trace_edge *edge = trace_edge_to(s, to);
	if (!edge)
		return 0;
	if (!state->edge && (state->edge = budget_malloc(s->edge_count * sizeof *state->edge)))
		for (uint32_t i = 0; i < s->edge_count; i++)
			state->edge[i] = first_place(c, c->last, s->edges[i].to);
	double middle = 0.5;
	return histogram_draw(&edge->compute, c->stream, state->visits - 1,
	                      state->edge ? &state->edge[edge - s->edges] : &middle);
}

/* The longest and the shortest call have their place, and no other one is longer or shorter. */
static double call_time(struct event_clock *c, uint32_t site)
{
	struct state *state = &c->sites[site];
	const struct histogram *all = &c->trace->sites[site].communicate;
	if (state->call < 0)
		state->call = first_place(c, site, UINT32_MAX);
	const double place = state->call, ns = histogram_draw(all, c->stream, state->visits, &state->call);
	if (state->call == place || state->mean == 1)
		return ns;
	const double own = ns * state->mean, least = (double)all->min, most = (double)all->max;
	return own < least ? least : own > most ? most : own;
}

/* As it was recorded; false from where on it was not. */
static bool step_recorded(struct event_clock *c, uint32_t site, double *begin, double *end)
{
	uint64_t from, to;
	if (!c->line)
		return false;
	if (timeline_next(c->line, site, &from, &to) != 0) {
		timeline_close(c->line);
		c->line = NULL;
		return false;
	}
	*begin = c->origin + (double)from;
	*end = c->origin + (double)to;
	c->recorded.compute += c->last == UINT32_MAX ? 0 : *begin - c->now;
	c->recorded.calls += trace_initializes(trace_schema(c->trace, &c->trace->sites[site])) ? 0 : *end - *begin;
	return true;
}

static void step_drawn(struct event_clock *c, uint32_t site, double *begin, double *end)
{
	const struct trace_site *s = &c->trace->sites[site];
	bool init = trace_initializes(trace_schema(c->trace, s));
	double compute = c->last == UINT32_MAX ? 0 : compute_before(c, site);
	double call = call_time(c, site);
	c->drawn.compute += compute;
	c->drawn.calls += init ? 0 : call;
	if (c->last == UINT32_MAX) /* a further thread begins when there is MPI */
		c->now = !init             ? (stream_thread(c->trace, c->stream) ? c->start : 0)
		         : c->start > call ? c->start - call
		                           : 0;
	*begin = c->now + compute * c->compute_stretch;
	*end = *begin + call * (init ? 1 : c->call_stretch);
}

static void step(struct event_clock *c, uint32_t site, double *begin, double *end)
{
	if (!step_recorded(c, site, begin, end))
		step_drawn(c, site, begin, end);
	c->now = *end;
	c->last = site;
	c->sites[site].visits++;
}

/* What a damaged trace says may be any number. */
static uint64_t whole(double ns)
{
	return ns < 0x1p62 ? (uint64_t)ns : UINT64_C(1) << 62;
}

void event_clock_next(struct event_clock *c, const struct event *e, uint64_t *begin, uint64_t *end)
{
	double b, f;
	step(c, e->site, &b, &f);
	*begin = whole(b);
	*end = whole(f);
}

double event_clock_computed(struct event_clock *c, uint64_t passed)
{
	return c->line ? own_time_without(&c->own, (double)passed) : (double)passed;
}

static bool total_of(const struct trace *t, enum trace_total_kind kind, uint32_t rank, double *ns)
{
	uint64_t total = 0;
	bool known = trace_total_get(&t->total[kind], rank, &total);
	*ns = (double)total;
	return known;
}

bool event_clock_origin(const struct trace *t, int64_t *ns)
{
	for (uint32_t i = 0; i < t->timing_count; i++)
		if (i == 0 || t->timing[i].start < *ns)
			*ns = t->timing[i].start;
	return t->timing_count > 0;
}

static double mean_of_rank(const struct trace_site *s, uint32_t stream)
{
	double ns, mean = histogram_mean(&s->communicate);
	return mean > 0 && means_get(&s->means, mean, stream, &ns) ? ns / mean : 1;
}

static struct event_clock *create(const struct trace *t, uint32_t stream)
{
	struct event_clock *c = budget_calloc(1, sizeof *c);
	bool none;
	int64_t origin;
	if (!c)
		return NULL;
	*c = (struct event_clock){
		.trace = t, .stream = stream, .last = UINT32_MAX, .compute_stretch = 1, .call_stretch = 1};
	c->sites = budget_calloc((size_t)t->site_count + 1, sizeof *c->sites);
	c->line = timeline_open(t, stream, &none);
	if (!c->sites || (!c->line && !none)) {
		event_clock_destroy(c);
		return NULL;
	}
	own_time_begin(&c->own, t, stream);
	if (c->line && event_clock_origin(t, &origin))
		c->origin = (double)((uint64_t)timing_find(t, stream)->start - (uint64_t)origin);
	for (uint32_t i = 0; i < t->site_count; i++) {
		c->sites[i].call = -1;
		c->sites[i].mean = mean_of_rank(&t->sites[i], stream);
		/* all ranks leave MPI_Init when the last one does */
		if (trace_initializes(trace_schema(t, &t->sites[i])) && t->sites[i].communicate.count &&
		    (double)t->sites[i].communicate.max > c->start)
			c->start = (double)t->sites[i].communicate.max;
	}
	return c;
}

/* Are all of its events' times recorded? */
static bool is_recorded(const struct trace *t, uint32_t stream)
{
	const struct trace_timing *r = timing_find(t, stream);
	int64_t events;
	return r && rankmap_get(&t->events, stream, &events) && r->events >= (uint64_t)events;
}

/* What is to be drawn for is what the rank's total has left, as a multiple of what would be drawn. */
static double stretch(double total, double recorded, double drawn)
{
	return drawn > 0 && total > recorded ? (total - recorded) / drawn : 1;
}

int event_clock_create(struct event_clock **out, const struct trace *t, uint32_t stream, struct error *error)
{
	double compute, elapsed;
	struct walk *w = NULL;
	struct event e;
	int rv = 0;
	struct event_clock *c = *out = create(t, stream);
	if (!c)
		return error_set(error, "no memory");
	if (is_recorded(t, stream) || !total_of(t, TOTAL_COMPUTE, stream, &compute) ||
	    !total_of(t, TOTAL_ELAPSED, stream, &elapsed) || compute > elapsed)
		return 0;
	if (walk_begin(&w, t, stream, error) != 0)
		rv = -1;
	for (double begin, end; rv == 0 && (rv = walk_next(w, &e, error)) == 0;)
		step(c, e.site, &begin, &end);
	walk_end(w);
	struct sums recorded = c->recorded, drawn = c->drawn;
	event_clock_destroy(c);
	*out = NULL;
	if (rv < 0)
		return -1;
	if (!(c = *out = create(t, stream)))
		return error_set(error, "no memory");
	c->compute_stretch = stretch(compute, recorded.compute, drawn.compute);
	c->call_stretch = stretch(elapsed - compute, recorded.calls, drawn.calls);
	return 0;
}

const char *event_clock_says(const struct trace *t, char out[EVENT_CLOCK_SAYS])
{
	uint64_t all = (uint64_t)rankmap_sum(&t->events), recorded = 0;
	unsigned digits = FLOW_EXACT;
	char kind[48] = "exact";
	for (uint32_t i = 0; i < t->timing_count; i++) {
		recorded += t->timing[i].events;
		digits = t->timing[i].digits < digits ? t->timing[i].digits : digits;
	}
	if (digits != FLOW_EXACT)
		snprintf(kind, sizeof kind, "rounded, at most %.2g %% off", 100 * flow_error(digits));
	if (recorded == 0)
		snprintf(out, EVENT_CLOCK_SAYS, "drawn from histograms");
	else if (recorded >= all)
		snprintf(out, EVENT_CLOCK_SAYS, "%s", kind);
	else
		snprintf(out, EVENT_CLOCK_SAYS,
		         "%s for %" PRIu64 " of %" PRIu64 " events, the others drawn from histograms", kind, recorded,
		         all);
	return out;
}

void event_clock_destroy(struct event_clock *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; c->sites && i < c->trace->site_count; i++)
		budget_free(c->sites[i].edge);
	budget_free(c->sites);
	timeline_close(c->line);
	budget_free(c);
}
