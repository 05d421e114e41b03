/* SPDX-License-Identifier: BSD-3-Clause
 * prescan - looks ahead in a rank's events
 */
#include "replay/prescan.h"

#include <assert.h>
#include <stdlib.h>

#include "insight/execution.h"
#include "trace/model/value.h"

#define OPEN (-3) /* in the ring: not known yet */

struct prescan {
	struct calls calls;
	uint32_t rank;
	bool every;
	struct walk *walk;
	struct execution *execution;
	/* Receives that were posted and not asked for yet, by number: the source of their message. */
	int32_t *ring;
	size_t capacity;
	uint64_t first, end;
};

/* Does a call site post such receives, itself or by MPI_Start? What receive.c does is done by this function. */
static bool posts(const struct schema *s)
{
	return s->mpi->base == FN_MPI_Recv && s->mpi->form != FORM_BLOCKING;
}

/* Can the source of a site be MPI_ANY_SOURCE? */
static bool may_be_any_source(const struct trace *t, const struct trace_site *s, int source)
{
	const struct trace_column *c = &s->columns[source];
	for (uint32_t g = 0; g < c->count; g++)
		for (uint32_t d = 0; d < c->groups[g].count; d++)
			for (size_t i = 0; i < c->groups[g].dict[d].start.node_count; i++) {
				const struct diagram_node *n = &c->groups[g].dict[d].start.nodes[i];
				if (n->low == DIAGRAM_LEAF && value_is_constant(n->delta) &&
				    (uint64_t)n->delta - (uint64_t)VALUE_CONSTANT < t->strings.count &&
				    trace_is_constant(t, n->delta, CONST_MPI_ANY_SOURCE))
					return true;
			}
	return false;
}

bool prescan_needed(const struct trace *t, bool *every)
{
	bool any = false;
	*every = false;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);
		*every |= s->mpi->function == FN_MPI_Cancel;
		any |= posts(s) && may_be_any_source(t, &t->sites[i], s->at[PARAMETER_SOURCE]);
	}
	return any || *every;
}

int prescan_create(struct prescan **out, const struct trace *t, uint32_t rank, bool every, struct error *error)
{
	struct prescan *s = calloc(1, sizeof *s);
	*out = NULL;
	if (!s)
		return error_set(error, "no memory");
	s->rank = rank;
	s->every = every;
	if (calls_make(&s->calls, t) == 0)
		s->execution = execution_create_unsized(&s->calls, NULL, rank);
	if (!s->execution)
		error_set(error, "no memory");
	else if (walk_begin(&s->walk, t, rank, error) == 0)
		*out = s;
	if (*out)
		return 0;
	prescan_destroy(s);
	return -1;
}

void prescan_destroy(struct prescan *s)
{
	if (!s)
		return;
	walk_end(s->walk);
	execution_destroy(s->execution);
	calls_free(&s->calls);
	free(s->ring);
	free(s);
}

/* ---- what the walk sees ---- */

/* Returns 0, or -1 on no memory. */
static int add_receive(struct prescan *s, const struct act *m)
{
	if (s->end - s->first == s->capacity) {
		size_t capacity = s->capacity ? 2 * s->capacity : 64;
		int32_t *ring = malloc(capacity * sizeof *ring);
		if (!ring)
			return -1;
		for (uint64_t i = s->first; i < s->end; i++)
			ring[i % capacity] = s->ring[i % s->capacity];
		free(s->ring);
		s->ring = ring;
		s->capacity = capacity;
	}
	s->ring[s->end++ % s->capacity] = OPEN;
	execution_mark(s->execution, m, s->end);
	return 0;
}

/* It is known where the message of a receive is from. */
static void resolve_receive(const struct prescan *s, const struct act *m)
{
	uint64_t post = m->mark - 1;
	if (m->mark == 0 || post < s->first) /* it does not matter; or it was asked for before it was complete */
		return;
	assert(post < s->end);
	s->ring[post % s->capacity] = m->kind == ACT_RECV_END ? (int32_t)m->local
	                              : m->lost               ? PRESCAN_UNKNOWN
	                                                      : PRESCAN_NONE;
}

static bool is_asked_for(const struct prescan *s, const struct act *m)
{
	const struct trace *t = s->calls.trace;
	return posts(trace_schema(t, &t->sites[m->site])) && (s->every || m->local == RANK_UNKNOWN);
}

/* Returns 0, or -1 on no memory. */
static int see_event(struct prescan *s, const struct event *e)
{
	size_t n;
	const struct act *list = execution_event(s->execution, e, &n);
	for (size_t i = 0; list && i < n; i++) {
		if (list[i].kind == ACT_RECV_END || list[i].kind == ACT_CANCELLED)
			resolve_receive(s, &list[i]);
		else if (list[i].kind == ACT_RECV_BEGIN && is_asked_for(s, &list[i]) && add_receive(s, &list[i]) != 0)
			return -1;
	}
	return list ? 0 : -1;
}

int prescan_next(struct prescan *s, int *source, struct error *error)
{
	struct event e;
	int rv = 0;
	while (rv == 0 && (s->first == s->end || s->ring[s->first % s->capacity] == OPEN)) {
		rv = walk_next(s->walk, &e, error);
		if (rv == 0 && see_event(s, &e) != 0)
			return error_set(error, "no memory");
	}
	if (rv < 0)
		return -1;
	if (s->first == s->end)
		return error_set(error, "rank %u: a receive is posted that is not in the trace", s->rank);
	*source = s->ring[s->first % s->capacity];
	if (*source == OPEN)
		*source = PRESCAN_UNKNOWN;
	s->first++;
	return 0;
}
