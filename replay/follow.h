/* SPDX-License-Identifier: BSD-3-Clause
 * follow - the contexts of the ranks that may send to this one, in the replay of a trace without order (ScalaTrace II,
 * ICS'13, section 3.5)
 *
 * Whom a rank sends to is drawn, but every rank can draw what another one draws (deal.h). So a receiver walks the
 * traces of its senders as well, a context for each, and counts the sends that go to it. A receive waits until all
 * messages have come that were sent before it ended.
 *
 * "Before" is by clocks that all ranks agree on without a message: a rank's clock is what its calls and the computation
 * between them took on average, from the last call on that synchronizes all ranks, of which the number comes first. A
 * receive only waits for sends with a lower clock, so no ranks wait for each other in a circle. (Collective calls of
 * some of the ranks may make one; then poll.c lets everybody go on.)
 *
 * When a communicator is made, each member tells the others whether it may send to them there, how often, and which
 * number the communicator has in its trace. A rank follows those who send most, at most FOLLOW_MAX of them; messages of
 * others are received when they come.
 */
#ifndef SPOOR_FOLLOW_H
#define SPOOR_FOLLOW_H

#include "replay/outcome.h"
#include "trace/read/walk.h"

#define FOLLOW_MAX 64

struct follow;

/* Returns 0, or -1 with error set. The trace must outlive it. */
int follow_begin(struct follow **out, const struct trace *t, uint32_t rank, uint64_t seed, struct error *error);
void follow_end(struct follow *f);
/* A communicator was made, the trace's number of which is `number`; FOLLOW_WORLD: MPI_COMM_WORLD. Collective. */
#define FOLLOW_WORLD (-1)
void follow_comm(struct follow *f, int64_t number, MPI_Comm comm);
/* The event that this rank comes to now, and when it has ended. */
void follow_event(struct follow *f, const struct event *e);
void follow_leave(struct follow *f, const struct event *e);
/* Have all messages come that were sent before this event ended? For replay_outcome.arrived. */
bool follow_arrived(void *context);
/* Whatever has not come is not waited for any more. For replay_outcome.forgive. */
void follow_forgive(void *context);
/* Contexts that there are; *more: senders that are not followed. */
int follow_contexts(const struct follow *f, int *more);

#endif
