/* SPDX-License-Identifier: BSD-3-Clause
 * activity - how much calls pass on: the one model that all commands add up (doc/activity.md)
 *
 *     MPI_Send, MPI_Isend ...           one message of count elements; to MPI_PROC_NULL none
 *     MPI_Start, MPI_Startall           for each request what the call that made it says (MPI_Send_init,
 *                                       MPI_Psend_init, MPI_Bcast_init ...); that call itself passes on nothing
 *     MPI_Bcast, MPI_Reduce ...         each caller count elements: what its buffer has
 *     MPI_Alltoall, MPI_Scatter (root)  each caller sendcount elements to each process of the communicator
 *     MPI_Alltoallv, MPI_Scatterv ...   each caller the sum of its sendcounts; in place, of its recvcounts
 *     MPI_Put, MPI_Get, MPI_File_write  count elements (of a file, what its status says where it has one);
 *                                       MPI_Fetch_and_op, MPI_Compare_and_swap one
 *     receives, waits, failed calls     nothing
 */
#ifndef SPOOR_ACTIVITY_H
#define SPOOR_ACTIVITY_H

#include "trace/read/handles.h"

enum activity_kind {
	ACTIVITY_NONE,    /* nothing, or nobody knows: receives, waits */
	ACTIVITY_MESSAGE, /* one message point to point */
	ACTIVITY_DATA,    /* all others: collective, one-sided, files */
	ACTIVITY_START,   /* of persistent requests */
	ACTIVITY_UNKNOWN, /* something, but the parameters do not say how much: MPI_Neighbor_alltoall */
};
enum activity_kind activity_kind(const struct schema *s);
/* Does it make a request that is to be started? Then nothing is passed on before that. */
bool activity_is_persistent(const struct schema *s);
/* Is that a column without which bytes are not known? (trace_decode_some; what is passed on in place needs more.) */
bool activity_needs(const struct schema *s, size_t column);

/* Sums. Bytes modulo 2^64. */
struct activity {
	uint64_t messages, message_bytes; /* sent point to point; bytes of those whose size is known */
	uint64_t unsized;                 /* messages and calls of which the size is not known, or not of all */
	uint64_t bytes;                   /* of messages and of all else */
};

/* Size classes: 0 is of empty messages, i of 2^(i-1) to 2^i - 1 bytes, the last one also of all that is larger. */
#define ACTIVITY_SIZES 48
unsigned activity_class(uint64_t bytes);

/* What a call passes on, by its own arguments: also of one that makes a persistent request. */
enum activity_answer {
	ACTIVITY_SIZED,
	ACTIVITY_NOBODY, /* it goes to MPI_PROC_NULL */
	ACTIVITY_UNSIZED
};
/* values: by column. *bytes is 0 if the answer is not ACTIVITY_SIZED. */
enum activity_answer activity_bytes(struct handles *h, const struct schema *s, uint32_t stream, const int64_t *values,
                                    uint64_t *bytes);
/* Bytes of count elements: of a number, or of all of an array of counts; `only` >= 0: of that element alone. Columns of
 * the schema; types may be an array. */
enum handle_answer activity_elements(struct handles *h, const struct schema *s, uint32_t stream, const int64_t *values,
                                     int counts, int types, int64_t only, uint64_t *bytes);
/* The bytes that a start of this request passes on, or the start of any request of that number; *kind: of the call that
 * made it (ACTIVITY_NONE: for nobody). False if it is not known. */
bool activity_request(struct handles *h, uint32_t stream, int64_t value, enum activity_kind *kind, uint64_t *bytes);

/* Adds `times` calls with these values. sizes: counts messages by class. */
void activity_add(struct activity *sum, uint64_t *sizes, struct handles *h, const struct schema *s, uint32_t stream,
                  const int64_t *values, uint64_t times);
/* Events in order (handles_in_order): adds one, and learns what its handles stand for. */
void activity_add_event(struct activity *sum, uint64_t *sizes, struct handles *h, uint32_t stream,
                        const struct event *e);
/* Adds all visits that one rank made to a site, columns in step. Returns 0; 1: too much work, or a column has no order;
 * -1: no memory. What was added until then stays. */
int activity_add_visits(struct activity *sum, uint64_t *sizes, struct handles *h, const struct trace_site *site,
                        uint32_t stream);

/* By site, of a whole trace. Costs what the trace's size costs: values are counted by their patterns, not by walking
 * events. Where parameters must be taken together (some messages go to MPI_PROC_NULL, count and datatype both vary)
 * they are taken in step, rank by rank. Where a handle's number was used again for something else, the events of a
 * small trace are walked. Of calls for which that is too much, or not known (lossy), the size is not known. */
struct site_activity {
	struct activity *sites;         /* malloc'ed; by site */
	uint64_t sizes[ACTIVITY_SIZES]; /* messages of known size, of all sites */
};

/* Events of a trace that is walked at most. */
#define ACTIVITY_EVENTS (UINT64_C(1) << 16)

/* Returns 0, or -1 on no memory. The caller frees it in any case. */
int site_activity_make(struct site_activity *a, const struct trace *t);
void site_activity_free(struct site_activity *a);

#endif
