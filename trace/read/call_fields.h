/* SPDX-License-Identifier: BSD-3-Clause
 * call_fields - what kind of call each function of a trace is, and the values of its parameters
 *
 * Calls of the kinds CALL_SEND, CALL_RECV, CALL_SENDRECV, CALL_MRECV and CALL_COLLECTIVE may return a request instead
 * of being done (mpi.h, enum mpi_form).
 */
#ifndef SPOOR_CALL_FIELDS_H
#define SPOOR_CALL_FIELDS_H

#include "trace/model/value.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

enum call_kind {
	CALL_OTHER,
	CALL_SEND,
	CALL_RECV,
	CALL_SENDRECV,
	CALL_MPROBE, /* gives a message its envelope */
	CALL_MRECV,
	CALL_START,
	CALL_COMPLETE, /* Wait*, Test* */
	CALL_CANCEL,
	CALL_READY, /* MPI_Pready and the like */
	CALL_FREE,  /* MPI_Request_free */
	CALL_COLLECTIVE,
	CALL_COMM_MAKE,
	CALL_COMM_FREE,
};

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

struct call {
	const struct schema *schema;
	enum call_kind kind;
	enum collective collective;
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

/* A parameter, as it was recorded; VALUE_NONE if the function has no such parameter. */
static inline int64_t call_value(const struct event *e, enum mpi_parameter p)
{
	return e->schema->at[p] < 0 ? VALUE_NONE : e->values[e->schema->at[p]];
}

/* A number: 0 if it is not there, is not known, or is a constant. */
static inline int64_t call_number(const struct event *e, enum mpi_parameter p)
{
	int64_t v = call_value(e, p);
	return v <= VALUE_LOSSY ? 0 : v;
}

/* Did it return an error? */
static inline bool call_failed(const struct event *e)
{
	return e->schema->at[PARAMETER_ERROR] >= 0;
}

/* The name of a constant; NULL if the value is none. */
static inline const char *call_constant(const struct trace *t, int64_t value)
{
	return value_is_constant(value) ? trace_constant_name(t, value) : NULL;
}

/* The elements of an array parameter; *n is 0 if it is not there, or not known. */
const struct pool_item *call_array(const struct trace *t, const struct event *e, enum mpi_parameter p, size_t *n);
/* Is its value a name in some calls: MPI_ANY_SOURCE, or `-`, which is not significant? */
bool column_has_names(const struct trace_column *c);
/* Has it this one? */
bool column_has_constant(const struct trace *t, const struct trace_column *c, enum mpi_constant constant);
int64_t array_element(const struct pool_item *item, size_t i);

#endif
