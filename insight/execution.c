/* SPDX-License-Identifier: BSD-3-Clause
 * execution - what the calls of one stream do
 */
#include "insight/execution.h"

#include "insight/execution_inside.h"

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/read/activity.h"

struct execution *execution_create_unsized(const struct calls *calls, const struct comms *comms, uint32_t stream)
{
	struct execution *x = budget_calloc(1, sizeof *x);
	if (x)
		x->caller = (struct act_caller){
			.calls = calls, .comms = comms, .stream = stream, .self = stream_rank(calls->trace, stream)};
	return x;
}

struct execution *execution_create(const struct calls *calls, const struct comms *comms, uint32_t stream)
{
	struct execution *x = execution_create_unsized(calls, comms, stream);
	if (!x || !(x->caller.handles = handles_create(calls->trace))) {
		execution_destroy(x);
		return NULL;
	}
	handles_in_order(x->caller.handles);
	return x;
}

void execution_destroy(struct execution *x)
{
	if (!x)
		return;
	handles_destroy(x->caller.handles);
	lives_free(&x->requests);
	lives_free(&x->messages);
	channels_free(&x->channels);
	posted_free(&x->posted);
	budget_free(x->list);
	budget_free(x);
}

bool execution_type_size(const struct execution *x, int64_t datatype, uint64_t *size)
{
	return handles_type_size(x->caller.handles, x->caller.stream, datatype, size) == HANDLE_KNOWN;
}

bool execution_bytes(const struct execution *x, const struct event *e, uint64_t *bytes)
{
	return activity_bytes(x->caller.handles, e->schema, x->caller.stream, e->values, bytes) == ACTIVITY_SIZED;
}

void execution_foresee(struct execution *x, struct posted *posted)
{
	posted_free(&x->posted);
	x->posted = *posted;
	*posted = (struct posted){.list = NULL};
}

uint64_t execution_unknown(const struct execution *x)
{
	return x->unknown;
}

bool execution_is_foreign(const struct execution *x)
{
	return x->foreign;
}

uint64_t execution_state(const struct execution *x)
{
	uint64_t h = hash_mix(lives_state(&x->requests), lives_state(&x->messages));
	return hash_mix(hash_mix(h, x->caller.handles ? handles_state(x->caller.handles) : 0), x->foreign);
}

const struct lives *execution_requests(const struct execution *x)
{
	return &x->requests;
}

void execution_mark(struct execution *x, const struct act *begun, uint64_t mark)
{
	struct live *l = live_find(&x->requests, begun->handle);
	if (l)
		*(begun->kind == ACT_RECV_BEGIN && l->second == LIVE_RECV ? &l->other.mark : &l->act.mark) = mark;
}

/* --- messages --- */

/* What a request for a message is; real: its peer and its tag are known. */
static enum live_kind live_kind_of(int64_t who, bool real, enum live_kind kind)
{
	return who == ACT_NOBODY ? LIVE_NOBODY : real ? kind : LIVE_OTHER;
}

static void send(struct execution *x, const struct event *e, bool exchange)
{
	struct act m = act_on(&x->caller, e, ACT_SEND);
	int64_t who = act_peer(&x->caller, e, call_value(e, PARAMETER_DEST));
	bool real = execution_address(x, &m, who, act_tag(call_value(e, PARAMETER_TAG)));
	act_size_sent(&x->caller, &m, e);
	if (e->schema->mpi->form != FORM_BLOCKING) {
		execution_request(x, e, live_kind_of(who, real, LIVE_SEND), &m, LIVE_NOTHING, NULL);
	} else if (real) {
		execution_number_send(x, &m);
		m.exchange = exchange;
		execution_emit(x, &m);
	}
}

static int64_t receive_tag(const struct event *e)
{
	return act_tag(call_value(e, e->schema->at[PARAMETER_RECV_TAG] >= 0 ? PARAMETER_RECV_TAG : PARAMETER_TAG));
}

static void receive(struct execution *x, const struct event *e)
{
	struct act m = act_on(&x->caller, e, ACT_RECV);
	int64_t who = act_peer(&x->caller, e, call_value(e, PARAMETER_SOURCE)), tag = receive_tag(e);
	m.any = who == ACT_ANY || tag == ACT_ANY;
	if (e->schema->mpi->form != FORM_BLOCKING) {
		bool real = execution_address(x, &m, who, tag);
		act_size_received(&x->caller, &m, e, false);
		execution_request(x, e, live_kind_of(who, real, LIVE_RECV), &m, LIVE_NOTHING, NULL);
		return;
	}
	if (who == ACT_NOBODY)
		return;
	if (who < 0)
		who = act_peer(&x->caller, e, call_value(e, PARAMETER_STATUS_SOURCE));
	if (tag < 0)
		tag = act_tag(call_value(e, PARAMETER_STATUS_TAG));
	if (!execution_address(x, &m, who, tag < 0 ? ACT_NOT_KNOWN : tag))
		return;
	act_size_received(&x->caller, &m, e, true);
	execution_post(x, &m);
	execution_emit(x, &m);
}

