/* SPDX-License-Identifier: BSD-3-Clause
 * execution - what the calls of one stream do
 */
#include "insight/execution.h"

#include <string.h>

#include "insight/channels.h"
#include "insight/posted.h"
#include "trace/base/budget.h"
#include "trace/read/activity.h"

/* What a request, or a probed message, stands for. */
enum live_kind { LIVE_NOTHING, LIVE_SEND, LIVE_RECV, LIVE_COLLECTIVE };

struct live {
	enum live_kind kind;
	bool persistent, active;
	struct act act;        /* as it was begun */
	enum live_kind second; /* of MPI_Isendrecv: the receive, too */
	struct act other;
};

/* By number of the handle. */
struct lives {
	struct live *list;
	uint32_t count;
};

/* More live handles are damage, or a program that frees none. */
#define LIVES_MOST (INT64_C(1) << 28)

struct execution {
	struct act_caller caller;
	struct lives requests, messages;
	struct channels channels;
	struct posted posted;
	uint64_t begun, receives, unknown;
	struct act *list;
	uint32_t count, capacity;
	bool failed;
};

struct execution *execution_create(const struct calls *calls, const struct comms *comms, uint32_t stream)
{
	struct execution *x = budget_calloc(1, sizeof *x);
	if (!x)
		return NULL;
	x->caller = (struct act_caller){.calls = calls,
	                                .comms = comms,
	                                .handles = handles_create(calls->trace),
	                                .stream = stream,
	                                .self = stream_rank(calls->trace, stream)};
	if (!x->caller.handles) {
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
	budget_free(x->requests.list);
	budget_free(x->messages.list);
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

static void emit(struct execution *x, const struct act *act)
{
	if (!budget_grow(&x->list, x->count, &x->capacity, sizeof *x->list))
		x->failed = true;
	else
		x->list[x->count++] = *act;
}

/* That of a handle; NULL if there was none. */
static struct live *live_find(const struct lives *l, int64_t number)
{
	return number >= 0 && number < l->count ? &l->list[number] : NULL;
}

/* The same; makes room for it. NULL: it is no handle, or no memory (failed). */
static struct live *live_at(struct execution *x, struct lives *l, int64_t number)
{
	if (number < 0 || number >= LIVES_MOST)
		return NULL;
	if (number >= l->count) {
		uint32_t more = (uint32_t)number + l->count / 2 + 16;
		struct live *bigger = budget_realloc(l->list, more * sizeof *bigger);
		if (!bigger) {
			x->failed = true;
			return NULL;
		}
		memset(bigger + l->count, 0, (more - l->count) * sizeof *bigger);
		l->list = bigger;
		l->count = more;
	}
	return &l->list[number];
}

static uint64_t *channel(struct execution *x, bool receive, const struct act *m)
{
	uint64_t *count = channels_at(&x->channels, receive, m->partitioned, m->comm, m->local, m->tag);
	x->failed |= !count;
	return count;
}

static void number_send(struct execution *x, struct act *m)
{
	uint64_t *count = channel(x, false, m);
	if (count)
		m->number = (*count)++;
}

static void number_receive(struct execution *x, struct act *m)
{
	uint64_t *count = channel(x, true, m);
	if (count)
		m->number = posted_number(&x->posted, m->receive, (*count)++);
}

/* A receive takes its place behind those before; which message it gets may not be known yet. */
static void post(struct execution *x, struct act *m)
{
	m->receive = x->receives++;
	m->open = m->local == RANK_UNKNOWN || m->tag < 0;
	if (!m->open)
		number_receive(x, m);
}

static bool address(struct execution *x, struct act *m, int64_t who, int64_t tag)
{
	return act_address(&x->caller, m, who, tag, &x->unknown);
}

/* --- requests --- */

static void begin_one(struct execution *x, const struct event *e, enum live_kind kind, struct act *m)
{
	if (kind == LIVE_NOTHING)
		return;
	m->request = x->begun++;
	m->began = e->number;
	m->kind = kind == LIVE_SEND ? ACT_SEND_BEGIN : kind == LIVE_RECV ? ACT_RECV_BEGIN : ACT_COLLECTIVE_BEGIN;
	if (kind == LIVE_SEND)
		number_send(x, m);
	else if (kind == LIVE_RECV && !m->matched)
		post(x, m);
	emit(x, m);
}

static void begin(struct execution *x, const struct event *e, struct live *l)
{
	l->active = true;
	begin_one(x, e, l->kind, &l->act);
	begin_one(x, e, l->second, &l->other);
}

/* A receive without a message: the next one of its channel, if it was the last, is the message that it did not take. */
static void give_back(struct execution *x, const struct act *m)
{
	uint64_t *count = m->open ? NULL : channel(x, true, m);
	if (count && *count == m->number + 1)
		--*count;
}

static void end_receive(struct execution *x, struct act *m, const struct act_status *status)
{
	m->kind = ACT_RECV_END;
	if (status->source == ACT_NOBODY && !m->partitioned) {
		give_back(x, m);
		m->kind = ACT_CANCELLED;
	} else if (m->open && !address(x, m, status->source, status->tag)) {
		m->kind = ACT_CANCELLED;
	} else if (m->open) {
		number_receive(x, m);
	}
	m->open = false;
	if (m->kind == ACT_RECV_END && (status->bytes >= 0 || !m->partitioned)) {
		m->sized = status->bytes >= 0;
		m->bytes = m->sized ? (uint64_t)status->bytes : 0;
	}
}

static void end_one(struct execution *x, enum live_kind kind, const struct act *begun, const struct act_status *status)
{
	struct act m = *begun;
	if (kind == LIVE_NOTHING)
		return;
	if (kind == LIVE_RECV)
		end_receive(x, &m, status);
	else
		m.kind = kind == LIVE_SEND ? ACT_SEND_END : ACT_COLLECTIVE_END;
	emit(x, &m);
}

static void end(struct execution *x, struct live *l, const struct act_status *status)
{
	if (!l || !l->active)
		return;
	l->active = false;
	end_one(x, l->kind, &l->act, status);
	end_one(x, l->second, &l->other, status);
	if (!l->persistent)
		l->kind = l->second = LIVE_NOTHING;
}

/* Whether a receive that nobody asks about again got its message, nobody knows. */
static void abandon_one(struct execution *x, enum live_kind kind, const struct act *begun)
{
	struct act m = *begun;
	if (kind == LIVE_NOTHING)
		return;
	m.kind = kind == LIVE_SEND ? ACT_SEND_END : kind == LIVE_RECV ? ACT_CANCELLED : ACT_COLLECTIVE_END;
	emit(x, &m);
}

/* MPI_Request_free; or a call that failed (MPI_Waitall) had completed it, and its number means another one now. */
static void abandon(struct execution *x, struct live *l)
{
	if (l->active) {
		abandon_one(x, l->kind, &l->act);
		abandon_one(x, l->second, &l->other);
	}
	*l = (struct live){.kind = LIVE_NOTHING};
}

/* The call has made a request: for an act, and possibly another one. */
static void request(struct execution *x, const struct event *e, enum live_kind kind, const struct act *act,
                    enum live_kind second, const struct act *other)
{
	int64_t symbol = call_value(e, PARAMETER_REQUEST);
	struct live *l = live_at(x, &x->requests, symbol);
	if (!l) { /* MPI_REQUEST_NULL, or not known */
		x->unknown += symbol == VALUE_LOSSY;
		return;
	}
	abandon(x, l);
	*l = (struct live){
		.kind = kind, .persistent = e->schema->mpi->form == FORM_PERSISTENT, .act = *act, .second = second};
	if (other)
		l->other = *other;
	if (!l->persistent)
		begin(x, e, l);
}

static void start(struct execution *x, const struct event *e)
{
	size_t n;
	const struct pool_item *list = call_array(x->caller.calls->trace, e, PARAMETER_REQUEST, &n);
	int64_t one = call_value(e, PARAMETER_REQUEST);
	for (size_t i = 0; i < (list ? n : 1); i++) {
		int64_t symbol = list ? array_element(list, i) : one;
		struct live *l = live_find(&x->requests, symbol);
		if (l && l->persistent && !l->active)
			begin(x, e, l);
		else
			x->unknown += symbol == VALUE_LOSSY;
	}
}

static void complete(struct execution *x, const struct event *e)
{
	const struct trace *t = x->caller.calls->trace;
	size_t n, k;
	const struct pool_item *list = call_array(t, e, PARAMETER_REQUEST, &n),
			       *which = call_array(t, e, PARAMETER_INDICES, &k);
	bool some = e->schema->mpi->completes == COMPLETES_SOME;
	x->unknown += call_value(e, PARAMETER_REQUEST) == VALUE_LOSSY;
	if (e->schema->at[PARAMETER_FLAG] >= 0 && call_value(e, PARAMETER_FLAG) != 1)
		return;
	if (!list || e->schema->mpi->completes == COMPLETES_ANY) { /* one: MPI_Wait, MPI_Waitany */
		int64_t i = call_value(e, PARAMETER_INDEX), symbol = call_value(e, PARAMETER_REQUEST);
		const struct act_status status = act_status(&x->caller, e);
		if (list)
			symbol = i >= 0 && (uint64_t)i < n ? array_element(list, (size_t)i) : VALUE_NONE;
		end(x, live_find(&x->requests, symbol), &status);
		return;
	}
	for (size_t i = 0; i < (some ? k : n); i++) {
		int64_t index = some ? array_element(which, i) : (int64_t)i;
		const struct act_status status = act_status_at(&x->caller, e, i);
		if (index >= 0 && (uint64_t)index < n)
			end(x, live_find(&x->requests, array_element(list, (size_t)index)), &status);
	}
}

/* --- messages --- */

static void send(struct execution *x, const struct event *e, bool exchange)
{
	struct act m = act_on(&x->caller, e, ACT_SEND);
	bool real = address(x, &m, act_peer(&x->caller, e, call_value(e, PARAMETER_DEST)),
	                    act_tag(call_value(e, PARAMETER_TAG)));
	act_size_sent(&x->caller, &m, e);
	if (e->schema->mpi->form != FORM_BLOCKING) {
		request(x, e, real ? LIVE_SEND : LIVE_NOTHING, &m, LIVE_NOTHING, NULL);
	} else if (real) {
		number_send(x, &m);
		m.exchange = exchange;
		emit(x, &m);
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
	if (e->schema->mpi->form != FORM_BLOCKING) {
		bool real = address(x, &m, who, tag);
		act_size_received(&x->caller, &m, e, false);
		request(x, e, real ? LIVE_RECV : LIVE_NOTHING, &m, LIVE_NOTHING, NULL);
		return;
	}
	if (who == ACT_NOBODY)
		return;
	if (who < 0)
		who = act_peer(&x->caller, e, call_value(e, PARAMETER_STATUS_SOURCE));
	if (tag < 0)
		tag = act_tag(call_value(e, PARAMETER_STATUS_TAG));
	if (!address(x, &m, who, tag < 0 ? ACT_NOT_KNOWN : tag))
		return;
	act_size_received(&x->caller, &m, e, true);
	post(x, &m);
	emit(x, &m);
}

static void exchange(struct execution *x, const struct event *e)
{
	if (e->schema->mpi->form == FORM_BLOCKING) {
		send(x, e, true);
		receive(x, e);
		return;
	}
	struct act out = act_on(&x->caller, e, ACT_SEND), in = act_on(&x->caller, e, ACT_RECV);
	bool sends = address(x, &out, act_peer(&x->caller, e, call_value(e, PARAMETER_DEST)),
	                     act_tag(call_value(e, PARAMETER_TAG)));
	bool receives = address(x, &in, act_peer(&x->caller, e, call_value(e, PARAMETER_SOURCE)), receive_tag(e));
	act_size_sent(&x->caller, &out, e);
	act_size_received(&x->caller, &in, e, false);
	request(x, e, sends ? LIVE_SEND : LIVE_NOTHING, &out, receives ? LIVE_RECV : LIVE_NOTHING, &in);
}

/* MPI_Mprobe takes the message out of the queue: from now on the next receive gets the one behind it. */
static void probe(struct execution *x, const struct event *e)
{
	int64_t symbol = call_value(e, PARAMETER_MESSAGE);
	struct live *l = event_is_vain(e) ? NULL : live_at(x, &x->messages, symbol);
	if (!l) { /* there was none, or MPI_MESSAGE_NO_PROC */
		x->unknown += symbol == VALUE_LOSSY;
		return;
	}
	const struct act_status status = act_status(&x->caller, e);
	*l = (struct live){.kind = LIVE_RECV, .act = act_on(&x->caller, e, ACT_PROBED)};
	if (address(x, &l->act, status.source, status.tag < 0 ? ACT_NOT_KNOWN : status.tag))
		post(x, &l->act);
	else
		l->kind = LIVE_NOTHING;
	if (l->kind == LIVE_RECV)
		emit(x, &l->act);
}

/* MPI_Mrecv, MPI_Imrecv: the message has its number. */
static void receive_probed(struct execution *x, const struct event *e)
{
	bool blocks = e->schema->mpi->form == FORM_BLOCKING;
	struct live *l = live_find(&x->messages, call_value(e, PARAMETER_MESSAGE));
	if (!l)
		return;
	struct act m = l->act;
	m.kind = ACT_RECV;
	m.matched = true;
	m.began = e->number;
	act_size_received(&x->caller, &m, e, blocks);
	if (!blocks)
		request(x, e, l->kind == LIVE_RECV ? LIVE_RECV : LIVE_NOTHING, &m, LIVE_NOTHING, NULL);
	else if (l->kind == LIVE_RECV)
		emit(x, &m);
	l->kind = LIVE_NOTHING;
}

/* --- all else --- */

static void collective(struct execution *x, const struct event *e, enum collective which)
{
	struct act m = act_on(&x->caller, e, ACT_COLLECTIVE);
	m.collective = which;
	act_collective(&x->caller, &m, e);
	if (e->schema->mpi->form == FORM_BLOCKING)
		emit(x, &m);
	else
		request(x, e, LIVE_COLLECTIVE, &m, LIVE_NOTHING, NULL);
}

static void communicator(struct execution *x, const struct event *e, enum act_kind kind)
{
	struct act m = act_on(&x->caller, e, kind);
	if (kind == ACT_COMM_MADE)
		m.comm = comms_find(x->caller.comms, x->caller.stream, call_value(e, PARAMETER_CREATED));
	if (m.comm != COMM_UNKNOWN)
		emit(x, &m);
}

static void take_call(struct execution *x, const struct event *e)
{
	const struct call *c = call_of(x->caller.calls, e);
	struct live *l;
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
		start(x, e);
		break;
	case CALL_COMPLETE:
		complete(x, e);
		break;
	case CALL_FREE:
		if ((l = live_find(&x->requests, call_value(e, PARAMETER_REQUEST))))
			abandon(x, l);
		break;
	case CALL_COLLECTIVE:
		collective(x, e, c->collective);
		break;
	case CALL_COMM_MAKE:
		communicator(x, e, ACT_COMM_MADE);
		break;
	case CALL_COMM_FREE:
		communicator(x, e, ACT_COMM_FREED);
		break;
	case CALL_CANCEL:
	case CALL_OTHER:
		break;
	}
}

const struct act *execution_event(struct execution *x, const struct event *e, size_t *n)
{
	static const struct act none;
	x->count = 0;
	handles_event(x->caller.handles, x->caller.stream, e);
	if (!call_failed(e)) /* what failed did nothing */
		take_call(x, e);
	*n = x->count;
	return x->failed ? NULL : x->list ? x->list : &none;
}
