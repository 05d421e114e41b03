/* SPDX-License-Identifier: BSD-3-Clause
 * lossy_messages - messages and requests in the replay of a trace without order
 */
#ifndef SPOOR_LOSSY_MESSAGES_H
#define SPOOR_LOSSY_MESSAGES_H

#include "replay/outcome.h"

/* Messages may come in this communicator; they are counted by source, where that is not NULL, and nor is by_source,
 * which must stay where it is. */
void lossy_add_comm(MPI_Comm comm, long long *const *by_source);
/* For replay_outcome.receive_pending. */
void lossy_receive_pending(void);
int lossy_send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
/* Waits until all messages have come that are known to be under way. */
void lossy_await(void);
/* Awaits, and takes one of those that have come; sure: there is one, so it waits for that, for a while. */
int lossy_receive(MPI_Status *status, bool sure);
/* A request that was made: real is the library's, which is completed some time. */
int lossy_request_made(enum request_kind kind, MPI_Request real, MPI_Request *request);
int lossy_request_init(enum request_kind kind, const void *buf, int count, MPI_Datatype datatype, int peer, int tag,
                       MPI_Comm comm, MPI_Request *request);
/* As MPI_Start; the request is complete, as far as the application is told; as MPI_Request_free. */
int lossy_request_start(MPI_Request *request);
int lossy_request_complete(MPI_Request *request, MPI_Status *status);
void lossy_request_free(MPI_Request *request);
/* One whose number is not known. */
struct request *lossy_request_create(void);
/* The i-th oldest that is persistent, or is not, for a call of which it is not known which one it was for; drawn: one
 * whose number is not known. NULL: there are not so many. */
struct request *lossy_request_pick(int i, bool persistent, bool drawn);
/* All messages in a communicator are received, on all its ranks; MPI_COMM_NULL: in all of them, and all else is
 * complete. */
void lossy_drain(MPI_Comm comm);
void lossy_counts(long long *sent, long long *received);

#endif
