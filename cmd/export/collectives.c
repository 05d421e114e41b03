/* SPDX-License-Identifier: BSD-3-Clause
 * collectives - of time-independent traces: collective operations as lines of their own, or as messages
 */
#include "cmd/export/simgrid.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/base/sink.h"
#include "trace/base/index.h"

struct operation {
	struct ti *ti;
	struct track *track;
	const struct act *act;
	const struct call *call;
	uint32_t comm, size, me; /* me: the rank in it */
	uint64_t channel, number;
};

static uint32_t line_world(const struct operation *o, uint32_t local)
{
	return comms_world(o->ti->export->comms, o->comm, local, o->ti->self);
}

static int line_tag(const struct operation *o, unsigned phase)
{
	return ti_tag(o->channel, 4 * o->number + phase);
}

static void line_put(const struct operation *o, const char *what, uint32_t peer, unsigned phase, uint64_t bytes)
{
	say_to(o->ti->out, "%u %s %u %d %" PRIu64 "\n", o->ti->self, what, line_world(o, peer), line_tag(o, phase),
	       bytes);
}

static void put_wait(const struct operation *o, uint32_t from, uint32_t to, unsigned phase)
{
	say_to(o->ti->out, "%u wait %u %u %d\n", o->ti->self, line_world(o, from), line_world(o, to),
	       line_tag(o, phase));
}

/* Bytes of element i of an array parameter, `otherwise` if it is none (of calls that do not block, the array belongs to
 * another event). */
static uint64_t line_piece(const struct operation *o, enum mpi_parameter counts, enum mpi_parameter type, uint32_t i,
                           uint64_t otherwise)
{
	size_t n, k;
	uint64_t size = 0;
	const struct event *e = &o->track->event;
	const struct trace *t = o->ti->export->trace;
	const struct pool_item *list = call_array(t, e, counts, &n), *each = call_array(t, e, type, &k);
	if (!list || i >= n)
		return otherwise;
	int64_t datatype = each && i < k ? array_element(each, i) : call_value(e, type);
	int64_t count = array_element(list, i);
	return count > 0 && execution_type_size(o->track->execution, datatype, &size) ? (uint64_t)count * size : 0;
}

/* A persistent operation was started: its arguments belong to another event, and what is known are sums. */
static bool line_started(const struct operation *o)
{
	return o->call->kind != CALL_COLLECTIVE;
}

static uint64_t sent_to(const struct operation *o, uint32_t i)
{
	if (line_started(o) && !o->act->send_piece)
		return o->act->sent / o->size;
	uint64_t bytes = line_piece(o, PARAMETER_COUNT, PARAMETER_TYPE, i, UINT64_MAX);
	if (bytes != UINT64_MAX)
		return bytes;
	switch (o->act->collective) {
	case COLLECTIVE_ALLTOALLV: /* in place */
	case COLLECTIVE_ALLTOALLW:
		return line_piece(o, PARAMETER_RECV_COUNT, PARAMETER_RECV_TYPE, i, 0);
	case COLLECTIVE_ALLGATHERV:
		return o->act->send_piece ? o->act->send_piece
		                          : line_piece(o, PARAMETER_RECV_COUNT, PARAMETER_RECV_TYPE, o->me, 0);
	case COLLECTIVE_REDUCE_SCATTER:
		return line_piece(o, PARAMETER_RECV_COUNT, PARAMETER_TYPE, i, 0);
	case COLLECTIVE_REDUCE_SCATTER_BLOCK:
		return o->act->receive_piece;
	case COLLECTIVE_ALLGATHER:
		return o->act->send_piece ? o->act->send_piece : o->act->receive_piece;
	default:
		return o->act->send_piece;
	}
}

