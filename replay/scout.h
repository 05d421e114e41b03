/* SPDX-License-Identifier: BSD-3-Clause
 * scout - looks ahead in a rank's events: whose message a receive gets is only known where it is completed
 *
 * A second walk runs ahead of the replay, just far enough to know what becomes of the next receive that is posted. What
 * it has passed is kept in a ring, four bytes a receive; the ring has a bound, so that a receive that is posted at the
 * beginning and completed at the end does not make it hold everything between. Then another walk goes ahead, which
 * keeps nothing but what the ring asks for.
 */
#ifndef SPOOR_SCOUT_H
#define SPOOR_SCOUT_H

#include "trace/read/walk.h"

/* What becomes of a receive: the rank that its message is from, or */
#define SCOUT_UNKNOWN (-1) /* it is not completed, or with an error */
#define SCOUT_NEVER   (-2) /* no message: it is cancelled */

struct scout;

/* Is there anything to look ahead for: non-blocking receives from MPI_ANY_SOURCE, or calls of MPI_Cancel (*every is
 * true then: all receives matter). */
bool scout_needed(const struct trace *t, bool *every);
/* ring: receives that it holds at most; 0: the default. Returns 0, or -1 with error set. The trace must outlive the
 * scout. */
int scout_begin(struct scout **out, const struct trace *t, uint32_t rank, bool every, size_t ring, struct error *error);
void scout_end(struct scout *s);
/* The next receive that is posted (MPI_Irecv; MPI_Start of what MPI_Recv_init made), of those that matter. Returns 0,
 * or -1 with error set. */
int scout_next(struct scout *s, int *fate, struct error *error);

#endif
