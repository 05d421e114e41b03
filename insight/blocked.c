/* SPDX-License-Identifier: BSD-3-Clause
 * blocked - what each thread of each rank waits for when its trace ends
 */
#include "insight/blocked.h"

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/unended.h"

/* --- meetings --- */

struct meeting_key {
	const struct blocked *b;
	uint64_t scope, place;
	enum wait_kind kind;
};

static bool is_meeting(const void *context, uint32_t number)
{
	const struct meeting_key *key = context;
	const struct blocked_meeting *m = &key->b->meetings[number];
	return m->scope == key->scope && m->place == key->place && m->kind == key->kind;
}

/* Is the call that it is in the one with this number? */
static bool is_in(const struct blocked *b, uint32_t rank, uint64_t scope, uint64_t place, struct end_took *took)
{
	uint32_t stream;
	for (uint32_t thread = 0; stream_next(b->state.trace, rank, &thread, &stream); thread++) {
		const struct end_stream *s = end_state_stream(&b->state, stream);
		const struct end_call *call = s ? &b->streams[s - b->state.streams].call : NULL;
		const struct end_collective *c = end_state_collectives(&b->state, rank, scope);
		if (!call || !call->schema || call->scope != scope || !mpi_is_collective(call->schema->mpi) ||
		    (c ? c->count : 0) != place)
			continue;
		if (took)
			*took = (struct end_took){call->schema->mpi, call->root};
		return true;
	}
	return false;
}

bool blocked_came(const struct blocked *b, uint32_t rank, uint64_t scope, uint64_t place, struct end_took *took)
{
	if (took)
		took->function = NULL;
	if (place == PLACE_ANY)
		return false;
	if (place == PLACE_FINALIZE) {
		const struct end_stream *s = end_state_stream(&b->state, rank);
		return s && s->finalized;
	}
	const struct end_collective *c = end_state_collectives(&b->state, rank, scope);
	if (!c || c->count <= place)
		return is_in(b, rank, scope, place, took);
	if (took && !c->mixed && place + END_LAST >= c->count)
		*took = c->last[place % END_LAST];
	return true;
}

static uint32_t add_meeting(struct blocked *b, uint64_t hash, const struct blocked_meeting *m)
{
	if (!budget_grow(&b->meetings, b->meeting_count, &b->meeting_capacity, sizeof *m))
		return WAIT_NODE_NONE;
	if (index_add(&b->meeting_index, hash, b->meeting_count) != 0)
		return WAIT_NODE_NONE;
	b->meetings[b->meeting_count++] = *m;
	return m->node;
}

uint32_t condition_meeting(struct blocked *b, uint64_t scope, uint64_t place, enum wait_kind kind, bool *met)
{
	struct meeting_key key = {b, scope, place, kind};
	uint64_t hash = hash_mix(hash_mix(hash_mix(29, scope), place), kind);
	uint32_t number = index_find(&b->meeting_index, hash, is_meeting, &key), self = 0, missing = 0;
	struct blocked_meeting m = {scope, place, kind, WAIT_NODE_NONE};
	*met = false;
	if (number != INDEX_NONE) {
		*met = b->meetings[number].node == WAIT_NODE_NONE;
		return b->meetings[number].node;
	}
	uint32_t size = comms_at(b->state.comms, scope_comm(scope))->size;
	for (uint32_t i = 0; i < size && budget_step(1); i++) {
		uint32_t rank = comms_world(b->state.comms, scope_comm(scope), i, self);
		if (rank < b->state.trace->size && blocked_came(b, rank, scope, place, NULL))
			continue;
		if (missing++ == 0 && (m.node = wait_graph_add(b->graph, kind)) == WAIT_NODE_NONE)
			return WAIT_NODE_NONE;
		/* of whom nothing is known may come */
		uint32_t node =
			rank < b->state.trace->size ? b->rank_nodes[rank] : wait_graph_add(b->graph, WAIT_FOR_ALL);
		if (wait_graph_wait(b->graph, m.node, node) != 0)
			return WAIT_NODE_NONE;
	}
	*met = missing == 0;
	return add_meeting(b, hash, &m);
}

bool blocked_collective(const struct blocked *b, uint32_t number, uint64_t *scope, uint64_t *place)
{
	const struct blocked_stream *s = &b->streams[number];
	const struct end_stream *of = &b->state.streams[number];
	if (!s->call.schema || s->call.scope == SCOPE_UNKNOWN)
		return false;
	const struct mpi_function *f = s->call.schema->mpi;
	if (!mpi_is_collective(f) || f->scope == SCOPE_WORLD || f->scope == SCOPE_GROUP)
		return false;
	const struct end_collective *c = end_state_collectives(&b->state, of->rank, s->call.scope);
	*scope = s->call.scope;
	*place = c ? c->count : 0;
	return !c || !c->mixed;
}

/* --- all streams --- */

/* Another process has to do something before it returns. */
static bool can_wait(const struct mpi_function *f)
{
	return f->waits != WAITS_NOT || (mpi_is_collective(f) && f->form == FORM_BLOCKING) ||
	       f->class == MPI_CLASS_ONE_SIDED || f->class == MPI_CLASS_OTHER;
}

