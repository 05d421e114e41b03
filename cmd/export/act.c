/* SPDX-License-Identifier: BSD-3-Clause
 * act - what the calls of one rank do
 */
#include "cmd/export/act.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/export/channels.h"
#include "trace/read/activity.h"

enum live_kind { LIVE_NOTHING, LIVE_SEND, LIVE_RECV, LIVE_COLLECTIVE };

/* A request, or a probed message. */
struct live {
	enum live_kind kind;
	bool persistent, active;
	struct act act;        /* as it was begun */
	enum live_kind second; /* of MPI_Isendrecv: the receive, too */
	struct act other;
};

struct acts {
	const struct calls *calls;
	const struct comms *comms;
	uint32_t stream, self;
	struct handles *handles;
	struct live *live; /* by number of the request */
	size_t live_count;
	struct live *messages; /* by number of the message */
	size_t message_count;
	struct channels channels;
	uint64_t requests, unknown;
	struct act *list;
	size_t count, capacity;
	bool failed;
};

struct acts *acts_create(const struct calls *calls, const struct comms *comms, uint32_t stream)
{
	struct acts *a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	*a = (struct acts){.calls = calls, .comms = comms, .stream = stream, .self = stream_rank(calls->trace, stream)};
	a->handles = handles_create(calls->trace);
	if (!a->handles) {
		acts_destroy(a);
		return NULL;
	}
	handles_in_order(a->handles);
	return a;
}

void acts_destroy(struct acts *a)
{
	if (!a)
		return;
	handles_destroy(a->handles);
	free(a->live);
	free(a->messages);
	channels_free(&a->channels);
	free(a->list);
	free(a);
}

bool acts_type_size(const struct acts *a, int64_t datatype, uint64_t *size)
{
	return handles_type_size(a->handles, a->stream, datatype, size) == HANDLE_KNOWN;
}

bool acts_bytes(const struct acts *a, const struct event *e, uint64_t *bytes)
{
	return activity_bytes(a->handles, e->schema, a->stream, e->values, bytes) == ACTIVITY_SIZED;
}

uint64_t acts_unknown(const struct acts *a)
{
	return a->unknown;
}

static void acts_emit(struct acts *a, const struct act *act)
{
	if (a->count == a->capacity) {
		size_t capacity = 2 * a->capacity + 16;
		struct act *list = realloc(a->list, capacity * sizeof *list);
		if (!list) {
			a->failed = true;
			return;
		}
		a->list = list;
		a->capacity = capacity;
	}
	a->list[a->count++] = *act;
}

static struct live *live_at(struct live **list, size_t *count, int64_t number)
{
	if (number < 0 || number > INT32_MAX)
		return NULL;
	if ((uint64_t)number >= *count) {
		size_t more = (size_t)number + *count / 2 + 16;
		struct live *bigger = realloc(*list, more * sizeof *bigger);
		if (!bigger)
			return NULL;
		memset(bigger + *count, 0, (more - *count) * sizeof *bigger);
		*list = bigger;
		*count = more;
	}
	return &(*list)[number];
}

static void acts_number(struct acts *a, bool receive, struct act *m)
{
	uint64_t *count = channels_at(&a->channels, receive, m->comm, m->local, m->tag);
	if (count)
		m->number = (*count)++;
	else
		a->failed = true;
}

/* A rank in the call's communicator; -1: MPI_ANY_SOURCE; -2: MPI_PROC_NULL, MPI_ROOT; -3: not known. */
static int64_t act_peer(const struct acts *a, const struct event *e, int64_t value)
{
	const char *name = call_constant(a->calls->trace, value);
	if (name)
		return trace_is_constant(a->calls->trace, value, CONST_MPI_ANY_SOURCE) ? -1
		       : strcmp(name, "?") == 0                                        ? -3
		                                                                       : -2;
	return value <= VALUE_LOSSY ? -3 : value + e->base;
}

