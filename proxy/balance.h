/* SPDX-License-Identifier: BSD-3-Clause
 * balance - may some events of all ranks be left out, so that what comes behind them goes on as before?
 *
 * It may if they leave nothing behind: each message that was sent in them was received in them, all members of a
 * communicator made as many collective calls on it, and the same requests are under way and the same handles live as in
 * front of them.
 *
 *     rank 0   MPI_Isend to 1, MPI_Wait        + m(0, 1)   0
 *     rank 1   MPI_Recv from 0                 - m(0, 1)   0
 *
 * Each of these is a sum of hashes. Sums in front of and behind some events are compared: those of one rank must be
 * equal, and the differences of what is between ranks must add up to 0.
 */
#ifndef SPOOR_PROXY_BALANCE_H
#define SPOOR_PROXY_BALANCE_H

#include "insight/execution.h"

struct balance_sums {
	uint64_t messages;    /* + sent, - received, by both ranks and the tag */
	uint64_t arrivals;    /* the same, by destination only */
	uint64_t collectives; /* those of all members of a communicator add up to 0 */
	uint64_t own;         /* requests under way, and live handles */
	uint64_t any;         /* receives from any source, or of any tag: only `arrivals` counts then */
	uint64_t unknown;     /* events of which it is not known what they do */
};

struct balance {
	const struct trace *trace;
	struct calls calls;
	struct comms *comms;
	uint64_t *last; /* of each communicator: what its last member adds to `collectives` */
	uint32_t rank;
	struct execution *execution; /* of this rank */
};

/* Returns 0, or -1 with error set. The caller calls balance_end in any case. The trace must outlive it. */
int balance_begin(struct balance *b, const struct trace *t, struct error *error);
void balance_end(struct balance *b);
/* The next events are those of this rank, from its first on. Returns 0, or -1: no memory. */
int balance_rank(struct balance *b, uint32_t rank);
/* Adds an event. Returns 0, or -1: no memory. */
int balance_event(struct balance *b, const struct event *e, struct balance_sums *sums);

#endif
