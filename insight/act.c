/* SPDX-License-Identifier: BSD-3-Clause
 * act - what the arguments of one call say of what it does
 */
#include "insight/act.h"

#include <string.h>

#include "trace/base/index.h"
#include "trace/read/activity.h"

uint64_t act_hash(uint64_t h, const struct act *m)
{
	const uint64_t flags = (uint64_t)m->sized << 6 | (uint64_t)m->exchange << 5 | (uint64_t)m->partitioned << 4 |
	                       (uint64_t)m->matched << 3 | (uint64_t)m->any << 2 | (uint64_t)m->root << 1 |
	                       m->bystander;
	h = hash_mix(hash_mix(h, (uint64_t)m->site << 32 | m->local), (uint64_t)m->comm << 32 | m->peer);
	h = hash_mix(hash_mix(hash_mix(h, (uint64_t)m->tag), m->bytes), (uint64_t)m->collective << 8 | flags);
	h = hash_mix(hash_mix(h, m->sent), m->received);
	return hash_mix(hash_mix(h, m->send_piece), m->receive_piece);
}

int64_t act_peer(const struct act_caller *c, const struct event *e, int64_t value)
{
	const struct trace *t = c->calls->trace;
	if (value_is_constant(value))
		return trace_is_constant(t, value, CONST_MPI_ANY_SOURCE) ? ACT_ANY
		       : strcmp(trace_constant_name(t, value), "?") == 0 ? ACT_NOT_KNOWN
		                                                         : ACT_NOBODY;
	return value <= VALUE_LOSSY ? ACT_NOT_KNOWN : value + e->base;
}

int64_t act_tag(int64_t value)
{
	return value_is_constant(value) ? ACT_ANY : value <= VALUE_LOSSY ? ACT_NOT_KNOWN : value;
}

uint32_t act_comm(const struct act_caller *c, int64_t value)
{
	return c->comms ? comms_find(c->comms, c->stream, value) : COMM_UNKNOWN;
}

struct act act_on(const struct act_caller *c, const struct event *e, enum act_kind kind)
{
	return (struct act){.kind = kind,
	                    .comm = act_comm(c, call_value(e, PARAMETER_COMM)),
	                    .local = RANK_UNKNOWN,
	                    .peer = RANK_UNKNOWN,
	                    .partitioned = e->schema->at[PARAMETER_PARTITIONS] >= 0,
	                    .site = e->site,
	                    .began = e->number};
}

bool act_address(const struct act_caller *c, struct act *m, int64_t who, int64_t tag, uint64_t *unknown)
{
	if (who == ACT_NOBODY)
		return false;
	if (who == ACT_NOT_KNOWN || tag == ACT_NOT_KNOWN) {
		++*unknown;
		return false;
	}
	m->local = who < 0 ? RANK_UNKNOWN : (uint32_t)who;
	m->peer = who < 0 || !c->comms ? RANK_UNKNOWN : comms_world(c->comms, m->comm, who, c->self);
	m->tag = tag;
	return true;
}

void act_size_sent(const struct act_caller *c, struct act *m, const struct event *e)
{
	m->sized =
		c->handles && activity_bytes(c->handles, e->schema, c->stream, e->values, &m->bytes) == ACTIVITY_SIZED;
}

void act_size_received(const struct act_caller *c, struct act *m, const struct event *e, bool by_status)
{
	const int8_t *at = e->schema->at;
	bool pair = at[PARAMETER_RECV_COUNT] >= 0; /* MPI_Sendrecv */
	enum mpi_parameter count = by_status ? PARAMETER_STATUS_COUNT : pair ? PARAMETER_RECV_COUNT : PARAMETER_COUNT;
	m->sized = c->handles && at[count] >= 0 &&
	           activity_elements(c->handles, e->schema, c->stream, e->values, at[count],
	                             at[pair ? PARAMETER_RECV_TYPE : PARAMETER_TYPE], -1, &m->bytes) == HANDLE_KNOWN;
	m->bytes = m->sized ? m->bytes * (uint64_t)(at[PARAMETER_PARTITIONS] < 0 ? 1
	                                                                         : call_number(e, PARAMETER_PARTITIONS))
	                    : 0;
}

/* Bytes of a parameter; 0 if it is not known. of_one: 0 if it is an array, too. */
static uint64_t bytes_at(const struct act_caller *c, const struct event *e, enum mpi_parameter count,
                         enum mpi_parameter type, bool of_one, bool *sized)
{
	const int8_t *at = e->schema->at;
	uint64_t bytes = 0;
	bool known = at[count] >= 0 && !(of_one && e->schema->column[at[count]].vector) &&
	             activity_elements(c->handles, e->schema, c->stream, e->values, at[count], at[type], -1, &bytes) ==
	                     HANDLE_KNOWN;
	*sized |= known;
	return known ? bytes : 0;
}