/* -1: MPI_ANY_TAG; -2: not known. */
static int64_t act_tag(int64_t value)
{
	return value_is_constant(value) ? -1 : value <= VALUE_LOSSY ? -2 : value;
}

/* Of a message received; or of the room for one: of these columns. */
static void act_size_received(const struct acts *a, struct act *m, const struct event *e, enum mpi_parameter count)
{
	const int8_t *at = e->schema->at;
	bool pair = at[PARAMETER_RECV_COUNT] >= 0;
	count = count == PARAMETER_COUNT && pair ? PARAMETER_RECV_COUNT : count;
	m->sized = at[count] >= 0 &&
	           activity_elements(a->handles, e->schema, a->stream, e->values, at[count],
	                             at[pair ? PARAMETER_RECV_TYPE : PARAMETER_TYPE], -1, &m->bytes) == HANDLE_KNOWN;
	m->bytes = m->sized ? m->bytes * (uint64_t)(at[PARAMETER_PARTITIONS] < 0 ? 1
	                                                                         : call_number(e, PARAMETER_PARTITIONS))
	                    : 0;
}

/* Fills in who is meant; false if that is not known, or nobody. */
static bool act_address(struct acts *a, struct act *m, int64_t who, int64_t what)
{
	if (who == -2)
		return false;
	if (who == -3 || what == -2) {
		a->unknown++;
		return false;
	}
	m->local = who < 0 ? RANK_UNKNOWN : (uint32_t)who;
	m->peer = who < 0 ? RANK_UNKNOWN : comms_world(a->comms, m->comm, who, a->self);
	m->tag = what;
	return true;
}

static struct act act_message(const struct acts *a, const struct event *e, enum act_kind kind)
{
	return (struct act){.kind = kind,
	                    .comm = comms_find(a->comms, a->stream, call_value(e, PARAMETER_COMM)),
	                    .local = RANK_UNKNOWN,
	                    .peer = RANK_UNKNOWN};
}

static void live_begin(struct acts *a, struct live *l);

/* The call has made a request, for this and possibly that. */
static void requested(struct acts *a, const struct event *e, enum live_kind kind, const struct act *act,
                      enum live_kind second, const struct act *other)
{
	int64_t symbol = call_value(e, PARAMETER_REQUEST);
	if (symbol <= VALUE_LOSSY) { /* MPI_REQUEST_NULL, or not known */
		a->unknown += symbol == VALUE_LOSSY;
		return;
	}
	struct live *l = live_at(&a->live, &a->live_count, symbol);
	if (!l) {
		a->failed = true;
		return;
	}
	*l = (struct live){
		.kind = kind, .persistent = e->schema->mpi->form == FORM_PERSISTENT, .act = *act, .second = second};
	if (other)
		l->other = *other;
	if (!l->persistent)
		live_begin(a, l);
}

static void live_begin_one(struct acts *a, enum live_kind kind, struct act *m)
{
	if (kind == LIVE_NOTHING)
		return;
	m->request = a->requests++;
	m->kind = kind == LIVE_SEND ? ACT_SEND_BEGIN : kind == LIVE_RECV ? ACT_RECV_BEGIN : ACT_COLLECTIVE_BEGIN;
	m->open = kind == LIVE_RECV && (m->local == RANK_UNKNOWN || m->tag < 0);
	if (kind != LIVE_COLLECTIVE && !m->open)
		acts_number(a, kind == LIVE_RECV, m);
	acts_emit(a, m);
}

static void live_begin(struct acts *a, struct live *l)
{
	l->active = true;
	live_begin_one(a, l->kind, &l->act);
	live_begin_one(a, l->second, &l->other);
}

