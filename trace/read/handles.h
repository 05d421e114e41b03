/* SPDX-License-Identifier: BSD-3-Clause
 * handles - what the handles of a trace stand for: sizes of datatypes, communicators, what persistent requests start
 *
 * A handle is known as long as all calls of a rank that made one of its number agree on what it is, in whatever order
 * they came; or, if the events come in order (handles_in_order), as what the last one of them said.
 *
 *     MPI_Type_contiguous(10, MPI_INT, &t0)  ... MPI_Type_free(&t0) ... MPI_Type_contiguous(20, MPI_INT, &t0)
 *
 * t0 is not known without the order: handles_ambiguous is true once it was asked for.
 *
 * Requests are followed, in order, by insight/execution.h. What is kept of them here is how much each start of one
 * passes on, as call sites say in any order, for sums that need no walk (activity.h).
 */
#ifndef SPOOR_HANDLES_H
#define SPOOR_HANDLES_H

#include "trace/read/walk.h"

struct handles;

/* Answers of the functions below. */
enum handle_answer {
	HANDLE_KNOWN,
	HANDLE_NOT_SIGNIFICANT, /* `-` */
	HANDLE_UNKNOWN
};

/* Returns NULL on no memory. The trace must outlive it. */
struct handles *handles_create(const struct trace *t);
void handles_destroy(struct handles *h);
/* Forgets all datatypes and requests: from now on they are what handles_event is told. */
void handles_in_order(struct handles *h);
bool handles_are_in_order(const struct handles *h);
/* To be told of every event, in order, of a stream: learns datatypes. Array values are those of this event from now
 * on. */
void handles_event(struct handles *h, uint32_t stream, const struct event *e);
/* Of all that events in order have told: where it is the same again, the same events tell the same. */
uint64_t handles_state(const struct handles *h);
/* Was a handle asked for that calls did not agree on? Then their order would tell. */
bool handles_ambiguous(const struct handles *h);

/* How much may still be looked at value by value. Is there work left for so many values of so many ranks? Then it is
 * done. */
#define HANDLES_WORK (UINT64_C(1) << 24)
bool handles_afford(struct handles *h, uint64_t ranks, uint64_t values);

/* Bytes of an element, of a value of a column of kind t. */
enum handle_answer handles_type_size(struct handles *h, uint32_t stream, int64_t value, uint64_t *size);
/* How many processes a communicator has, of a value of kind c; and the stream's rank in it. */
enum handle_answer handles_comm_size(struct handles *h, uint32_t stream, int64_t value, uint64_t *size);
enum handle_answer handles_comm_rank(struct handles *h, uint32_t stream, int64_t value, uint64_t *rank);
/* A request of a stream: what its owner (activity.c) has put there. handles_first_request: is it time to learn those of
 * the whole trace? Only once, and not if events come in order. handles_lose_requests: some are not known, so that none
 * is. */
bool handles_first_request(struct handles *h);
void handles_lose_requests(struct handles *h);
void handles_put_request(struct handles *h, uint32_t stream, uint32_t number, uint64_t bytes, int kind);
bool handles_get_request(struct handles *h, uint32_t stream, uint64_t number, uint64_t *bytes, int *kind);

/* The elements (int64_t, not aligned) of an array value. */
const struct pool_item *handles_array(const struct handles *h, int64_t value);
const struct trace *handles_trace(const struct handles *h);
/* For visits_open. */
struct pattern *handles_patterns(struct handles *h);
struct pool *handles_pool(struct handles *h);

#endif
