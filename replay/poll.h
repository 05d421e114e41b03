/* SPDX-License-Identifier: BSD-3-Clause
 * poll - waiting that comes to an end
 *
 * A trace that is no whole run, and one without order, may have ranks that wait for what does not come. With
 * replay_outcome.polling all calls that wait are made in their non-blocking forms and asked for again and again. A rank
 * that waits, or is at its end, joins a vote on a communicator of our own; when all have joined, several times, and
 * none has done anything between, then nobody ever will. In a trace without order nobody then waits any more for
 * messages that have not come (lossy_await); only if that does not help either, it is the end.
 */
#ifndef SPOOR_POLL_H
#define SPOOR_POLL_H

#include "replay/outcome.h"

#define POLL_STUCK 2 /* what setjmp returns then */
/* One turn of waiting. Does not return when nobody goes on any more: jumps to *replay_outcome.out. */
void poll_turn(void);
/* As PMPI_Wait and PMPI_Waitall, with turns. */
int poll_wait(MPI_Request *real, MPI_Status *status);
int poll_waitall(int n, MPI_Request *real, MPI_Status *statuses);
/* Until all members have come here: before calls that have no non-blocking form. */
int poll_barrier(MPI_Comm comm);
/* At the end: until nobody goes on any more. */
void poll_linger(void);

#endif
