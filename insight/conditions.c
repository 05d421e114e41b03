/* SPDX-License-Identifier: BSD-3-Clause
 * conditions - what one call waits for
 *
 * Asks where all ranks stand (end_state.h), and follows nothing itself.
 */
#include "trace/base/budget.h"
#include "insight/blocked.h"
#include "trace/read/completed.h"

static const char no_comm[] = "it is not known who is in its communicator";
static const char no_arguments[] = "its arguments are not known";
/* Of larger communicators all ranks share one node: its edges are as many as there are ranks. */
#define ANY_SOURCE_OWN 2048

static const char is_unsure[] = "what was sent to it and received is not known in full";

static bool unsure(const struct blocked *b, uint32_t rank)
{
	return rank >= b->state.trace->size || b->state.ranks[rank].unsure != 0;
}

/* --- messages --- */

/* A message that is being sent by a call in flight. */
static bool is_being_sent(const struct blocked *b, const struct message_key *key)
{
	uint32_t stream;
	for (uint32_t thread = 0; stream_next(b->state.trace, key->source, &thread, &stream); thread++) {
		const struct end_stream *s = end_state_stream(&b->state, stream);
		const struct end_call *call = s ? &b->streams[s - b->state.streams].call : NULL;
		if (call && call->schema && call->schema->mpi->class == MPI_CLASS_POINT_TO_POINT &&
		    call->dest == key->dest && call->scope == key->scope && call->tag == key->tag)
			return true;
	}
	return false;
}

/* Receives of the same messages that were posted before, and are live: they take theirs first. before: order of
 * posting. wild: could others take them, too? Then that is not known. */
static uint64_t posted_before(const struct blocked *b, const struct message_key *key, uint64_t before, bool *wild)
{
	uint64_t n = 0;
	uint32_t stream;
	const struct message_count *c = message_counts_find(b->state.messages, key);
	*wild = b->state.ranks[key->dest].wild;
	if (*wild || !c || c->posted <= 1) /* it is the only one */
		return 0;
	for (uint32_t thread = 0; stream_next(b->state.trace, key->dest, &thread, &stream); thread++) {
		const struct end_stream *s = end_state_stream(&b->state, stream);
		*wild |= thread > 0;
		for (uint32_t i = 0; s && i < s->request_count && budget_step(1); i++) {
			const struct end_request *r = &s->requests[i];
			n += r->kind == REQUEST_RECV && r->active && r->scope == key->scope && r->peer == key->source &&
			     r->tag == key->tag && r->place < before;
		}
	}
	return n;
}

/* Is a message there that a receive can take? order: of posting; UINT64_MAX: now. */
static bool message_is_there(const struct blocked *b, uint32_t rank, uint64_t scope, uint32_t source, int64_t tag,
                             uint64_t order)
{
	const struct message_count *c = NULL;
	struct message_key key = {scope, tag, source, rank};
	bool wild = false;
	if (source != RANK_ANY && tag != TAG_ANY) {
		if (is_being_sent(b, &key))
			return true;
		uint64_t before = posted_before(b, &key, order, &wild);
		return message_count_pending(message_counts_find(b->state.messages, &key)) > (wild ? 0 : before);
	}
	while ((c = message_counts_next(b->state.messages, rank, c)))
		if (c->key.scope == scope && (source == RANK_ANY || c->key.source == source) &&
		    (tag == TAG_ANY || c->key.tag == tag) && message_count_pending(c) > 0)
			return true;
	/* what is being sent, of any tag or from anybody */
	for (uint32_t i = b->senders[rank]; i > 0 && budget_step(1); i = b->streams[i - 1].next_sender) {
		const struct end_call *call = &b->streams[i - 1].call;
		if (call->scope == scope && (tag == TAG_ANY || call->tag == tag) &&
		    (source == RANK_ANY || source == b->state.streams[i - 1].rank))
			return true;
	}
	return false;
}

