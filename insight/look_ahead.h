/* SPDX-License-Identifier: BSD-3-Clause
 * look_ahead - what an execution cannot know from the events so far: which message a receive got that was posted behind
 * one from MPI_ANY_SOURCE (posted.h)
 */
#ifndef SPOOR_INSIGHT_LOOK_AHEAD_H
#define SPOOR_INSIGHT_LOOK_AHEAD_H

#include "insight/execution.h"

/* Before the first event: from now on the numbers of messages are right in any case. Walks the stream once, if it has
 * receives that may be complete in another order than they were posted. Returns 0, or -1 with error set. */
int look_ahead(struct execution *x, const struct calls *calls, const struct comms *comms, uint32_t stream,
               struct error *error);

#endif