static void end_one(struct acts *a, enum live_kind kind, const struct act *begun, int64_t source, int64_t what,
                    int64_t bytes)
{
	struct act m = *begun;
	if (kind == LIVE_SEND || kind == LIVE_COLLECTIVE) {
		m.kind = kind == LIVE_SEND ? ACT_SEND_END : ACT_COLLECTIVE_END;
	} else if (kind == LIVE_RECV) {
		m.kind = ACT_RECV_END;
		if (source == -2 && m.open) {
			m.kind = ACT_CANCELLED; /* a status that says nothing */
		} else if (source == -2) {
			uint64_t *count = channels_at(&a->channels, true, m.comm, m.local, m.tag);
			a->failed |= !count;
			if (count && *count == m.number + 1)
				(*count)--;
			m.kind = ACT_CANCELLED;
		} else if (m.open) {
			if (!act_address(a, &m, source, what))
				m.kind = ACT_CANCELLED;
			else
				acts_number(a, true, &m);
			m.open = false;
		}
		if (m.kind == ACT_RECV_END) {
			m.sized = bytes >= 0;
			m.bytes = m.sized ? (uint64_t)bytes : 0;
		}
	} else {
		return;
	}
	acts_emit(a, &m);
}

/* A request is complete. The status says -2 where it says nothing. */
static void live_end(struct acts *a, int64_t symbol, int64_t source, int64_t what, int64_t bytes)
{
	if (symbol < 0 || (uint64_t)symbol >= a->live_count || !a->live[symbol].active)
		return;
	struct live *l = &a->live[symbol];
	l->active = false;
	end_one(a, l->kind, &l->act, source, what, bytes);
	end_one(a, l->second, &l->other, source, what, bytes);
	if (!l->persistent)
		l->kind = l->second = LIVE_NOTHING;
}

static void event_send(struct acts *a, const struct call *c, const struct event *e)
{
	struct act m = act_message(a, e, ACT_SEND);
	bool real = act_address(a, &m, act_peer(a, e, call_value(e, PARAMETER_DEST)),
	                        act_tag(call_value(e, PARAMETER_TAG)));
	m.sized = acts_bytes(a, e, &m.bytes);
	if (e->schema->mpi->form != FORM_BLOCKING) {
		requested(a, e, real ? LIVE_SEND : LIVE_NOTHING, &m, LIVE_NOTHING, NULL);
	} else if (real) {
		acts_number(a, false, &m);
		m.exchange = c->kind == CALL_SENDRECV;
		acts_emit(a, &m);
	}
}

static int64_t event_receive_tag(const struct event *e)
{
	return act_tag(call_value(e, e->schema->at[PARAMETER_RECV_TAG] >= 0 ? PARAMETER_RECV_TAG : PARAMETER_TAG));
}

static void event_receive(struct acts *a, const struct event *e)
{
	struct act m = act_message(a, e, ACT_RECV);
	int64_t who = act_peer(a, e, call_value(e, PARAMETER_SOURCE)), what = event_receive_tag(e);
	if (e->schema->mpi->form != FORM_BLOCKING) {
		bool real = act_address(a, &m, who, what);
		act_size_received(a, &m, e, PARAMETER_COUNT);
		requested(a, e, real ? LIVE_RECV : LIVE_NOTHING, &m, LIVE_NOTHING, NULL);
		return;
	}
	if (who == -2)
		return;
	if (who < 0)
		who = act_peer(a, e, call_value(e, PARAMETER_STATUS_SOURCE));
	if (what < 0)
		what = act_tag(call_value(e, PARAMETER_STATUS_TAG));
	if (what == -1)
		what = -2;
	if (!act_address(a, &m, who, what))
		return;
	act_size_received(a, &m, e, PARAMETER_STATUS_COUNT);
	acts_number(a, true, &m);
	acts_emit(a, &m);
}

static void event_sendrecv(struct acts *a, const struct call *c, const struct event *e)
{
	if (e->schema->mpi->form == FORM_BLOCKING) {
		event_send(a, c, e);
		event_receive(a, e);
		return;
	}
	struct act out = act_message(a, e, ACT_SEND), in = act_message(a, e, ACT_RECV);
	bool sends = act_address(a, &out, act_peer(a, e, call_value(e, PARAMETER_DEST)),
	                         act_tag(call_value(e, PARAMETER_TAG)));
	bool receives = act_address(a, &in, act_peer(a, e, call_value(e, PARAMETER_SOURCE)), event_receive_tag(e));
	out.sized = acts_bytes(a, e, &out.bytes);
	act_size_received(a, &in, e, PARAMETER_COUNT);
	requested(a, e, sends ? LIVE_SEND : LIVE_NOTHING, &out, receives ? LIVE_RECV : LIVE_NOTHING, &in);
}

