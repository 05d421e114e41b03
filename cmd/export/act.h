/* SPDX-License-Identifier: BSD-3-Clause
 * act - what the calls of one rank do: messages sent and received, requests, collective operations, communicators
 *
 * Follows requests from the call that makes them to the one that completes them, probed messages to their receives,
 * datatypes to their sizes. A message is known by its channel (communicator, sender, receiver, tag) and by its number
 * there, which sender and receiver count alike, because messages of one channel do not overtake each other; receives
 * from MPI_ANY_SOURCE or of MPI_ANY_TAG are counted when they are complete.
 *
 *     MPI_Send      ACT_SEND                 MPI_Isend     ACT_SEND_BEGIN, later (MPI_Wait ...) ACT_SEND_END
 *     MPI_Recv      ACT_RECV                 MPI_Irecv     ACT_RECV_BEGIN, later ACT_RECV_END, or ACT_CANCELLED
 *     MPI_Sendrecv  ACT_SEND (exchange), ACT_RECV          MPI_Start     like MPI_Isend, MPI_Irecv, ...
 *     MPI_Bcast     ACT_COLLECTIVE           MPI_Ibcast    ACT_COLLECTIVE_BEGIN, later ACT_COLLECTIVE_END
 *
 * To MPI_PROC_NULL nothing is done. What is not known in a lossy trace is left out, and counted.
 */
#ifndef SPOOR_EXPORT_ACT_H
#define SPOOR_EXPORT_ACT_H

#include "trace/read/comms.h"

enum act_kind {
	ACT_SEND,
	ACT_SEND_BEGIN,
	ACT_SEND_END,
	ACT_RECV,
	ACT_RECV_BEGIN,
	ACT_RECV_END,
	ACT_CANCELLED,
	ACT_COLLECTIVE,
	ACT_COLLECTIVE_BEGIN,
	ACT_COLLECTIVE_END,
	ACT_COMM_MADE,
	ACT_COMM_FREED,
};

struct act {
	enum act_kind kind;
	uint32_t comm;  /* or COMM_UNKNOWN */
	uint32_t local; /* the peer in that communicator; a collective's root; RANK_UNKNOWN */
	uint32_t peer;  /* the peer in MPI_COMM_WORLD; RANK_UNKNOWN */
	int64_t tag;    /* -1: MPI_ANY_TAG */
	uint64_t bytes; /* of the message; of ACT_RECV_BEGIN, room for it; 0 if it is not known (sized) */
	bool sized, exchange;
	bool open; /* of ACT_RECV_BEGIN: the sender or the tag is not known yet, and so is `number` */
	uint64_t
		/* number of the operation that the request stands for, from 0 in each rank; of ..._BEGIN, ..._END,
		 * CANCELLED */
		request;
	uint64_t number; /* of the message in its channel */
	enum collective collective;
	uint64_t sent, received;            /* bytes of a collective, as this rank's arguments say, to and from all */
	uint64_t send_piece, receive_piece; /* the same of one peer, where all have the same */
};

struct acts;

/* Returns NULL on no memory. All of what is given must outlive it. */
struct acts *acts_create(const struct calls *calls, const struct comms *comms, uint32_t stream);
void acts_destroy(struct acts *a);
/* To be told of every event, in order. *n: what it did, in order; valid until the next event. NULL on no memory. */
const struct act *acts_event(struct acts *a, const struct event *e, size_t *n);
/* Bytes of an element of a `t` column; false if it is not known. */
bool acts_type_size(const struct acts *a, int64_t datatype, uint64_t *size);
/* Of a collective operation, of which kind and communicator are known: root and bytes. self: the rank of the stream in
 * MPI_COMM_WORLD. */
struct handles;
void act_collective(struct act *m, const struct comms *comms, struct handles *handles, uint32_t stream, uint32_t self,
                    const struct event *e);
/* What the event passes on, by its arguments (trace/read/activity.h); false if it is not known: then 0. */
bool acts_bytes(const struct acts *a, const struct event *e, uint64_t *bytes);
/* Messages and requests that are left out because a value that they need is not known. */
uint64_t acts_unknown(const struct acts *a);

#endif
