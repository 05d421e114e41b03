/* SPDX-License-Identifier: BSD-3-Clause
 * amount - how much one call passes on, from the values of its parameters, and from what its handles stand for
 *
 *     MPI_Send, MPI_Isend ...           one message of count elements; to MPI_PROC_NULL none
 *     MPI_Start, MPI_Startall           for each request what the call that made it says (MPI_Send_init,
 *                                       MPI_Psend_init, MPI_Bcast_init ...)
 *     MPI_Bcast, MPI_Reduce ...         each caller count elements: what its buffer has
 *     MPI_Alltoall, MPI_Scatter (root)  each caller sendcount elements to each rank of the communicator
 *     MPI_Alltoallv, MPI_Scatterv ...   each caller the sum of its sendcounts; in place, of its recvcounts
 *     MPI_Put, MPI_Get, MPI_File_write  count elements
 *
 * A handle is known as long as all calls of a rank that made one of its number agree on what it is, in whatever order
 * they came; or, if the values come in the order of events (amounts_in_order), as what the last one of them said.
 */
#ifndef SPOOR_AMOUNT_H
#define SPOOR_AMOUNT_H

#include "trace/model/trace.h"
#include "trace/read/walk.h"

enum amount_kind {
	AMOUNT_NONE,       /* nothing, or nobody knows: receives, waits */
	AMOUNT_MESSAGE,    /* one message point to point */
	AMOUNT_START,      /* of persistent requests */
	AMOUNT_COLLECTIVE, /* count elements, or the sum of an array of counts */
	AMOUNT_ALL,        /* count elements for each rank of the communicator */
	AMOUNT_ONESIDED,   /* MPI_Put and the like */
	AMOUNT_FILE,       /* MPI_File_read..., MPI_File_write... */
	AMOUNT_UNKNOWN,    /* something, but the parameters do not say how much: MPI_Neighbor_alltoall */
};

/* A function: what it does, and in which columns that is said; -1: there is none. */
struct amount_plan {
	enum amount_kind kind;
	bool persistent; /* makes a request: nothing is passed on before that is started */
	bool own;        /* in place, only the caller's own element of the second array of counts */
	int8_t count, type, second_count, second_type; /* second: where the first are not significant */
	int8_t partitions, peer, comm, request;
};
struct amount_plan amount_plan(const struct schema *s);
/* Is that a column without which amounts are not known? (trace_decode_some; the second columns are needed only where
 * something is in place.) */
bool amount_needs(const struct schema *s, size_t column);

struct amount {
	uint64_t messages, message_bytes; /* sent point to point; bytes of those whose size is known */
	uint64_t unsized;                 /* messages and calls of which the size is not known, or not of all */
	uint64_t bytes;                   /* of all others; modulo 2^64 */
};

/* Size classes: 0 is of empty messages, i of 2^(i-1) to 2^i - 1 bytes, the last one also of all that is larger. */
#define AMOUNT_SIZES 48
unsigned amount_class(uint64_t bytes);

/* What the handles of a trace stand for; and how much may still be looked at value by value. */
struct amounts;
#define AMOUNT_WORK (UINT64_C(1) << 24)

/* Returns NULL on no memory. The trace must outlive it. */
struct amounts *amounts_create(const struct trace *t);
void amounts_destroy(struct amounts *a);
/* Forgets all handles: from now on they are what amounts_event is told, and array values are those of the event that it
 * was told of last. */
void amounts_in_order(struct amounts *a);
void amounts_event(struct amounts *a, const struct amount_plan *p, uint32_t stream, const struct event *e);
/* Was a handle asked for that calls did not agree on? Then their order would tell. */
bool amounts_ambiguous(const struct amounts *a);
/* Is there work left for so many values of so many ranks? Then it is done. */
bool amounts_afford(struct amounts *a, uint64_t ranks, uint64_t values);

/* Of a value of a column of kind t, or c. Returns 0; 1: it says that there is none (`-`); 2: it is not known. */
int amounts_type_size(struct amounts *a, uint32_t stream, int64_t value, uint64_t *size);
int amounts_comm_size(struct amounts *a, uint32_t stream, int64_t value, uint64_t *size);
/* The bytes that a start of this request passes on, or the start of any request of that number; *kind: of the call that
 * made it. Returns 0 or 2. */
int amounts_request(struct amounts *a, uint32_t stream, int64_t value, enum amount_kind *kind, uint64_t *bytes);

/* Adds `times` calls with these values (by column; only those of the plan are looked at). sizes: counts messages by
 * class. */
void amount_add(struct amounts *a, const struct amount_plan *p, uint32_t stream, const struct schema *s,
                const int64_t *values, uint64_t times, struct amount *sum, uint64_t *sizes);
/* Adds all visits that one rank made to a site, column by column in step. Returns 0; 1: too much work, or a column has
 * no order; -1: no memory. What was added until then stays. */
int amount_add_visits(struct amounts *a, const struct amount_plan *p, const struct trace_site *site, uint32_t stream,
                      struct amount *sum, uint64_t *sizes);
#endif
