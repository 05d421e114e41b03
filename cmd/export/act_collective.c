/* SPDX-License-Identifier: BSD-3-Clause
 * act_collective - what a collective call sends and receives
 */
#include "cmd/export/act.h"

#include "trace/read/activity.h"

/* Bytes of a parameter; 0 if it is not known. of_one: 0 if it is an array, too. */
static uint64_t bytes_at(struct handles *handles, uint32_t stream, const struct event *e, enum mpi_parameter count,
                         enum mpi_parameter type, bool of_one, bool *sized)
{
	const int8_t *at = e->schema->at;
	uint64_t bytes = 0;
	bool known = at[count] >= 0 && !(of_one && e->schema->column[at[count]].vector) &&
	             activity_elements(handles, e->schema, stream, e->values, at[count], at[type], -1, &bytes) ==
	                     HANDLE_KNOWN;
	*sized |= known;
	return known ? bytes : 0;
}

/* What arrives at the caller. */
static uint64_t collective_received(const struct act *m, bool is_root, uint32_t members, uint64_t all)
{
	switch (m->collective) {
	case COLLECTIVE_BCAST:
		return is_root ? 0 : m->send_piece;
	case COLLECTIVE_GATHER:
		return is_root ? members * m->receive_piece : 0;
	case COLLECTIVE_GATHERV:
		return is_root ? all : 0;
	case COLLECTIVE_ALLGATHER:
	case COLLECTIVE_ALLTOALL:
		return members * m->receive_piece;
	case COLLECTIVE_REDUCE:
		return is_root ? m->send_piece : 0;
	case COLLECTIVE_ALLREDUCE:
	case COLLECTIVE_SCAN:
	case COLLECTIVE_EXSCAN:
		return m->send_piece;
	case COLLECTIVE_REDUCE_SCATTER:
		return members ? all / members : 0;
	default:
		return all;
	}
}

void act_collective(struct act *m, const struct comms *comms, struct handles *handles, uint32_t stream, uint32_t self,
                    const struct event *e)
{
	uint32_t members = m->comm == COMM_UNKNOWN ? 0 : comms_at(comms, m->comm)->size;
	int64_t root = call_value(e, PARAMETER_ROOT);
	enum mpi_parameter count = e->schema->at[PARAMETER_RECV_COUNT] >= 0 ? PARAMETER_RECV_COUNT : PARAMETER_COUNT,
			   type = e->schema->at[PARAMETER_RECV_TYPE] >= 0 ? PARAMETER_RECV_TYPE : PARAMETER_TYPE;
	m->local = root >= 0 ? (uint32_t)root : RANK_UNKNOWN;
	m->peer = root >= 0 ? comms_world(comms, m->comm, root, self) : RANK_UNKNOWN;
	m->sized = m->collective == COLLECTIVE_BARRIER;
	m->send_piece = bytes_at(handles, stream, e, PARAMETER_COUNT, PARAMETER_TYPE, true, &m->sized);
	m->receive_piece = bytes_at(handles, stream, e, count, type, true, &m->sized);
	if (m->send_piece == 0 && m->collective == COLLECTIVE_ALLTOALL)
		m->send_piece = m->receive_piece; /* in place */
	bool is_root = m->peer == self, unused = false;
	if (m->collective != COLLECTIVE_BCAST || is_root)
		activity_bytes(handles, e->schema, stream, e->values, &m->sent);
	m->received =
		collective_received(m, is_root, members, bytes_at(handles, stream, e, count, type, false, &unused));
}
