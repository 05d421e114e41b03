/* SPDX-License-Identifier: BSD-3-Clause
 * unrecorded - values of columns that have no order, drawn from what was counted
 */
#include "replay/unrecorded.h"

#include <stdlib.h>

#include "replay/collective_args.h"
#include "replay/sampler.h"

struct unrecorded {
	const struct trace *trace;
	uint64_t *visits; /* by site */
	struct sampler *sampler;
	struct collective_args *collectives;
};

/* ---- what can be drawn ---- */

static bool is_result(const struct schema *s, size_t i)
{
	return s->column[i].direction == '>' || (int)i == s->at[PARAMETER_ERROR];
}

static bool can_draw(const struct schema *s, size_t i)
{
	if (i == s->count)
		return false; /* which call comes next */
	char kind = s->column[i].kind;
	if (kind == 'r' || kind == 'b' || is_result(s, i))
		return true;
	if (s->column[i].vector)
		return collective_args_must_fit(s);
	switch (s->mpi->class) {
	case MPI_CLASS_ONE_SIDED: /* whoever is accessed has part in it */
	case MPI_CLASS_WINDOW:    /* and what follows describes objects */
	case MPI_CLASS_DATATYPE:
	case MPI_CLASS_COMMUNICATOR:
	case MPI_CLASS_TOPOLOGY:
	case MPI_CLASS_GROUP:
		return false;
	case MPI_CLASS_FILE:
	case MPI_CLASS_INFO:
		return kind == 'i' || kind == 'p' || kind == 'a';
	default:
		return kind == 'i' || kind == 'p' || kind == 'a' || kind == 's';
	}
}

int unrecorded_possible(const struct trace *t, struct error *error)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *site = &t->sites[i];
		const struct schema *s = trace_schema(t, site);
		for (uint32_t k = 0; k < site->column_count; k++)
			if (sampler_group(&site->columns[k]) && !can_draw(s, k))
				return error_set(error,
				                 "it cannot be replayed: the order of %.*s of %.*s (site %u) is lost. "
				                 "Modes lossy:N keep it with structure: exact",
				                 k < s->count ? (int)s->column[k].length : 14,
				                 k < s->count ? s->column[k].name : "the next calls",
				                 (int)s->function_length, s->function, i);
	}
	return 0;
}

int unrecorded_create(struct unrecorded **out, const struct trace *t, uint32_t rank, uint64_t seed, struct error *error)
{
	struct unrecorded *u = calloc(1, sizeof *u);
	*out = u;
	if (!u)
		return error_set(error, "no memory");
	u->trace = t;
	u->visits = calloc((size_t)t->site_count + 1, sizeof *u->visits);
	u->sampler = sampler_create(t, rank, seed);
	if (!u->visits || !u->sampler || collective_args_create(&u->collectives, t, seed) != 0)
		return error_set(error, "no memory");
	return 0;
}

void unrecorded_destroy(struct unrecorded *u)
{
	if (!u)
		return;
	free(u->visits);
	sampler_destroy(u->sampler);
	collective_args_destroy(u->collectives);
	free(u);
}

/* ---- one event ---- */

static void fill_scalars(struct unrecorded *u, struct event *e, uint64_t visit)
{
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		if (e->values[i] == VALUE_LOSSY && !c->vector && c->kind != 'r') /* a string: the empty one */
			e->values[i] = c->kind == 's' ? 0 : sampler_value(u->sampler, e->site, i, visit);
	}
}

/* A message that was made has its flag. */
static void fill_flag(struct unrecorded *u, struct event *e)
{
	int flag = e->schema->at[PARAMETER_FLAG], message = e->schema->at[PARAMETER_MESSAGE];
	if (flag >= 0 && message >= 0 && sampler_is_lossy(u->sampler, e->site, (size_t)flag))
		e->values[flag] = !value_is_constant(e->values[message]);
}

/* Ranks that there are. */
static void fit_ranks(struct unrecorded *u, struct args *a, struct event *e)
{
	const struct schema *s = e->schema;
	int comm = s->at[PARAMETER_COMM];
	for (size_t i = 0; comm >= 0 && i < s->count; i++) {
		if (s->column[i].kind != 'p' || s->column[i].vector || is_result(s, i) ||
		    value_is_constant(e->values[i]) || !sampler_is_lossy(u->sampler, e->site, i))
			continue;
		int size = object_peers(args_object(a, HANDLE_COMM, e->values[comm]));
		if (size > 0)
			e->values[i] = sampler_rank(e->values[i], e->base, size) - e->base;
	}
}

/* How many requests an array has that is not known: the number before it. Where it is known, that number is. */
static void count_requests(struct args *a, struct event *e)
{
	int i = e->schema->at[PARAMETER_REQUEST];
	size_t n;
	a->request_count = 0;
	if (i < 1 || !e->schema->column[i].vector || value_is_constant(e->values[i - 1]))
		return;
	if (args_elements(a, e->values[i], &n))
		e->values[i - 1] = (int64_t)n;
	a->request_count = (int)e->values[i - 1];
}

void unrecorded_fill(struct unrecorded *u, struct args *a, struct event *e)
{
	uint64_t visit = u->visits[e->site]++;
	int error = e->schema->at[PARAMETER_ERROR];
	if (error >= 0 && e->values[error] == VALUE_LOSSY)
		e->values[error] = sampler_value(u->sampler, e->site, (size_t)error, visit);
	replay_outcome.mixed_types = false;
	if (error < 0 || !value_is_constant(e->values[error]))
		collective_args_fill(u->collectives, a, e, u->sampler, visit);
	fill_scalars(u, e, visit);
	fill_flag(u, e);
	fit_ranks(u, a, e);
	count_requests(a, e);
}

bool unrecorded_has_message(const struct unrecorded *u, const struct event *e)
{
	int source = e->schema->at[PARAMETER_SOURCE];
	if (source < 0)
		return false;
	const struct trace_group *g = sampler_group(&u->trace->sites[e->site].columns[source]);
	for (uint32_t k = 0; g && k < g->lossy->values.count; k++)
		if (trace_is_constant(u->trace, g->lossy->values.bins[k].min, CONST_MPI_PROC_NULL))
			return false;
	return !trace_is_constant(u->trace, e->values[source], CONST_MPI_PROC_NULL);
}
