/* SPDX-License-Identifier: BSD-3-Clause
 * prescan - looks ahead in a rank's events
 */
#include "replay/prescan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "replay/allowance.h"

#define OPEN    (-3) /* in the ring: not known yet */
#define NO_POST UINT64_MAX

/* What a function does to requests of receives. */
enum what { OTHER, POST, INIT, START, COMPLETE_ALL, COMPLETE_ANY, COMPLETE_SOME, FREE };

struct prescan {
	const struct trace *trace;
	uint32_t rank;
	bool every;
	struct walk *walk;
	/* Receives that were posted and not asked for yet, by number: the source of their message. */
	int32_t *ring;
	size_t capacity;
	uint64_t first, end;
	struct active {
		uint64_t post; /* number of the receive, or NO_POST */
		bool persistent;
	} * active; /* by request number */
	size_t active_count;
};

/* Which functions post receives here is what receive.c does. */
static enum what what_of(const struct mpi_function *f)
{
	if (f->base == FN_MPI_Recv && f->form != FORM_BLOCKING)
		return f->form == FORM_PERSISTENT ? INIT : POST;
	switch (f->completes) {
	case COMPLETES_ALL:
		return COMPLETE_ALL;
	case COMPLETES_ANY:
		return COMPLETE_ANY;
	case COMPLETES_SOME:
		return COMPLETE_SOME;
	default:
		return f->function == FN_MPI_Start || f->function == FN_MPI_Startall ? START
		       : f->function == FN_MPI_Request_free                          ? FREE
		                                                                     : OTHER;
	}
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
		enum what what = what_of(s->mpi);
		*every |= s->mpi->function == FN_MPI_Cancel;
		any |= (what == POST || what == INIT) && may_be_any_source(t, &t->sites[i], s->at[PARAMETER_SOURCE]);
	}
	return any || *every;
}

int prescan_create(struct prescan **out, const struct trace *t, uint32_t rank, bool every, struct error *error)
{
	struct prescan *s = calloc(1, sizeof *s);
	*out = NULL;
	if (!s)
		return error_set(error, "no memory");
	s->trace = t;
	s->rank = rank;
	s->every = every;
	if (walk_begin(&s->walk, t, rank, error) != 0) {
		prescan_destroy(s);
		return -1;
	}
	*out = s;
	return 0;
}

void prescan_destroy(struct prescan *s)
{
	if (!s)
		return;
	walk_end(s->walk);
	free(s->active);
	free(s->ring);
	free(s);
}

/* ---- what the walk sees ---- */

/* What is known of a request; NULL: it is none. */
static struct active *active_request(struct prescan *s, int64_t request)
{
	if (value_is_constant(request) || request < 0 || request > INT32_MAX)
		return NULL;
	if ((uint64_t)request >= s->active_count) {
		size_t count = (size_t)request * 2 + 16;
		bool room = allowance_take((count - s->active_count) * sizeof *s->active);
		struct active *more = room ? realloc(s->active, count * sizeof *more) : NULL;
		if (!more)
			return NULL;
		for (size_t i = s->active_count; i < count; i++)
			more[i] = (struct active){NO_POST, false};
		s->active = more;
		s->active_count = count;
	}
	return &s->active[request];
}

/* It is known where the message of a receive is from. */
static void resolve_receive(struct prescan *s, struct active *r, int32_t source)
{
	if (!r || r->post == NO_POST)
		return;
	if (r->post >= s->first) {
		assert(r->post < s->end);
		s->ring[r->post % s->capacity] = source;
	}
	r->post = NO_POST;
}

/* A receive is posted. Returns 0, or -1 on no memory. */
static int add_receive(struct prescan *s, struct active *r)
{
	resolve_receive(s, r, PRESCAN_UNKNOWN);
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
	r->post = s->end;
	s->ring[s->end++ % s->capacity] = OPEN;
	return 0;
}