/* Anybody of the communicator can send; the rank itself only if another thread of it does. */
static struct condition condition_any_source(struct blocked *b, uint32_t rank, uint64_t scope)
{
	const struct comms *comms = b->state.comms;
	uint32_t size = comms_at(comms, scope_comm(scope))->size, node = WAIT_NODE_NONE;
	bool met;
	if (b->unsure && size > ANY_SOURCE_OWN)
		return condition_doubt(is_unsure);
	for (uint32_t i = 0; i < size && size <= ANY_SOURCE_OWN; i++)
		if (unsure(b, comms_world(comms, scope_comm(scope), i, rank)))
			return condition_doubt(is_unsure);
	if (size == 1)
		return condition_waits(b->rank_nodes[rank], true);
	if (size > ANY_SOURCE_OWN)
		return condition_waits(condition_meeting(b, scope, PLACE_ANY, WAIT_FOR_ANY, &met), true);
	node = wait_graph_add(b->graph, WAIT_FOR_ANY);
	for (uint32_t i = 0; i < size; i++) {
		uint32_t other = comms_world(comms, scope_comm(scope), i, rank);
		bool alone = b->rank_nodes[other] < b->state.stream_count;
		if (!(other == rank && alone) && wait_graph_wait(b->graph, node, b->rank_nodes[other]) != 0)
			return condition_doubt(no_arguments);
	}
	return condition_waits(node, true);
}

static struct condition condition_receive(struct blocked *b, uint32_t rank, uint64_t scope, uint32_t source,
                                          int64_t tag, uint64_t order)
{
	if (source == RANK_NOBODY)
		return condition_met();
	if (scope_comm(scope) == COMM_UNKNOWN)
		return condition_doubt(no_comm);
	if (source == RANK_UNKNOWN || tag == VALUE_NONE)
		return condition_doubt(no_arguments);
	if (unsure(b, rank) || (source != RANK_ANY && unsure(b, source)))
		return condition_doubt(is_unsure);
	if (message_is_there(b, rank, scope, source, tag, order))
		return condition_met();
	if (source != RANK_ANY)
		return condition_waits(b->rank_nodes[source], true);
	return condition_any_source(b, rank, scope);
}

/* order: how many messages with its key were sent before. */
static struct condition condition_send(struct blocked *b, uint32_t rank, uint64_t scope, uint32_t dest, int64_t tag,
                                       uint64_t order, bool certain)
{
	struct message_key key = {scope, tag, rank, dest};
	if (dest == RANK_NOBODY)
		return condition_met();
	if (scope_comm(scope) == COMM_UNKNOWN)
		return condition_doubt(no_comm);
	if (dest == RANK_UNKNOWN || tag == VALUE_NONE)
		return condition_doubt(no_arguments);
	if (unsure(b, rank) || unsure(b, dest))
		return condition_doubt(is_unsure);
	const struct message_count *c = message_counts_find(b->state.messages, &key);
	if ((c ? c->received : 0) + end_state_posted(&b->state, &key) > order)
		return condition_met();
	return condition_waits(b->rank_nodes[dest], certain);
}

static uint64_t sent_until_now(const struct blocked *b, const struct message_key *key)
{
	const struct message_count *c = message_counts_find(b->state.messages, key);
	return c ? c->sent : 0;
}

/* Both of MPI_Sendrecv, which ends when both are done. */
static struct condition condition_both(struct blocked *b, struct condition x, struct condition y)
{
	if (x.kind < y.kind) {
		struct condition swap = x;
		x = y;
		y = swap;
	}
	if (x.kind != CONDITION_WAITS || y.kind != CONDITION_WAITS)
		return x.kind == CONDITION_MAYBE && y.kind == CONDITION_DOUBT ? y : x;
	uint32_t node = wait_graph_add(b->graph, WAIT_FOR_ALL);
	if (wait_graph_wait(b->graph, node, x.node) != 0 || wait_graph_wait(b->graph, node, y.node) != 0)
		return condition_doubt(no_arguments);
	return condition_waits(node, true);
}