static void exchange(struct execution *x, const struct event *e)
{
	if (e->schema->mpi->form == FORM_BLOCKING) {
		send(x, e, true);
		receive(x, e);
		return;
	}
	struct act out = act_on(&x->caller, e, ACT_SEND), in = act_on(&x->caller, e, ACT_RECV);
	int64_t to = act_peer(&x->caller, e, call_value(e, PARAMETER_DEST)),
		from = act_peer(&x->caller, e, call_value(e, PARAMETER_SOURCE));
	bool sends = execution_address(x, &out, to, act_tag(call_value(e, PARAMETER_TAG)));
	bool receives = execution_address(x, &in, from, receive_tag(e));
	in.any = from == ACT_ANY || receive_tag(e) == ACT_ANY;
	act_size_sent(&x->caller, &out, e);
	act_size_received(&x->caller, &in, e, false);
	execution_request(x, e, live_kind_of(to, sends, LIVE_SEND), &out, live_kind_of(from, receives, LIVE_RECV), &in);
}

/* MPI_Mprobe takes the message out of the queue: from now on the next receive gets the one behind it. */
static void probe(struct execution *x, const struct event *e)
{
	int64_t symbol = call_value(e, PARAMETER_MESSAGE);
	struct live *l = event_is_vain(e) ? NULL : execution_live(x, &x->messages, symbol);
	if (!l) { /* there was none, or MPI_MESSAGE_NO_PROC */
		x->unknown += symbol == VALUE_LOSSY;
		return;
	}
	const struct act_status status = act_status(&x->caller, e);
	l->act = act_on(&x->caller, e, ACT_PROBED);
	l->kind = LIVE_RECV;
	l->act.any = act_peer(&x->caller, e, call_value(e, PARAMETER_SOURCE)) == ACT_ANY || receive_tag(e) == ACT_ANY;
	if (execution_address(x, &l->act, status.source, status.tag < 0 ? ACT_NOT_KNOWN : status.tag))
		execution_post(x, &l->act);
	else
		l->kind = LIVE_NOTHING;
	if (l->kind == LIVE_RECV)
		execution_emit(x, &l->act);
}

/* MPI_Mrecv, MPI_Imrecv: the message has its number. */
static void receive_probed(struct execution *x, const struct event *e)
{
	bool blocks = e->schema->mpi->form == FORM_BLOCKING;
	struct live *l = live_find(&x->messages, call_value(e, PARAMETER_MESSAGE));
	if (!l) { /* MPI_MESSAGE_NO_PROC */
		if (!blocks)
			execution_request(x, e, LIVE_NOBODY, NULL, LIVE_NOTHING, NULL);
		return;
	}
	struct act m = l->act;
	m.kind = ACT_RECV;
	m.matched = true;
	m.began = e->number;
	m.site = e->site;
	act_size_received(&x->caller, &m, e, blocks);
	if (!blocks)
		execution_request(x, e, l->kind == LIVE_RECV ? LIVE_RECV : LIVE_OTHER, &m, LIVE_NOTHING, NULL);
	else if (l->kind == LIVE_RECV)
		execution_emit(x, &m);
	l->kind = LIVE_NOTHING;
}

/* --- all else --- */

static void collective(struct execution *x, const struct event *e, enum collective which)
{
	struct act m = act_on(&x->caller, e, ACT_COLLECTIVE);
	m.collective = which;
	act_collective(&x->caller, &m, e);
	if (e->schema->mpi->form == FORM_BLOCKING)
		execution_emit(x, &m);
	else
		execution_request(x, e, LIVE_COLLECTIVE, &m, LIVE_NOTHING, NULL);
}

static void communicator(struct execution *x, const struct event *e, enum act_kind kind)
{
	struct act m = act_on(&x->caller, e, kind);
	if (kind == ACT_COMM_MADE)
		m.comm = act_comm(&x->caller, call_value(e, PARAMETER_CREATED));
	if (m.comm != COMM_UNKNOWN)
		execution_emit(x, &m);
}

/* A request for anything else: MPI_Rput, MPI_File_iread, MPI_Comm_idup, MPI_Grequest_start. */
static void other(struct execution *x, const struct event *e)
{
	int at = e->schema->at[PARAMETER_REQUEST];
	if (at >= 0 && e->schema->column[at].direction == '>')
		execution_request(x, e, LIVE_OTHER, NULL, LIVE_NOTHING, NULL);
}

static void take_call(struct execution *x, const struct event *e)
{
	const struct call *c = call_of(x->caller.calls, e);
	switch (c->kind) {
	case CALL_SEND:
		send(x, e, false);
		break;
	case CALL_RECV:
		receive(x, e);
		break;
	case CALL_SENDRECV:
		exchange(x, e);
		break;
	case CALL_MPROBE:
		probe(x, e);
		break;
	case CALL_MRECV:
		receive_probed(x, e);
		break;
	case CALL_START:
		execution_start(x, e);
		break;
	case CALL_COMPLETE:
		execution_complete(x, e);
		break;
	case CALL_FREE:
		execution_free(x, e);
		break;
	case CALL_CANCEL:
		execution_cancel(x, e);
		break;
	case CALL_READY:
		execution_ready(x, e);
		break;
	case CALL_COLLECTIVE:
		collective(x, e, c->collective);
		break;
	case CALL_COMM_MAKE:
		communicator(x, e, ACT_COMM_MADE);
		other(x, e);
		break;
	case CALL_COMM_FREE:
		communicator(x, e, ACT_COMM_FREED);
		break;
	case CALL_OTHER:
		other(x, e);
		break;
	}
}

const struct act *execution_event(struct execution *x, const struct event *e, size_t *n)
{
	static const struct act none;
	x->count = 0;
	if (x->caller.handles)
		handles_event(x->caller.handles, x->caller.stream, e);
	if (!call_failed(e)) /* what failed did nothing */
		take_call(x, e);
	*n = x->count;
	return x->failed ? NULL : x->list ? x->list : &none;
}