/* What arrives at the caller. */
static uint64_t collective_received(const struct act *m, uint32_t peers, uint64_t all)
{
	switch (m->collective) {
	case COLLECTIVE_BCAST:
		return m->root ? 0 : m->send_piece;
	case COLLECTIVE_GATHER:
		return m->root ? peers * m->receive_piece : 0;
	case COLLECTIVE_GATHERV:
		return m->root ? all : 0;
	case COLLECTIVE_ALLGATHER:
	case COLLECTIVE_ALLTOALL:
		return peers * m->receive_piece;
	case COLLECTIVE_REDUCE:
		return m->root ? m->send_piece : 0;
	case COLLECTIVE_ALLREDUCE:
	case COLLECTIVE_SCAN:
	case COLLECTIVE_EXSCAN:
		return m->send_piece;
	case COLLECTIVE_REDUCE_SCATTER:
		return peers ? all / peers : 0;
	default:
		return all;
	}
}

void act_collective(const struct act_caller *c, struct act *m, const struct event *e)
{
	uint32_t peers = c->comms ? comms_peers(c->comms, m->comm, c->self) : 0;
	int64_t root = call_value(e, PARAMETER_ROOT);
	enum mpi_parameter count = e->schema->at[PARAMETER_RECV_COUNT] >= 0 ? PARAMETER_RECV_COUNT : PARAMETER_COUNT,
			   type = e->schema->at[PARAMETER_RECV_TYPE] >= 0 ? PARAMETER_RECV_TYPE : PARAMETER_TYPE;
	bool unused = false;
	m->local = root >= 0 ? (uint32_t)root : RANK_UNKNOWN;
	m->peer = root >= 0 && c->comms ? comms_world(c->comms, m->comm, root, c->self) : RANK_UNKNOWN;
	m->root = m->peer == c->self || trace_is_constant(c->calls->trace, root, CONST_MPI_ROOT);
	m->bystander = trace_is_constant(c->calls->trace, root, CONST_MPI_PROC_NULL);
	m->peer = m->root ? c->self : m->peer;
	m->sized = m->collective == COLLECTIVE_BARRIER;
	if (m->bystander || !c->handles)
		return;
	m->send_piece = bytes_at(c, e, PARAMETER_COUNT, PARAMETER_TYPE, true, &m->sized);
	m->receive_piece = bytes_at(c, e, count, type, true, &m->sized);
	if (m->send_piece == 0 && m->collective == COLLECTIVE_ALLTOALL)
		m->send_piece = m->receive_piece; /* in place */
	if (m->collective != COLLECTIVE_BCAST || m->root)
		activity_bytes(c->handles, e->schema, c->stream, e->values, &m->sent);
	m->received = collective_received(m, peers, bytes_at(c, e, count, type, false, &unused));
}

static int64_t known_bytes(int64_t value)
{
	return value <= VALUE_LOSSY ? -1 : value;
}

struct act_status act_status(const struct act_caller *c, const struct event *e)
{
	return (struct act_status){act_peer(c, e, call_value(e, PARAMETER_STATUS_SOURCE)),
	                           act_tag(call_value(e, PARAMETER_STATUS_TAG)),
	                           known_bytes(call_value(e, PARAMETER_STATUS_COUNT))};
}

struct act_status act_status_at(const struct act_caller *c, const struct event *e, size_t i)
{
	const struct trace *t = c->calls->trace;
	size_t sources, tags, counts;
	int at = e->schema->at[PARAMETER_STATUS_SOURCE];
	if (at >= 0 && !e->schema->column[at].vector)
		return act_status(c, e);
	const struct pool_item *source = call_array(t, e, PARAMETER_STATUS_SOURCE, &sources),
			       *tag = call_array(t, e, PARAMETER_STATUS_TAG, &tags),
			       *count = call_array(t, e, PARAMETER_STATUS_COUNT, &counts);
	struct act_status s = {ACT_NOBODY, ACT_NOT_KNOWN, -1};
	if (i < sources)
		s.source = act_peer(c, e, array_element(source, i));
	else if (call_value(e, PARAMETER_STATUS_SOURCE) == VALUE_LOSSY)
		s.source = ACT_NOT_KNOWN;
	if (i < tags)
		s.tag = act_tag(array_element(tag, i));
	if (i < counts)
		s.bytes = known_bytes(array_element(count, i));
	return s;
}