static struct condition condition_message(struct blocked *b, uint32_t rank, const struct end_call *call)
{
	const struct schema *s = call->schema;
	struct message_key key = {call->scope, call->tag, rank, call->dest};
	bool sends = s->at[PARAMETER_DEST] >= 0, receives = s->at[PARAMETER_SOURCE] >= 0;
	if (s->mpi->base == FN_MPI_Bsend || (!sends && !receives))
		return condition_met();
	struct condition send = condition_met(), receive = condition_met();
	if (sends)
		send = condition_send(b, rank, call->scope, call->dest, call->tag, sent_until_now(b, &key),
		                      s->mpi->base == FN_MPI_Ssend);
	if (receives)
		receive = condition_receive(b, rank, call->scope, call->source, call->recv_tag, UINT64_MAX);
	return condition_both(b, send, receive);
}

/* --- requests --- */

static struct condition condition_request(struct blocked *b, uint32_t number, int64_t request)
{
	const struct end_stream *s = &b->state.streams[number];
	if (request == VALUE_NONE)
		return condition_met();
	if (request < 0 || request >= s->request_count || s->requests[request].kind == REQUEST_NONE)
		return condition_doubt("of a request it is not known what it is");
	const struct end_request *r = &s->requests[request];
	if (!r->active)
		return condition_met();
	const struct mpi_function *f = trace_schema(b->state.trace, &b->state.trace->sites[r->site])->mpi;
	switch (r->kind) {
	case REQUEST_RECV:
		return condition_receive(b, s->rank, r->scope, r->peer, r->tag, r->place);
	case REQUEST_SEND:
		if (r->partitions && r->ready < r->partitions) /* nobody but itself can make it ready */
			return condition_waits(b->rank_nodes[s->rank], true);
		return condition_send(b, s->rank, r->scope, r->peer, r->tag, r->place, f->base == FN_MPI_Ssend);
	case REQUEST_COLLECTIVE:
		if (r->persistent)
			return condition_doubt("it is not known which persistent collectives were started together");
		return condition_of_collective(b, s->rank, f, r->scope, r->place, r->tag);
	default:
		return condition_doubt("of a request it is not known what it waits for");
	}
}

static void note_request(struct blocked *b, uint32_t number, int64_t request)
{
	if (b->streams[number].request == VALUE_NONE)
		b->streams[number].request = request;
}

/* MPI_Waitall: all that it waits for for certain. If there is nothing of that: one of what it may wait for. */
static struct condition condition_all(struct blocked *b, uint32_t number, const struct end_call *call)
{
	uint32_t all = wait_graph_add(b->graph, WAIT_FOR_ALL), any = wait_graph_add(b->graph, WAIT_FOR_ANY),
		 certain = 0, maybe = 0;
	struct condition doubt = call->requests_known ? condition_met() : condition_doubt(no_arguments);
	for (uint32_t i = 0; i < call->request_count; i++) {
		struct condition c = condition_request(b, number, call->requests[i]);
		if (c.kind == CONDITION_DOUBT)
			doubt = c;
		if (c.kind < CONDITION_MAYBE)
			continue;
		note_request(b, number, call->requests[i]);
		if (wait_graph_wait(b->graph, c.kind == CONDITION_WAITS ? all : any, c.node) != 0)
			return condition_doubt(no_arguments);
		certain += c.kind == CONDITION_WAITS;
		maybe += c.kind == CONDITION_MAYBE;
	}
	if (certain > 0)
		return condition_waits(all, true);
	return doubt.kind == CONDITION_DOUBT || maybe == 0 ? doubt : condition_waits(any, false);
}