static void event_probe(struct acts *a, const struct event *e)
{
	int64_t symbol = call_value(e, PARAMETER_MESSAGE);
	if (symbol <= VALUE_LOSSY)
		return;
	struct live *l = live_at(&a->messages, &a->message_count, symbol);
	if (!l)
		return;
	*l = (struct live){.kind = LIVE_RECV, .act = act_message(a, e, ACT_RECV)};
	if (!act_address(a, &l->act, act_peer(a, e, call_value(e, PARAMETER_STATUS_SOURCE)),
	                 act_tag(call_value(e, PARAMETER_STATUS_TAG))))
		l->kind = LIVE_NOTHING;
}

static void event_mrecv(struct acts *a, const struct event *e)
{
	int64_t symbol = call_value(e, PARAMETER_MESSAGE);
	if (symbol < 0 || (uint64_t)symbol >= a->message_count)
		return;
	struct live *l = &a->messages[symbol];
	bool real = l->kind == LIVE_RECV;
	act_size_received(a, &l->act, e,
	                  e->schema->mpi->form == FORM_BLOCKING ? PARAMETER_STATUS_COUNT : PARAMETER_COUNT);
	if (e->schema->mpi->form != FORM_BLOCKING) {
		requested(a, e, real ? LIVE_RECV : LIVE_NOTHING, &l->act, LIVE_NOTHING, NULL);
	} else if (real) {
		acts_number(a, true, &l->act);
		acts_emit(a, &l->act);
	}
	l->kind = LIVE_NOTHING;
}

static void event_start(struct acts *a, const struct event *e)
{
	size_t n;
	const struct pool_item *list = call_array(a->calls->trace, e, PARAMETER_REQUEST, &n);
	int64_t one = call_value(e, PARAMETER_REQUEST);
	for (size_t i = 0; i < (list ? n : 1); i++) {
		int64_t symbol = list ? array_element(list, i) : one;
		if (symbol >= 0 && (uint64_t)symbol < a->live_count && a->live[symbol].persistent &&
		    !a->live[symbol].active)
			live_begin(a, &a->live[symbol]);
		else
			a->unknown += symbol == VALUE_LOSSY;
	}
}

static int64_t known_bytes(int64_t value)
{
	return value <= VALUE_LOSSY ? -1 : value;
}

static void event_complete(struct acts *a, const struct event *e)
{
	size_t n, k;
	const struct pool_item *list = call_array(a->calls->trace, e, PARAMETER_REQUEST, &n),
			       *which = call_array(a->calls->trace, e, PARAMETER_INDICES, &k);
	const struct pool_item *sources, *tags, *counts;
	size_t ns, nt, nc;
	bool some = e->schema->mpi->completes == COMPLETES_SOME;
	a->unknown += call_value(e, PARAMETER_REQUEST) == VALUE_LOSSY;
	if (e->schema->at[PARAMETER_FLAG] >= 0 && call_number(e, PARAMETER_FLAG) == 0)
		return;
	if (!list) { /* MPI_Wait, MPI_Test */
		live_end(a, call_value(e, PARAMETER_REQUEST), act_peer(a, e, call_value(e, PARAMETER_STATUS_SOURCE)),
		         act_tag(call_value(e, PARAMETER_STATUS_TAG)),
		         known_bytes(call_value(e, PARAMETER_STATUS_COUNT)));
		return;
	}
	if (e->schema->mpi->completes == COMPLETES_ANY) { /* MPI_Waitany, MPI_Testany */
		int64_t i = call_value(e, PARAMETER_INDEX);
		if (i >= 0 && (uint64_t)i < n)
			live_end(a, array_element(list, (size_t)i),
			         act_peer(a, e, call_value(e, PARAMETER_STATUS_SOURCE)),
			         act_tag(call_value(e, PARAMETER_STATUS_TAG)),
			         known_bytes(call_value(e, PARAMETER_STATUS_COUNT)));
		return;
	}
	sources = call_array(a->calls->trace, e, PARAMETER_STATUS_SOURCE, &ns);
	tags = call_array(a->calls->trace, e, PARAMETER_STATUS_TAG, &nt);
	counts = call_array(a->calls->trace, e, PARAMETER_STATUS_COUNT, &nc);
	bool lossy = call_value(e, PARAMETER_STATUS_SOURCE) == VALUE_LOSSY;
	for (size_t i = 0; i < (some ? k : n); i++) {
		int64_t index = some ? array_element(which, i) : (int64_t)i;
		if (index < 0 || (uint64_t)index >= n)
			continue;
		live_end(a, array_element(list, (size_t)index),
		         sources && i < ns ? act_peer(a, e, array_element(sources, i))
		         : lossy           ? -3
		                           : -2,
		         tags && i < nt ? act_tag(array_element(tags, i)) : -2,
		         counts && i < nc ? known_bytes(array_element(counts, i)) : -1);
	}
}