/* An element of an array value, or the value itself. */
static int64_t element_of(const struct trace *t, const struct event *e, int column, size_t i, size_t *n)
{
	int64_t v = column >= 0 ? e->values[column] : 0;
	*n = 1;
	if (column < 0 || !e->schema->column[column].vector)
		return v;
	*n = 0;
	if (value_is_constant(v))
		return v;
	const struct pool_item *vector = event_vector(t, e, v);
	*n = vector->size / sizeof v;
	if (i < *n)
		memcpy(&v, vector->bytes + i * sizeof v, sizeof v);
	return v;
}

/* Request i of the event was completed, status k belongs to it. */
static void complete_request(struct prescan *s, const struct event *e, size_t i, size_t k)
{
	const struct schema *schema = e->schema;
	size_t n, m;
	int64_t request = element_of(s->trace, e, schema->at[PARAMETER_REQUEST], i, &n),
		source = element_of(s->trace, e, schema->at[PARAMETER_STATUS_SOURCE], k, &m);
	if (i >= n)
		return;
	struct active *at = active_request(s, request);
	if (schema->at[PARAMETER_ERROR] >= 0 || k >= m)
		resolve_receive(s, at, PRESCAN_UNKNOWN);
	else if (value_is_constant(source))
		resolve_receive(s, at,
		                trace_is_constant(s->trace, source, CONST_ABSENT) ? PRESCAN_NONE : PRESCAN_UNKNOWN);
	else
		resolve_receive(s, at, (int32_t)(source + e->base));
}

/* A call that may complete some of its n requests. Of a call that failed it is not known which messages came. */
static void see_completion(struct prescan *s, const struct event *e, enum what what, size_t n)
{
	const struct schema *schema = e->schema;
	int flag = schema->at[PARAMETER_FLAG], index = schema->at[PARAMETER_INDEX];
	bool failed = schema->at[PARAMETER_ERROR] >= 0;
	size_t completed, unused;
	if (!failed && flag >= 0 && e->values[flag] != 1)
		return;
	if (what == COMPLETE_ANY) {
		if (failed || !value_is_constant(e->values[index]))
			complete_request(s, e, failed ? 0 : (size_t)e->values[index], 0);
	} else if (failed || what == COMPLETE_ALL) {
		for (size_t i = 0; i < n; i++)
			complete_request(s, e, i, i);
	} else {
		int indices = schema->at[PARAMETER_INDICES];
		element_of(s->trace, e, indices, 0, &completed);
		for (size_t i = 0; i < completed; i++)
			complete_request(s, e, (size_t)element_of(s->trace, e, indices, i, &unused), i);
	}
}

/* Returns 0, or -1 on no memory. */
static int see_event(struct prescan *s, const struct event *e)
{
	const struct schema *schema = e->schema;
	enum what what = what_of(schema->mpi);
	bool failed = schema->at[PARAMETER_ERROR] >= 0;
	int request = schema->at[PARAMETER_REQUEST], source = schema->at[PARAMETER_SOURCE];
	size_t n, unused;
	if (what == OTHER || request < 0)
		return 0;
	struct active *at = active_request(s, element_of(s->trace, e, request, 0, &n));
	switch (what) {
	case POST:
	case INIT:
		if (failed || !at ||
		    !(s->every || trace_is_constant(s->trace, e->values[source], CONST_MPI_ANY_SOURCE)))
			return 0;
		if (what == POST)
			return add_receive(s, at);
		resolve_receive(s, at, PRESCAN_UNKNOWN);
		at->persistent = true;
		return 0;
	case START:
		for (size_t i = 0; i < n && !failed; i++) {
			at = active_request(s, element_of(s->trace, e, request, i, &unused));
			if (at && at->persistent && add_receive(s, at) != 0)
				return -1;
		}
		return 0;
	case FREE:
		resolve_receive(s, at, PRESCAN_UNKNOWN);
		if (at)
			at->persistent = false;
		return 0;
	default:
		see_completion(s, e, what, n);
		return 0;
	}
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
