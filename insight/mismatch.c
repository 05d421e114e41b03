/* SPDX-License-Identifier: BSD-3-Clause
 * mismatch - messages and collectives that do not fit what is waited for
 */
#include "insight/mismatch.h"

#include <inttypes.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"

#define CALL_TEXT 128

/* --- a call as text --- */

static void put_peer_name(struct phrase *x, const struct blocked *b, const char *name, uint64_t scope, uint32_t peer)
{
	if (peer == RANK_ANY)
		phrase_put(x, " %s=MPI_ANY_SOURCE", name);
	else if (peer < b->state.trace->size)
		phrase_put(x, " %s=%" PRIu32, name, comms_local(b->state.comms, scope_comm(scope), peer));
}

static void put_tag(struct phrase *x, const char *name, int64_t tag)
{
	if (tag == TAG_ANY)
		phrase_put(x, " %s=MPI_ANY_TAG", name);
	else if (tag != VALUE_NONE)
		phrase_put(x, " %s=%" PRId64, name, tag);
}

static void put_comm(struct phrase *x, const struct blocked *b, uint64_t scope)
{
	uint32_t comm = scope_comm(scope);
	if (comm == COMM_UNKNOWN || comm == COMM_WORLD)
		return;
	const char *name = comms_at(b->state.comms, comm)->name;
	if (name)
		phrase_put(x, " comm=%.32s", name);
	else
		phrase_put(x, " on a communicator of %" PRIu32, comms_at(b->state.comms, comm)->size);
}

static void put_function_name(struct phrase *x, const struct schema *s)
{
	phrase_put(x, "%.*s", (int)(s->function_length < 48 ? s->function_length : 48), s->function);
}

/* The first of its requests that is not done. */
static void put_request(struct phrase *x, const struct blocked *b, uint32_t number, const struct end_call *call)
{
	const struct end_stream *s = &b->state.streams[number];
	int64_t n = b->streams[number].request;
	if (n < 0 || n >= s->request_count)
		return;
	const struct end_request *r = &s->requests[n];
	phrase_put(x, "%s", call->request_count > 1 ? " of, among others, " : " of ");
	put_function_name(x, trace_schema(b->state.trace, &b->state.trace->sites[r->site]));
	if (r->kind == REQUEST_COLLECTIVE)
		return;
	put_peer_name(x, b, r->kind == REQUEST_RECV ? "source" : "dest", r->scope, r->peer);
	put_tag(x, "tag", r->tag);
	put_comm(x, b, r->scope);
}

const char *mismatch_call(char *out, size_t size, const struct blocked *b, uint32_t number)
{
	struct phrase x = {out, size};
	const struct blocked_stream *at = &b->streams[number];
	const struct end_call *call = at->kind == BLOCKED_POLLS ? &b->state.streams[number].polled : &at->call;
	*out = '\0';
	if (!call->schema) {
		phrase_put(&x, "no call");
		return out;
	}
	const struct mpi_function *f = call->schema->mpi;
	put_function_name(&x, call->schema);
	put_peer_name(&x, b, "dest", call->scope, call->dest);
	if (call->schema->at[PARAMETER_DEST] >= 0)
		put_tag(&x, "tag", call->tag);
	put_peer_name(&x, b, "source", call->scope, call->source);
	if (call->schema->at[PARAMETER_SOURCE] >= 0)
		put_tag(&x, call->schema->at[PARAMETER_RECV_TAG] >= 0 ? "recvtag" : "tag", call->recv_tag);
	if (call->schema->at[PARAMETER_ROOT] >= 0 && call->root >= 0)
		phrase_put(&x, " root=%" PRId64, call->root);
	if (f->class == MPI_CLASS_ONE_SIDED && call->rank >= 0)
		phrase_put(&x, " rank=%" PRId64, call->rank);
	if (f->base == FN_MPI_Win_lock && call->exclusive)
		phrase_put(&x, " lock_type=%s", mpi_constant_name[CONST_MPI_LOCK_EXCLUSIVE]);
	if (f->class != MPI_CLASS_ONE_SIDED && f->scope != SCOPE_WORLD)
		put_comm(&x, b, call->scope);
	if (f->completes)
		put_request(&x, b, number, call);
	return out;
}

/* --- mismatches --- */

static bool differ(const struct end_took *a, const struct end_took *b)
{
	if (!a->function || !b->function)
		return false;
	return a->function->base != b->function->base ||
	       (a->function->form == FORM_BLOCKING) != (b->function->form == FORM_BLOCKING) ||
	       (a->root != b->root && a->root >= 0 && b->root >= 0);
}

static void put_took(struct phrase *x, const struct end_took *took)
{
	const char *name = took->function->schema;
	phrase_put(x, "%.*s", (int)strcspn(name, " "), name);
	if (took->root >= 0)
		phrase_put(x, " root=%" PRId64, took->root);
}