static void event_release(struct acts *a, const struct event *e)
{
	int64_t symbol = call_value(e, PARAMETER_REQUEST);
	if (symbol < 0 || (uint64_t)symbol >= a->live_count)
		return;
	struct live *l = &a->live[symbol];
	if (l->active && l->kind == LIVE_RECV) { /* whether it was ever received nobody knows */
		struct act m = l->act;
		m.kind = ACT_CANCELLED;
		acts_emit(a, &m);
	} else if (l->active) {
		live_end(a, symbol, -2, -2, -1);
	}
	*l = (struct live){.kind = LIVE_NOTHING};
}

static void event_collective(struct acts *a, const struct call *c, const struct event *e)
{
	struct act m = act_message(a, e, ACT_COLLECTIVE);
	m.collective = c->collective;
	act_collective(&m, a->comms, a->handles, a->stream, a->self, e);
	if (e->schema->mpi->form == FORM_BLOCKING)
		acts_emit(a, &m);
	else
		requested(a, e, LIVE_COLLECTIVE, &m, LIVE_NOTHING, NULL);
}

const struct act *acts_event(struct acts *a, const struct event *e, size_t *n)
{
	static const struct act none;
	const struct call *c = call_of(a->calls, e);
	a->count = 0;
	handles_event(a->handles, a->stream, e);
	if (!call_failed(e)) { /* what failed did nothing */
		switch (c->kind) {
		case CALL_SEND:
			event_send(a, c, e);
			break;
		case CALL_RECV:
			event_receive(a, e);
			break;
		case CALL_SENDRECV:
			event_sendrecv(a, c, e);
			break;
		case CALL_MPROBE:
			event_probe(a, e);
			break;
		case CALL_MRECV:
			event_mrecv(a, e);
			break;
		case CALL_START:
			event_start(a, e);
			break;
		case CALL_COMPLETE:
			event_complete(a, e);
			break;
		case CALL_FREE:
			event_release(a, e);
			break;
		case CALL_COLLECTIVE:
			event_collective(a, c, e);
			break;
		case CALL_COMM_MAKE:
		case CALL_COMM_FREE: {
			struct act m = act_message(a, e, c->kind == CALL_COMM_MAKE ? ACT_COMM_MADE : ACT_COMM_FREED);
			if (c->kind == CALL_COMM_MAKE)
				m.comm = comms_find(a->comms, a->stream, call_value(e, PARAMETER_CREATED));
			if (m.comm != COMM_UNKNOWN)
				acts_emit(a, &m);
			break;
		}
		case CALL_CANCEL:
		case CALL_OTHER:
			break;
		}
	}
	*n = a->count;
	return a->failed ? NULL : a->list ? a->list : &none;
}
