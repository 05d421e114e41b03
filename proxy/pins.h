/* SPDX-License-Identifier: BSD-3-Clause
 * pins - whose message each receive from MPI_ANY_SOURCE got, where what the rank does afterwards may depend on it
 *
 *     MPI_Recv source=MPI_ANY_SOURCE status.MPI_SOURCE=3
 *     MPI_Send dest=3                                       an answer: a program that receives another rank's message
 *                                                           there waits without end
 *
 * Nothing depends on it on a rank that sends nothing, probes nothing, and names no source, and whose receives from
 * MPI_ANY_SOURCE are all alike: each message fits each of them, as in a gather. There MPI_ANY_SOURCE stays.
 */
#ifndef SPOOR_PROXY_PINS_H
#define SPOOR_PROXY_PINS_H

#include "insight/execution.h"
#include "trace/read/walk.h"

struct pin {
	uint64_t event; /* number of the call that named MPI_ANY_SOURCE */
	int64_t source; /* rank in its communicator; ACT_ANY: no message came, or it is not known whose */
};

/* Zero-initialised it has none. */
struct pins {
	struct calls calls;
	struct comms *comms; /* NULL: the trace has no MPI_ANY_SOURCE */
	struct pin *list;    /* of a rank, in order */
	uint32_t count, capacity, next;
};

/* Returns 0, or -1 with error set. The caller calls pins_end in any case. */
int pins_begin(struct pins *p, const struct trace *t, struct error *error);
void pins_end(struct pins *p);
/* Walks a rank: from now on pins_source answers for its events. Returns 0, or -1 with error set. */
int pins_rank(struct pins *p, uint32_t rank, struct error *error);
/* Of an event of that rank: the source in place of MPI_ANY_SOURCE, or ACT_ANY. To be asked in the order of events. */
int64_t pins_source(struct pins *p, uint64_t event);

#endif