/* MPI_Waitany, MPI_Waitsome: any of them. */
static struct condition condition_any(struct blocked *b, uint32_t number, const struct end_call *call)
{
	uint32_t any = wait_graph_add(b->graph, WAIT_FOR_ANY), n = 0;
	bool certain = true;
	if (!call->requests_known)
		return condition_doubt(no_arguments);
	for (uint32_t i = 0; i < call->request_count; i++) {
		const int64_t request = call->requests[i];
		const struct end_stream *s = &b->state.streams[number];
		if (request == VALUE_NONE || (request >= 0 && request < s->request_count &&
		                              s->requests[request].persistent && !s->requests[request].active))
			continue; /* it is not waited for */
		struct condition c = condition_request(b, number, request);
		if (c.kind < CONDITION_MAYBE)
			return c;
		note_request(b, number, request);
		if (wait_graph_wait(b->graph, any, c.node) != 0)
			return condition_doubt(no_arguments);
		certain &= c.kind == CONDITION_WAITS;
		n++;
	}
	return n == 0 ? condition_met() : condition_waits(any, certain);
}

/* --- collectives --- */

struct condition condition_of_collective(struct blocked *b, uint32_t rank, const struct mpi_function *f, uint64_t scope,
                                         uint64_t place, int64_t root)
{
	bool met, at_root, rooted = f->at[PARAMETER_ROOT] >= 0;
	uint32_t node, world;
	enum mpi_number base = f->base;
	bool from_root = base == FN_MPI_Bcast || base == FN_MPI_Scatter || base == FN_MPI_Scatterv;
	if (scope_comm(scope) == COMM_UNKNOWN)
		return condition_doubt(no_comm);
	if (scope_comm(scope) == COMM_SELF)
		return condition_met();
	world = rooted ? comms_world(b->state.comms, scope_comm(scope), root, rank) : RANK_UNKNOWN;
	at_root = world == rank;
	if (unsure(b, rank))
		return condition_doubt(is_unsure);
	if (mpi_functions[base].waits == WAITS_FOR_ALL || (at_root && !from_root && rooted && world != RANK_UNKNOWN)) {
		node = condition_meeting(b, scope, place, WAIT_FOR_ALL, &met);
		return met ? condition_met() : condition_waits(node, true);
	}
	if (from_root && world < b->state.trace->size && !at_root && !blocked_came(b, world, scope, place, NULL))
		return condition_waits(b->rank_nodes[world], true);
	node = condition_meeting(b, scope, place, WAIT_FOR_ANY, &met);
	return met ? condition_met() : condition_waits(node, false);
}

struct condition condition_of(struct blocked *b, uint32_t number, const struct end_call *call)
{
	const struct mpi_function *f = call->schema->mpi;
	uint32_t rank = b->state.streams[number].rank;
	uint64_t scope, place;
	bool met;
	if (f->function == FN_MPI_Finalize) {
		uint32_t node = condition_meeting(b, COMM_WORLD, PLACE_FINALIZE, WAIT_FOR_ALL, &met);
		return met ? condition_met() : condition_waits(node, true);
	}
	if (f->scope == SCOPE_GROUP || f->class == MPI_CLASS_PROCESS)
		return condition_doubt("it waits for processes that are not known here");
	if (mpi_is_collective(f) && f->scope != SCOPE_WORLD)
		return blocked_collective(b, number, &scope, &place)
		               ? condition_of_collective(b, rank, f, scope, place, call->root)
		               : condition_doubt(no_comm);
	if (f->class == MPI_CLASS_ONE_SIDED)
		return condition_of_window(b, rank, call);
	if (f->class == MPI_CLASS_COMPLETION && call->schema->at[PARAMETER_SOURCE] >= 0)
		return condition_receive(b, rank, call->scope, call->source, call->tag, UINT64_MAX);
	if (f->class == MPI_CLASS_COMPLETION && f->completes)
		return completed_is_all(f) ? condition_all(b, number, call) : condition_any(b, number, call);
	if (f->class == MPI_CLASS_POINT_TO_POINT)
		return condition_message(b, rank, call);
	return condition_doubt("it is not known what such a call waits for");
}
