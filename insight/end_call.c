/* SPDX-License-Identifier: BSD-3-Clause
 * end_call - the arguments of one call, of an event or of a call that did not end, in terms of MPI_COMM_WORLD
 *
 * An act is made of an event, and a call that did not end is none; nothing is followed here.
 */
#include "insight/end_state.h"

static int64_t argument(const struct schema *s, enum mpi_parameter p, end_argument *get, void *context)
{
	int64_t value;
	return s->at[p] >= 0 && get(context, s->at[p], 0, &value) ? value : VALUE_NONE;
}

uint32_t end_peer(const struct end_state *x, uint32_t stream, uint64_t scope, int64_t value, int64_t base)
{
	if (value == VALUE_NONE || value == VALUE_LOSSY)
		return RANK_UNKNOWN;
	if (value_is_constant(value))
		return trace_is_constant(x->trace, value, CONST_MPI_ANY_SOURCE)  ? RANK_ANY
		       : trace_is_constant(x->trace, value, CONST_MPI_PROC_NULL) ? RANK_NOBODY
		                                                                 : RANK_UNKNOWN;
	return comms_world(x->comms, scope_comm(scope), (int64_t)((uint64_t)value + (uint64_t)base), /* damaged: any */
	                   stream_rank(x->trace, stream));
}

static int64_t tag_of(const struct trace *t, int64_t value)
{
	return value_is_constant(value) ? (trace_is_constant(t, value, CONST_MPI_ANY_TAG) ? TAG_ANY : VALUE_NONE)
	       : value == VALUE_LOSSY   ? VALUE_NONE
	                                : value;
}

static const struct end_handle *handle_find(const struct end_rank *r, char kind, int64_t number)
{
	for (uint32_t i = 0; i < r->handle_count; i++)
		if (r->handles[i].kind == kind && r->handles[i].number == number)
			return &r->handles[i];
	return NULL;
}

uint64_t end_scope(const struct end_state *x, uint32_t stream, const struct schema *s, end_argument *get, void *context)
{
	const struct end_rank *r = &x->ranks[stream_rank(x->trace, stream)];
	const struct end_handle *handle = NULL;
	if (s->at[PARAMETER_COMM] >= 0) {
		uint32_t comm = comms_find(x->comms, stream, argument(s, PARAMETER_COMM, get, context));
		/* its members are not those of one group */
		return comm == COMM_UNKNOWN || comms_is_inter(x->comms, comm) ? SCOPE_UNKNOWN : comm;
	}
	if (s->mpi->scope == SCOPE_WORLD)
		return COMM_WORLD;
	if (s->at[PARAMETER_WIN] >= 0)
		handle = handle_find(r, 'w', argument(s, PARAMETER_WIN, get, context));
	else if (s->at[PARAMETER_FILE] >= 0)
		handle = handle_find(r, 'f', argument(s, PARAMETER_FILE, get, context));
	return handle ? handle->scope : SCOPE_UNKNOWN;
}

void end_call_requests(struct end_call *out, end_argument *get, void *context)
{
	const struct schema *s = out->schema;
	int at = s->at[PARAMETER_REQUEST], count = s->at[PARAMETER_COUNT];
	int64_t value, expected = 1;
	if (at < 0 || s->column[at].direction == '>')
		return;
	if (s->column[at].vector && !(count >= 0 && get(context, count, 0, &expected)) &&
	    !((count = schema_column(s, "incount")) >= 0 && get(context, count, 0, &expected)) &&
	    !((count = schema_column(s, "count")) >= 0 && get(context, count, 0, &expected)))
		expected = INT64_MAX;
	while (out->request_count < END_REQUESTS && out->request_count < expected &&
	       get(context, at, out->request_count, &value))
		out->requests[out->request_count++] = value_is_constant(value) ? VALUE_NONE : value;
	out->requests_known = out->request_count == expected;
}

/* MPI_Win_lock and what ends it: the target, and that nobody else may hold it; where that is not known, they may. */
static void fill_lock(const struct end_state *x, struct end_call *out, int64_t base, end_argument *get, void *context)
{
	int rank = schema_column(out->schema, "rank"), lock = schema_column(out->schema, "lock_type");
	int64_t type;
	if (rank >= 0 && get(context, rank, 0, &out->rank) && out->rank > VALUE_LOSSY)
		out->rank = (int64_t)((uint64_t)out->rank + (uint64_t)base);
	out->exclusive = lock >= 0 && get(context, lock, 0, &type) &&
	                 trace_is_constant(x->trace, type, CONST_MPI_LOCK_EXCLUSIVE);
}

void end_call_fill(const struct end_state *x, uint32_t stream, int64_t base, struct end_call *out, end_argument *get,
                   void *context)
{
	const struct schema *s = out->schema;
	uint64_t scope = out->scope = end_scope(x, stream, s, get, context);
	out->dest = end_peer(x, stream, scope, argument(s, PARAMETER_DEST, get, context), base);
	out->source = end_peer(x, stream, scope, argument(s, PARAMETER_SOURCE, get, context), base);
	out->tag = tag_of(x->trace, argument(s, PARAMETER_TAG, get, context));
	out->recv_tag = s->at[PARAMETER_RECV_TAG] >= 0 ? tag_of(x->trace, argument(s, PARAMETER_RECV_TAG, get, context))
	                                               : out->tag;
	out->root = argument(s, PARAMETER_ROOT, get, context);
	out->group = argument(s, PARAMETER_GROUP, get, context);
	out->rank = VALUE_NONE;
	if (s->mpi->class == MPI_CLASS_ONE_SIDED)
		fill_lock(x, out, base, get, context);
}
