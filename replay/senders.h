/* SPDX-License-Identifier: BSD-3-Clause
 * senders - the contexts of the ranks that may send to this one, in the replay of a trace without order (ScalaTrace
 * II, ICS'13, section 3.5)
 *
 * Whom a rank sends to is drawn, but every rank can draw what another one draws (sampler.h). So a receiver walks the
 * traces of its senders as well, a context for each, and counts the sends that go to it. A receive waits until all
 * messages have come that were sent before it ended.
 *
 * "Before" is by clocks that all ranks agree on without a message (rank_clock.h). A receive only waits for sends with a
 * lower clock, so no ranks wait for each other in a circle. (Collective calls of some of the ranks may make one; then
 * poll.c lets everybody go on.)
 *
 * This is no second execution (insight/execution.h): that leaves out what a lossy trace does not say, and here that is
 * drawn. So no request is followed: each send counts when its call is made.
 *
 * When a communicator is made, each member tells the others whether it may send to them there, how often, and which
 * number the communicator has in its trace. A rank follows those who send most, at most SENDERS_MAX of them; messages
 * of others are received when they come.
 */
#ifndef SPOOR_SENDERS_H
#define SPOOR_SENDERS_H

#include "replay/outcome.h"
#include "trace/read/walk.h"

#define SENDERS_MAX 64

struct senders;

/* Returns 0, or -1 with error set. The trace must outlive it. */
int senders_create(struct senders **out, const struct trace *t, uint32_t rank, uint64_t seed, struct error *error);
void senders_destroy(struct senders *f);
/* A communicator was made, the trace's number of which is `number`; SENDERS_WORLD: MPI_COMM_WORLD. Collective. For
 * args.made_comm. */
#define SENDERS_WORLD (-1)
void senders_add_comm(void *senders, int64_t number, MPI_Comm comm);
/* The event that this rank comes to now, and when it has ended. */
void senders_event_begins(struct senders *f, const struct event *e);
void senders_event_ended(struct senders *f, const struct event *e);
/* Have all messages come that were sent before this event ended? For replay_outcome.arrived. */
bool senders_arrived(void *context);
/* Whatever has not come is not waited for any more. For replay_outcome.stop_waiting. */
void senders_stop_waiting(void *context);
/* Is each message of another rank known to be under way before it comes? */
bool senders_all_followed(const struct senders *f);
/* Contexts that there are; *more: senders that are not followed. */
int senders_count(const struct senders *f, int *more);

#endif
