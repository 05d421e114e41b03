/* SPDX-License-Identifier: BSD-3-Clause
 * act - one thing that MPI did for a rank: a message sent or received, a collective operation, a communicator made
 *
 *     MPI_Send      ACT_SEND                 MPI_Isend     ACT_SEND_BEGIN, later (MPI_Wait ...) ACT_SEND_END
 *     MPI_Recv      ACT_RECV                 MPI_Irecv     ACT_RECV_BEGIN, later ACT_RECV_END, or ACT_CANCELLED
 *     MPI_Sendrecv  ACT_SEND (exchange), ACT_RECV          MPI_Start     like MPI_Isend, MPI_Irecv, ...
 *     MPI_Bcast     ACT_COLLECTIVE           MPI_Ibcast    ACT_COLLECTIVE_BEGIN, later ACT_COLLECTIVE_END
 *
 * To MPI_PROC_NULL nothing is done. What a call's arguments say is found here; what they do not say (which message a
 * request stands for) by execution.h.
 */
#ifndef SPOOR_INSIGHT_ACT_H
#define SPOOR_INSIGHT_ACT_H

#include "trace/read/comms.h"
#include "trace/read/handles.h"

enum act_kind {
	ACT_SEND,
	ACT_SEND_BEGIN,
	ACT_SEND_END,
	ACT_RECV,
	ACT_RECV_BEGIN,
	ACT_RECV_END,
	ACT_CANCELLED, /* a receive that was begun: no message came, or nobody knows (lost) */
	ACT_READY,     /* a partitioned send: all of its partitions are ready now */
	ACT_PROBED,    /* MPI_Mprobe took a message, which MPI_Mrecv will receive */
	ACT_COLLECTIVE,
	ACT_COLLECTIVE_BEGIN,
	ACT_COLLECTIVE_END,
	ACT_COMM_MADE,
	ACT_COMM_FREED,
};

struct act {
	enum act_kind kind;
	uint32_t comm;  /* comms.h; or COMM_UNKNOWN */
	uint32_t local; /* the peer in that communicator; a collective's root; RANK_UNKNOWN */
	uint32_t peer;  /* the peer in MPI_COMM_WORLD; RANK_UNKNOWN */
	int64_t tag;    /* -1: MPI_ANY_TAG */
	uint64_t bytes; /* of the message; of ACT_RECV_BEGIN, room for it; 0 if it is not known (sized) */
	bool sized, exchange;
	bool partitioned; /* MPI_Psend_init: such messages meet only each other */
	bool matched;     /* a receive of what MPI_Mprobe took: it has the number, and the place, of that */
	bool any;         /* a receive whose call names MPI_ANY_SOURCE or MPI_ANY_TAG */
	bool lost;        /* of an _END or CANCELLED: nobody asks about the request any more */
	bool open;        /* of ACT_RECV_BEGIN: the sender or the tag is not known yet, and so is `number` */
	/* number of the operation that the request stands for, from 0 in each stream; of _BEGIN, _END, CANCELLED */
	uint64_t request;
	uint64_t number;  /* of the message in its channel: execution.h */
	uint64_t receive; /* of a receive: which one of the stream, from 0, in the order in which they were posted */
	uint64_t began;   /* number of the event in which it began; this one, if it is not _END or CANCELLED */
	uint32_t site;    /* the call site that made it; of a persistent one, not that of MPI_Start */
	int64_t handle;   /* the number of the request; of _BEGIN, _END, CANCELLED */
	uint64_t mark;    /* what the client has put there: execution_mark */
	enum collective collective;
	bool root, bystander;               /* of a collective: the caller is the root; is beside it (MPI_PROC_NULL) */
	uint64_t sent, received;            /* bytes of a collective, as this rank's arguments say, to and from all */
	uint64_t send_piece, receive_piece; /* the same of one peer, where all have the same */
};

/* Whose calls they are. */
struct act_caller {
	const struct calls *calls;
	const struct comms *comms; /* NULL: none is known */
	struct handles *handles;   /* in order, told of the event; NULL: sizes are not asked for */
	uint32_t stream, self;     /* self: its rank in MPI_COMM_WORLD */
};

/* What it is, but for when: a hash of all that tells it from others. */
uint64_t act_hash(uint64_t h, const struct act *m);

/* Values of act_peer and act_tag that are no rank, and no tag. */
enum { ACT_ANY = -1, ACT_NOBODY = -2, ACT_NOT_KNOWN = -3 };

/* A rank in the call's communicator, or one of these. NOBODY: MPI_PROC_NULL, `-`. */
int64_t act_peer(const struct act_caller *c, const struct event *e, int64_t value);
/* A tag, ACT_ANY, or ACT_NOT_KNOWN; `-` is ACT_ANY. */
int64_t act_tag(int64_t value);
/* What a status says. NOBODY: nothing. bytes: -1 if they are not known. */
struct act_status {
	int64_t source, tag, bytes;
};
struct act_status act_status(const struct act_caller *c, const struct event *e);
/* The same of an array of them: the i-th one; of a call that has one status, that one. */
struct act_status act_status_at(const struct act_caller *c, const struct event *e, size_t i);
/* The communicator of a value of kind c; COMM_UNKNOWN. */
uint32_t act_comm(const struct act_caller *c, int64_t value);
/* An act on the call's communicator, with nobody yet. */
struct act act_on(const struct act_caller *c, const struct event *e, enum act_kind kind);
/* Fills in who and which tag are meant; false if that is not known (then *unknown is one more), or nobody. */
bool act_address(const struct act_caller *c, struct act *m, int64_t who, int64_t tag, uint64_t *unknown);
/* The size of what a call sends; of a message received, by its status, or of the room for one. */
void act_size_sent(const struct act_caller *c, struct act *m, const struct event *e);
void act_size_received(const struct act_caller *c, struct act *m, const struct event *e, bool by_status);
/* A collective operation, of which kind and communicator are known: root and bytes. */
void act_collective(const struct act_caller *c, struct act *m, const struct event *e);

#endif
