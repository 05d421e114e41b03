/* SPDX-License-Identifier: BSD-3-Clause
 * transfer - what one rank moves without messages: to and from the memory of others, and files
 *
 * Follows windows and files from the call that makes them: a window to its communicator, a file to its name.
 *
 *     MPI_Put, MPI_Accumulate, MPI_Fetch_and_op ...     TRANSFER_PUT, to the target
 *     MPI_Get                                           TRANSFER_GET, from the target
 *     MPI_File_read, MPI_File_iread_at_all ...          TRANSFER_READ
 *     MPI_File_write ...                                TRANSFER_WRITE
 *
 * A call counts when it is made. Of a split pair the bytes are at its begin.
 */
#ifndef SPOOR_INSIGHT_TRANSFER_H
#define SPOOR_INSIGHT_TRANSFER_H

#include "insight/execution.h"

enum transfer_kind { TRANSFER_NONE, TRANSFER_PUT, TRANSFER_GET, TRANSFER_READ, TRANSFER_WRITE };

struct transfer {
	enum transfer_kind kind;
	uint32_t peer;  /* in MPI_COMM_WORLD, of one-sided calls; RANK_UNKNOWN */
	uint32_t file;  /* its name, a string of the trace (0: not known) */
	uint64_t bytes; /* 0 if it is not known (sized) */
	bool sized;
	bool counts; /* it is not the end of a split pair, which only takes time */
	bool timed;  /* the call returns when it is done: its time says how fast that was */
};

struct transfers;

/* Returns NULL on no memory. What is given must outlive it; `execution` is of the same stream. */
struct transfers *transfers_create(const struct trace *t, const struct comms *comms, const struct execution *execution,
                                   uint32_t stream);
void transfers_destroy(struct transfers *f);
/* What it holds: where that and execution_state are the same again, the same events move the same. */
uint64_t transfers_state(const struct transfers *f);
/* To be told of every event, in order, after execution_event. Returns 0, or -1 on no memory. */
int transfers_event(struct transfers *f, const struct event *e, struct transfer *out);

#endif
