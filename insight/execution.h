/* SPDX-License-Identifier: BSD-3-Clause
 * execution - the events of one stream in, what MPI did out: the one machine of MPI's state
 *
 * Follows requests from the call that makes them to the one that completes them, persistent ones from each start to its
 * end, probed messages to their receives, datatypes to their sizes:
 *
 *     MPI_Irecv source=MPI_ANY_SOURCE tag=3 request=r0        ACT_RECV_BEGIN request 0, open
 *     MPI_Send dest=1 tag=7                                   ACT_SEND to 1, number 0
 *     MPI_Test request=r0 flag=0                              nothing
 *     MPI_Wait request=r0 status.MPI_SOURCE=2 ...             ACT_RECV_END request 0, from 2, number 0
 *
 * A message is known by its channel (communicator, sender, receiver, tag, partitioned or not) and by its number there,
 * which sender and receiver count alike, because messages of one channel do not overtake each other. Receives from
 * MPI_ANY_SOURCE or of MPI_ANY_TAG are counted when they are complete. Which message a receive got that was posted
 * behind one of these, only look_ahead.h can tell.
 *
 * What is not known in a lossy trace is left out, and counted. What failed did nothing. Memory: what is live, and one
 * counter for each channel.
 */
#ifndef SPOOR_INSIGHT_EXECUTION_H
#define SPOOR_INSIGHT_EXECUTION_H

#include "insight/live_requests.h"

struct execution;

/* Returns NULL on no memory. All of what is given must outlive it. */
struct execution *execution_create(const struct calls *calls, const struct comms *comms, uint32_t stream);
/* The same for who does not ask for sizes: acts are not sized, and cost less. comms may be NULL: then no communicator
 * is known. */
struct execution *execution_create_unsized(const struct calls *calls, const struct comms *comms, uint32_t stream);
void execution_destroy(struct execution *x);
/* Takes over what look_ahead.h has found, before the first event. */
struct posted;
void execution_foresee(struct execution *x, struct posted *posted);
/* To be told of every event, in order. *n: what it did, in order; valid until the next event. NULL on no memory. */
const struct act *execution_event(struct execution *x, const struct event *e, size_t *n);
/* Bytes of an element of a `t` column; false if it is not known. */
bool execution_type_size(const struct execution *x, int64_t datatype, uint64_t *size);
/* What the event passes on, by its arguments (trace/read/activity.h); false if it is not known: then 0. */
bool execution_bytes(const struct execution *x, const struct event *e, uint64_t *bytes);
/* Messages and requests that are left out because a value that they need is not known. */
uint64_t execution_unknown(const struct execution *x);
/* Did a call name a request of another thread? What became of that one is not known here. */
bool execution_is_foreign(const struct execution *x);
/* What it holds: where that is the same again, the same events do the same again, but for the numbers of messages, of
 * receives and of operations. A hash, at the cost of what is live. */
uint64_t execution_state(const struct execution *x);
/* Its requests, by number. Valid until the next event. */
const struct lives *execution_requests(const struct execution *x);
/* What a client wants to know of an operation that the last event began (an act of _BEGIN), until it has ended:
 * act.mark. 0 if it says nothing. */
void execution_mark(struct execution *x, const struct act *begun, uint64_t mark);

#endif
