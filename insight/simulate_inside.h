/* SPDX-License-Identifier: BSD-3-Clause
 * simulate_inside - what the files of simulate.h share: ranks, messages, collective operations
 */
#ifndef SPOOR_INSIGHT_SIMULATE_INSIDE_H
#define SPOOR_INSIGHT_SIMULATE_INSIDE_H

#include "insight/channels.h"
#include "insight/meetings.h"
#include "insight/network.h"
#include "insight/play_queue.h"
#include "insight/rank_source.h"
#include "insight/stretch.h"

struct simulate_options;
struct simulation;

#define NOBODY IDEAL_NOBODY

/* A message between two ranks. */
struct message {
	uint64_t key, bytes;
	uint32_t from, to;
	bool waits;  /* its sender does, for the receive */
	bool packed; /* it goes with the one before */
};

/* A collective operation that a process is in, message by message. */
struct steps {
	uint64_t key; /* of the operation */
	struct algorithm_call call;
	struct algorithm_place place;
	struct algorithm_step step;
	uint32_t comm;
	enum steps_part { STEPS_NEXT, STEPS_SEND, STEPS_RECEIVE, STEPS_SETTLE } part;
};

/* Somebody with a time of its own: a rank, or an operation of one that goes on beside it. */
struct flow {
	uint64_t ns;
	uint32_t rank;
	uint32_t behind; /* the next one that waits for the same */
	uint32_t waiter; /* of an operation: the rank that waits for its end; NOBODY */
	bool done;
	struct steps steps;
};

/* A collective operation that a rank began: of one that is played message by message, its flow. */
struct operation {
	uint64_t request, number;
	struct act act;
	uint32_t flow;
};

struct player {
	struct rank_source *source;
	struct rank_step step; /* the event that it is in */
	size_t at;             /* the act of it */
	bool came;             /* it is in the operation of that act */
	bool posted;           /* the message that it waits for knows of it */
	bool owes;             /* the send of an exchange is not over: */
	struct message owed;
	bool charged;                         /* what the call costs by itself is spent */
	uint32_t parts, packed;               /* messages of the call; of them such as go with others */
	uint64_t number;                      /* of the operation */
	uint32_t site;                        /* of the event before */
	uint64_t computed;                    /* how often it has computed for long */
	struct channels operations, together; /* together: by site and peer, `computed` at the last message */
	struct operation *pending;            /* those begun */
	uint32_t pending_count, pending_capacity;
};

struct play {
	const struct simulate_options *options;
	const struct network *network;
	struct simulation *out;
	struct stretches *stretches; /* NULL */
	const struct calls *calls;
	const struct comms *comms;
	struct times *times; /* NULL: all is on the tape */
	struct tape *tape;   /* NULL */
	struct ports *ports; /* NULL: nothing takes time */
	struct player *ranks;
	struct flow *flows; /* the ranks, and behind them operations */
	uint32_t size, flow_count, flow_capacity;
	uint32_t spare; /* the first flow that is not used; NOBODY */
	struct meetings meetings;
	struct play_queue ready;
	bool *synchronous; /* by site */
	bool any;          /* of them is */
	bool eager;        /* all sends but those are */
	struct error *error;
};

/* --- flows (simulate.c) --- */

void play_wake(struct play *g, struct meeting *m);
void play_wait(struct play *g, struct meeting *m, uint32_t flow);
/* It goes on when the other one had come so far. Returns 0, or -1 on no memory. */
int play_go_on(struct play *g, uint32_t flow, uint64_t at, uint32_t from);
/* Its processor is busy. Returns 0, or -1 on no memory. */
int play_spend(struct play *g, uint32_t flow, double ns);
/* What a rank's call costs by itself; once. Returns 0, or -1 on no memory. */
int play_charge(struct play *g, uint32_t rank);
/* A new one of a rank, from now on; NOBODY: no memory. */
uint32_t play_begin_flow(struct play *g, uint32_t rank);
void play_end_flow(struct play *g, uint32_t flow);
/* change: an enum simulate_change. */
bool play_changed(const struct play *g, uint32_t site, unsigned change);

/* What a function returns beside 0 (done), 1 (it waits) and -1: others are earlier, so that they go on first. */
#define PLAY_LATER 3

/* --- messages (simulate_message.c). All return 0: done; 1: it waits; -1: no memory --- */

/* The sender's part until it may do other things. Once only. */
int message_put(struct play *g, uint32_t flow, const struct message *s);
/* Until its send is over, if it waits for the receive. */
int message_put_end(struct play *g, uint32_t flow, const struct message *s);
/* The receiver is ready since `at`. Once only. */
int message_post(struct play *g, const struct message *s, uint64_t at);
int message_take(struct play *g, uint32_t flow, const struct message *s);
/* The acts that are messages. */
int message_act(struct play *g, uint32_t rank, const struct act *a);
/* Waits for the send of an exchange, whose receive is over. */
int message_settle(struct play *g, uint32_t rank);

/* --- collective operations (simulate_collective.c). The same, or PLAY_LATER --- */

int collective_act(struct play *g, uint32_t rank, const struct act *a);
/* Goes on with an operation beside its rank. */
int collective_flow(struct play *g, uint32_t flow);

#endif