static void look_at(struct blocked *b, uint32_t number)
{
	const struct end_stream *of = &b->state.streams[number];
	struct blocked_stream *s = &b->streams[number];
	const struct trace_unended *u = unended_of(b->state.trace, of->stream);
	*s = (struct blocked_stream){.kind = BLOCKED_UNKNOWN, .request = VALUE_NONE};
	if (of->finalized) { /* which is an event when it begins */
		s->kind = BLOCKED_DOUBT;
		s->site = of->finalize_site;
		s->call = (struct end_call){.schema = trace_schema(b->state.trace, &b->state.trace->sites[s->site]),
		                            .dest = RANK_UNKNOWN,
		                            .source = RANK_UNKNOWN,
		                            .scope = COMM_WORLD};
	}
	if (!u)
		return;
	s->site = u->site;
	s->ns = u->max_rank == of->stream ? u->max : u->min; /* that of others is not kept */
	if (of->finalized)
		return;
	if (u->call)
		end_state_call(&b->state, of->stream, &s->call);
	s->kind = u->call && can_wait(s->call.schema->mpi) ? BLOCKED_DOUBT
	          : of->polls > 0                          ? BLOCKED_POLLS
	          : u->call                                ? BLOCKED_GOES_ON
	                                                   : BLOCKED_COMPUTES;
	if (s->call.schema && s->call.schema->mpi->class == MPI_CLASS_POINT_TO_POINT &&
	    s->call.dest < b->state.trace->size) {
		s->next_sender = b->senders[s->call.dest];
		b->senders[s->call.dest] = number + 1;
	}
}

/* Two threads are one node that can go on when one of them can. */
static int make_nodes(struct blocked *b)
{
	const struct trace *t = b->state.trace;
	uint32_t stream;
	for (uint32_t i = 0; i < b->state.stream_count; i++)
		if (wait_graph_add(b->graph, WAIT_FOR_ALL) != i)
			return -1;
	for (uint32_t rank = 0; rank < t->size; rank++) {
		const struct end_stream *first = end_state_stream(&b->state, rank);
		uint32_t threads = 0;
		for (uint32_t thread = 0; stream_next(t, rank, &thread, &stream); thread++)
			threads++;
		if (first && threads == 1) {
			b->rank_nodes[rank] = (uint32_t)(first - b->state.streams);
			continue;
		}
		uint32_t node = wait_graph_add(b->graph, threads ? WAIT_FOR_ANY : WAIT_FOR_ALL);
		b->rank_nodes[rank] = node;
		for (uint32_t thread = 0; stream_next(t, rank, &thread, &stream); thread++) {
			const struct end_stream *s = end_state_stream(&b->state, stream);
			if (!s || wait_graph_wait(b->graph, node, (uint32_t)(s - b->state.streams)) != 0)
				return -1;
		}
	}
	return 0;
}

static int find_condition(struct blocked *b, uint32_t number, bool polls)
{
	struct blocked_stream *s = &b->streams[number];
	const struct end_call *call = s->kind == BLOCKED_POLLS ? &b->state.streams[number].polled : &s->call;
	if (!call->schema || s->kind == BLOCKED_GOES_ON || (s->kind == BLOCKED_POLLS && !polls))
		return 0;
	struct condition c = condition_of(b, number, call);
	if (c.kind == CONDITION_MAYBE && s->ns < b->patience)
		c = condition_met();
	if (s->kind != BLOCKED_POLLS)
		s->kind = c.kind == CONDITION_MET     ? BLOCKED_GOES_ON
		          : c.kind == CONDITION_DOUBT ? BLOCKED_DOUBT
		                                      : BLOCKED_WAITS;
	s->doubt = c.doubt;
	return c.node == WAIT_NODE_NONE ? 0 : wait_graph_wait(b->graph, number, c.node);
}

int blocked_make(struct blocked *b, const struct trace *t, uint64_t patience, bool polls, struct error *error)
{
	*b = (struct blocked){.patience = patience};
	int rv = end_state_make(&b->state, t, error);
	if (rv != 0)
		return rv;
	b->graph = wait_graph_create();
	b->streams = budget_calloc((size_t)b->state.stream_count + 1, sizeof *b->streams);
	b->rank_nodes = budget_calloc((size_t)t->size + 1, sizeof *b->rank_nodes);
	b->senders = budget_calloc((size_t)t->size + 1, sizeof *b->senders);
	if (!b->graph || !b->streams || !b->rank_nodes || !b->senders || make_nodes(b) != 0)
		return error_set(error, "no memory");
	b->parts = wait_graph_count(b->graph);
	for (uint32_t i = 0; i < b->state.stream_count; i++)
		look_at(b, i);
	for (uint32_t rank = 0; rank < t->size; rank++)
		b->unsure |= b->state.ranks[rank].unsure != 0;
	for (uint32_t i = 0; rv == 0 && i < b->state.stream_count; i++)
		rv = find_condition(b, i, polls);
	return rv == 0 && wait_graph_reduce(b->graph) >= 0 ? 0 : error_set(error, "no memory");
}

void blocked_free(struct blocked *b)
{
	end_state_free(&b->state);
	wait_graph_destroy(b->graph);
	budget_free(b->streams);
	budget_free(b->rank_nodes);
	budget_free(b->senders);
	budget_free(b->meetings);
	index_free(&b->meeting_index);
}