static uint64_t received_from(const struct operation *o, uint32_t i)
{
	if (line_started(o))
		return TI_ROOM;
	switch (o->act->collective) {
	case COLLECTIVE_GATHERV:
	case COLLECTIVE_ALLGATHERV:
	case COLLECTIVE_ALLTOALLV:
	case COLLECTIVE_ALLTOALLW:
		return line_piece(o, PARAMETER_RECV_COUNT, PARAMETER_RECV_TYPE, i, 0);
	case COLLECTIVE_REDUCE_SCATTER:
		return line_piece(o, PARAMETER_RECV_COUNT, PARAMETER_TYPE, o->me, 0);
	case COLLECTIVE_BCAST:
	case COLLECTIVE_REDUCE:
	case COLLECTIVE_ALLREDUCE:
	case COLLECTIVE_SCAN:
	case COLLECTIVE_EXSCAN:
		return o->act->send_piece;
	default:
		return o->act->receive_piece ? o->act->receive_piece : o->act->send_piece;
	}
}

/* --- trees and chains, for those that block --- */

static void bcast(const struct operation *o, uint32_t root, unsigned phase, uint64_t bytes)
{
	uint32_t place = (o->me + o->size - root) % o->size, mask = 1;
	while (mask < o->size && !(place & mask))
		mask <<= 1;
	if (place != 0)
		line_put(o, "recv", (place - mask + root) % o->size, phase, bytes);
	for (mask >>= 1; mask > 0; mask >>= 1)
		if (place + mask < o->size)
			line_put(o, "send", (place + mask + root) % o->size, phase, bytes);
}

static void line_reduce(const struct operation *o, uint32_t root, unsigned phase, uint64_t bytes)
{
	uint32_t place = (o->me + o->size - root) % o->size;
	for (uint32_t mask = 1; mask < o->size; mask <<= 1) {
		if (place & mask) {
			line_put(o, "send", (place - mask + root) % o->size, phase, bytes);
			return;
		}
		if (place + mask < o->size)
			line_put(o, "recv", (place + mask + root) % o->size, phase, bytes);
	}
}

static void line_scan(const struct operation *o, uint64_t bytes)
{
	if (o->me > 0)
		line_put(o, "recv", o->me - 1, 0, bytes);
	if (o->me + 1 < o->size)
		line_put(o, "send", o->me + 1, 0, bytes);
}

/* --- messages without order: who sends to whom --- */

static bool sends(const struct operation *o, uint32_t from, uint32_t to)
{
	switch (o->act->collective) {
	case COLLECTIVE_BCAST:
	case COLLECTIVE_SCATTER:
	case COLLECTIVE_SCATTERV:
		return from == o->act->local;
	case COLLECTIVE_GATHER:
	case COLLECTIVE_GATHERV:
	case COLLECTIVE_REDUCE:
		return to == o->act->local;
	case COLLECTIVE_SCAN:
	case COLLECTIVE_EXSCAN:
		return from < to;
	default:
		return true;
	}
}

static void collective_begin(const struct operation *o)
{
	for (uint32_t k = 1; k < o->size; k++) {
		uint32_t peer = (o->me + o->size - k) % o->size;
		if (sends(o, peer, o->me))
			line_put(o, "irecv", peer, 0,
			         o->act->sized || !o->act->receive_piece ? received_from(o, peer) : TI_ROOM);
	}
	for (uint32_t k = 1; k < o->size; k++) {
		uint32_t peer = (o->me + k) % o->size;
		if (sends(o, o->me, peer))
			line_put(o, "isend", peer, 0, sent_to(o, peer));
	}
}

static void collective_end(const struct operation *o)
{
	for (uint32_t k = 1; k < o->size; k++) {
		uint32_t from = (o->me + o->size - k) % o->size, to = (o->me + k) % o->size;
		if (sends(o, from, o->me))
			put_wait(o, from, o->me, 0);
		if (sends(o, o->me, to))
			put_wait(o, o->me, to, 0);
	}
}