/* Of the collective that a stream is in: did another member do another one? */
static bool collective_differs(struct phrase *x, const struct blocked *b, uint32_t number)
{
	uint64_t scope, place;
	struct end_took mine, other;
	char name[STREAM_NAME];
	uint32_t self = b->state.streams[number].rank;
	if (!blocked_collective(b, number, &scope, &place) || scope_comm(scope) == COMM_UNKNOWN)
		return false;
	mine = (struct end_took){b->streams[number].call.schema->mpi, b->streams[number].call.root};
	for (uint32_t i = 0; i < comms_at(b->state.comms, scope_comm(scope))->size && budget_step(1); i++) {
		uint32_t rank = comms_world(b->state.comms, scope_comm(scope), i, self);
		if (rank >= b->state.trace->size || rank == self || b->state.ranks[rank].unsure ||
		    !blocked_came(b, rank, scope, place, &other) || !differ(&mine, &other))
			continue;
		phrase_put(x, "Mismatch: as collective number %" PRIu64 " of the same communicator rank %s called ",
		           place + 1, stream_name(b->state.trace, b->state.streams[number].stream, name));
		put_took(x, &mine);
		phrase_put(x, ", and rank %" PRIu32 " ", rank);
		put_took(x, &other);
		phrase_put(x, ".");
		return true;
	}
	return false;
}

/* Does a receive that the rank has posted take it? Then it is not left over. */
static bool message_is_left(const struct blocked *b, const struct message_count *c)
{
	return message_count_pending(c) > end_state_posted(&b->state, &c->key);
}

static bool message_differs(struct phrase *x, const struct blocked *b, uint32_t number, const char *call,
                            uint64_t scope, uint32_t source)
{
	const struct message_count *c = NULL;
	const struct end_stream *s = &b->state.streams[number];
	char name[STREAM_NAME];
	while ((c = message_counts_next(b->state.messages, s->rank, c))) {
		if ((source != RANK_ANY && c->key.source != source) || !message_is_left(b, c) ||
		    (c->key.scope & (SCOPE_EPOCH | SCOPE_PARTITIONED)))
			continue;
		uint64_t n = message_count_pending(c);
		phrase_put(x,
		           "Mismatch: rank %s waits in %s, and rank %" PRIu32 " sent it %" PRIu64
		           " message%s with tag %" PRId64 "%s, which "
		           "nobody received.",
		           stream_name(b->state.trace, s->stream, name), call, c->key.source, n, n == 1 ? "" : "s",
		           c->key.tag, c->key.scope == scope ? "" : " of another communicator");
		return true;
	}
	return false;
}

/* Of a stream that is stuck in a receive. */
static bool receive_differs(struct phrase *x, const struct blocked *b, uint32_t number)
{
	const struct end_call *call = &b->streams[number].call;
	const struct end_stream *s = &b->state.streams[number];
	char text[CALL_TEXT];
	if (!call->schema || !wait_graph_stuck(b->graph, number) || b->state.ranks[s->rank].unsure)
		return false;
	mismatch_call(text, sizeof text, b, number);
	if (call->schema->at[PARAMETER_SOURCE] >= 0)
		return message_differs(x, b, number, text, call->scope, call->source);
	for (uint32_t i = 0; call->schema->mpi->completes && i < call->request_count; i++) {
		int64_t n = call->requests[i];
		const struct end_request *r = n >= 0 && n < s->request_count ? &s->requests[n] : NULL;
		if (r && r->kind == REQUEST_RECV && r->active && message_differs(x, b, number, text, r->scope, r->peer))
			return true;
	}
	return false;
}

/* Collectives that have been looked at, by the number of the first stream that is in each. */
struct looked_at {
	const struct blocked *b;
	struct index index;
	uint64_t scope, place;
};

static bool is_same_collective(const void *context, uint32_t number)
{
	const struct looked_at *l = context;
	uint64_t scope, place;
	return blocked_collective(l->b, number, &scope, &place) && scope == l->scope && place == l->place;
}

/* Is it the first stream that is in its collective? What all others did is compared with that. */
static bool is_first(struct looked_at *l, uint32_t number)
{
	if (!blocked_collective(l->b, number, &l->scope, &l->place))
		return false;
	uint64_t hash = hash_mix(hash_mix(37, l->scope), l->place);
	return index_find(&l->index, hash, is_same_collective, l) == INDEX_NONE &&
	       index_add(&l->index, hash, number) == 0;
}

bool mismatch_find(struct phrase *x, const struct blocked *b, uint32_t *number)
{
	struct looked_at looked = {.b = b};
	bool found = false;
	uint32_t i;
	for (i = 0; !found && i < b->state.stream_count; i++)
		found = !b->state.ranks[b->state.streams[i].rank].unsure && is_first(&looked, i) &&
		        collective_differs(x, b, i);
	index_free(&looked.index);
	if (!found)
		for (i = 0; !found && i < b->state.stream_count; i++)
			found = receive_differs(x, b, i);
	*number = i - 1;
	return found;
}
