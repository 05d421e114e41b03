/* SPDX-License-Identifier: BSD-3-Clause
 * rank_clock - a clock of a rank that all ranks agree on without a message
 */
#include "replay/rank_clock.h"

#include <assert.h>
#include <stdlib.h>

#include "insight/class_times.h"

#define ALIKE 0.02 /* ranks whose clocks differ by less do the same, and their clocks are not stretched */

static double edge_mean(const struct trace_site *s, uint32_t to)
{
	const struct trace_edge *e = trace_edge_to(s, to);
	return e ? histogram_mean(&e->compute) : 0;
}

/* How long a rank was at it, by the means of its sites and edges. */
static double time_of_rank(const struct trace *t, uint32_t rank)
{
	double sum = 0;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		int64_t visits;
		if (rankmap_get(&s->visits, rank, &visits) && !trace_initializes(trace_schema(t, s)))
			sum += (double)visits * histogram_mean(&s->communicate) + class_times_behind(t, s, rank, false);
	}
	return sum;
}

int rank_clock_open(struct rank_clock *c, const struct trace *t, uint32_t rank, struct error *error)
{
	int64_t *sizes;
	double first = time_of_rank(t, rankmap_first(&t->events)), own = time_of_rank(t, rank),
	       ratio = own > 0 ? first / own : 1;
	*c = (struct rank_clock){
		.trace = t, .last = UINT32_MAX, .stretch = ratio > 1 - ALIKE && ratio < 1 + ALIKE ? 1 : ratio};
	if (walk_object(t, rank, "@comm", "size", &sizes, &c->size_count, error) != 0)
		return -1;
	c->sizes = sizes;
	return 0;
}

void rank_clock_close(struct rank_clock *c)
{
	free((void *)c->sizes);
}

void rank_clock_begin(struct rank_clock *c, const struct event *e)
{
	const struct trace_site *sites = c->trace->sites;
	c->begin = c->end + (c->last == UINT32_MAX ? 0 : edge_mean(&sites[c->last], e->site)) * c->stretch;
	assert(c->begin >= c->end);
	c->until = c->begin + histogram_mean(&sites[e->site].communicate) * c->stretch;
}

/* Does nobody leave the call before all ranks have come to it? */
static bool synchronizes_all(const struct rank_clock *c, const struct event *e)
{
	const struct mpi_function *f = e->schema->mpi;
	int column = e->schema->at[PARAMETER_COMM];
	if (f->waits != WAITS_FOR_ALL || f->scope != SCOPE_COMM || column < 0 || e->schema->at[PARAMETER_ERROR] >= 0)
		return false;
	int64_t comm = e->values[column];
	return trace_is_constant(c->trace, comm, CONST_MPI_COMM_WORLD) ||
	       (comm >= 0 && (uint64_t)comm < c->size_count && c->sizes[comm] == c->trace->size);
}

void rank_clock_end(struct rank_clock *c, const struct event *e)
{
	bool all = synchronizes_all(c, e);
	c->last = e->site;
	c->epoch += all;
	c->end = all || trace_initializes(e->schema) ? 0 : c->until;
}