/* One line, if the replay has the operation. */
static bool native(const struct operation *o)
{
	const struct act *m = o->act;
	FILE *out = o->ti->out;
	uint32_t self = o->ti->self;
	uint64_t in = m->send_piece ? m->send_piece : m->receive_piece,
		 from = m->receive_piece ? m->receive_piece : m->send_piece;
	switch (m->collective) {
	case COLLECTIVE_BARRIER:
		say_to(out, "%u barrier\n", self);
		return true;
	case COLLECTIVE_BCAST:
		say_to(out, "%u bcast %" PRIu64 " %u\n", self, m->send_piece, m->local);
		return true;
	case COLLECTIVE_REDUCE:
		say_to(out, "%u reduce %" PRIu64 " 0 %u\n", self, m->send_piece, m->local);
		return true;
	case COLLECTIVE_ALLREDUCE:
		say_to(out, "%u allreduce %" PRIu64 " 0\n", self, m->send_piece);
		return true;
	case COLLECTIVE_ALLTOALL:
	case COLLECTIVE_ALLGATHER:
		say_to(out, "%u %s %" PRIu64 " %" PRIu64 "\n", self, collective_name(m->collective), in, from);
		return true;
	case COLLECTIVE_GATHER:
	case COLLECTIVE_SCATTER:
		say_to(out, "%u %s %" PRIu64 " %" PRIu64 " %u\n", self, collective_name(m->collective), in, from,
		       m->local);
		return true;
	default:
		return false;
	}
}

/* Which of its communicator's operations one is: remembered from its begin until it is complete. */
static int line_number(struct operation *o)
{
	struct ti *ti = o->ti;
	const struct act *m = o->act;
	if (m->kind == ACT_COLLECTIVE_END) {
		for (size_t i = 0; i < ti->pending_count; i++)
			if (ti->pending[i].request == m->request) {
				o->number = ti->pending[i].number;
				ti->pending[i] = ti->pending[--ti->pending_count];
				return 0;
			}
		return -1;
	}
	o->number = ti->operations[m->comm]++;
	if (m->kind != ACT_COLLECTIVE_BEGIN)
		return 0;
	if (ti->pending_count == ti->pending_capacity) {
		size_t capacity = 2 * ti->pending_capacity + 16;
		struct ti_pending *more = realloc(ti->pending, capacity * sizeof *more);
		if (!more)
			return error_set(&ti->export->error, "no memory");
		ti->pending = more;
		ti->pending_capacity = capacity;
	}
	ti->pending[ti->pending_count++] = (struct ti_pending){m->request, o->number};
	return 0;
}

void ti_collective(struct ti *ti, struct track *t, const struct act *m)
{
	struct operation o = {
		.ti = ti, .track = t, .act = m, .call = call_of(&ti->export->calls, &t->event), .comm = m->comm};
	if (m->comm == COMM_UNKNOWN || m->collective == COLLECTIVE_NEIGHBOR ||
	    comms_is_inter(ti->export->comms, m->comm)) {
		ti->export->left_out += m->kind != ACT_COLLECTIVE_END;
		return;
	}
	o.size = comms_at(ti->export->comms, m->comm)->size;
	if (o.size < 2)
		return;
	if ((m->kind == ACT_COLLECTIVE && comms_is_world(ti->export->comms, m->comm) && native(&o)) ||
	    line_number(&o) != 0)
		return;
	o.me = comms_local(ti->export->comms, m->comm, ti->self);
	o.channel = hash_mix(23, m->comm);
	if (m->kind == ACT_COLLECTIVE_BEGIN)
		collective_begin(&o);
	else if (m->kind == ACT_COLLECTIVE_END)
		collective_end(&o);
	else if (m->collective == COLLECTIVE_BCAST)
		bcast(&o, m->local, 0, m->send_piece);
	else if (m->collective == COLLECTIVE_REDUCE)
		line_reduce(&o, m->local, 0, m->send_piece);
	else if (m->collective == COLLECTIVE_ALLREDUCE || m->collective == COLLECTIVE_BARRIER) {
		uint64_t bytes = m->collective == COLLECTIVE_BARRIER ? 1 : m->send_piece;
		line_reduce(&o, 0, 0, bytes);
		bcast(&o, 0, 1, bytes);
	} else if (m->collective == COLLECTIVE_SCAN || m->collective == COLLECTIVE_EXSCAN)
		line_scan(&o, m->send_piece);
	else {
		collective_begin(&o);
		collective_end(&o);
	}
}
