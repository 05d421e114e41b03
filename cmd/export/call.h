/* SPDX-License-Identifier: BSD-3-Clause
 * call - what kind of call each function of a trace is, and where its parameters are
 *
 * A trace carries the schemas of its functions; here they are looked at once, by name, so that nothing has to be looked
 * up for each event.
 */
#ifndef SPOOR_EXPORT_CALL_H
#define SPOOR_EXPORT_CALL_H

#include "trace/model/value.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

enum call_kind {
	CALL_OTHER,
	CALL_INIT,
	CALL_FINALIZE,
	CALL_SEND,
	CALL_RECV,
	CALL_SENDRECV,
	CALL_MPROBE, /* gives a message its envelope */
	CALL_MRECV,
	CALL_START,
	CALL_COMPLETE, /* Wait*, Test* */
	CALL_CANCEL,
	CALL_FREE, /* MPI_Request_free */
	CALL_COLLECTIVE,
	CALL_COMM_MAKE,
	CALL_COMM_FREE,
};

/* A call of these kinds may return a request instead of being done: CALL_SEND, CALL_RECV, CALL_SENDRECV, CALL_MRECV,
 * CALL_COLLECTIVE. */
enum call_way { WAY_BLOCKING, WAY_REQUEST, WAY_PERSISTENT };

enum collective {
	COLLECTIVE_BARRIER,
	COLLECTIVE_BCAST,
	COLLECTIVE_GATHER,
	COLLECTIVE_GATHERV,
	COLLECTIVE_SCATTER,
	COLLECTIVE_SCATTERV,
	COLLECTIVE_ALLGATHER,
	COLLECTIVE_ALLGATHERV,
	COLLECTIVE_ALLTOALL,
	COLLECTIVE_ALLTOALLV,
	COLLECTIVE_ALLTOALLW,
	COLLECTIVE_ALLREDUCE,
	COLLECTIVE_REDUCE,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_REDUCE_SCATTER_BLOCK,
	COLLECTIVE_SCAN,
	COLLECTIVE_EXSCAN,
	COLLECTIVE_NEIGHBOR, /* all of MPI_Neighbor_* */
	COLLECTIVES
};

enum field {
	FIELD_COMM, /* the communicator that the call is on, also under other names (comm_old, local_comm) */
	FIELD_NEW,  /* that it makes */
	FIELD_DEST,
	FIELD_SOURCE,
	FIELD_COUNT,
	FIELD_TYPE,
	FIELD_SENDCOUNT,
	FIELD_SENDTYPE,
	FIELD_RECVCOUNT,
	FIELD_RECVTYPE,
	FIELD_SENDCOUNTS,
	FIELD_RECVCOUNTS,
	FIELD_SENDTYPES,
	FIELD_RECVTYPES,
	FIELD_TAG, /* also sendtag */
	FIELD_RECVTAG,
	FIELD_ROOT,
	FIELD_REQUEST,
	FIELD_REQUESTS,
	FIELD_FLAG,
	FIELD_INDEX,
	FIELD_INDICES,
	FIELD_MESSAGE,
	FIELD_STATUS_SOURCE, /* of status, or of statuses */
	FIELD_STATUS_TAG,
	FIELD_STATUS_COUNT,
	FIELD_COLOR,
	FIELD_SPLIT_TYPE,
	FIELD_REMAIN,
	FIELD_DIMS,
	FIELD_NAME, /* comm_name, stringtag */
	FIELD_PARTITIONS,
	FIELD_ERROR,
	FIELDS
};

struct call {
	char name[48]; /* "MPI_Send"; longer ones are cut */
	enum call_kind kind;
	enum call_way way;
	enum collective collective;
	int8_t at[FIELDS]; /* number of the column, or -1 */
};

struct calls {
	const struct trace *trace;
	struct call *items; /* by function */
};

/* Returns 0, or -1 on no memory. The caller frees it in any case. */
int calls_make(struct calls *c, const struct trace *t);
void calls_free(struct calls *c);
const char *collective_name(enum collective c); /* "bcast" */

static inline const struct call *call_of(const struct calls *c, const struct event *e)
{
	return &c->items[c->trace->sites[e->site].function];
}

/* A scalar parameter, as it was recorded; VALUE_NONE if the function has no such parameter. */
static inline int64_t call_value(const struct call *c, const struct event *e, enum field f)
{
	return c->at[f] < 0 ? VALUE_NONE : e->values[c->at[f]];
}

/* A number: 0 if it is not there, is not known, or is a constant. */
static inline int64_t call_number(const struct call *c, const struct event *e, enum field f)
{
	int64_t v = call_value(c, e, f);
	return v <= VALUE_LOSSY ? 0 : v;
}

/* The name of a constant; NULL if the value is none. */
static inline const char *call_constant(const struct trace *t, int64_t value)
{
	return value_is_constant(value)
	               ? (const char *)t->strings.items[(uint64_t)value - (uint64_t)VALUE_CONSTANT].bytes
	               : NULL;
}

/* The elements of an array parameter; *n is 0 if it is not there, or not known. */
const struct pool_item *call_array(const struct calls *calls, const struct call *c, const struct event *e, enum field f,
                                   size_t *n);
int64_t array_element(const struct pool_item *item, size_t i);

#endif
