/* SPDX-License-Identifier: BSD-3-Clause
 * prescan - looks ahead in a rank's events: whose message a receive gets is only known where it is completed
 *
 * A second walk runs ahead of the replay, just far enough to know the source of the next receive that is posted. What
 * it has passed is kept: four bytes for each receive that was posted behind one that is still open.
 */
#ifndef SPOOR_PRESCAN_H
#define SPOOR_PRESCAN_H

#include "trace/read/walk.h"

/* What becomes of a receive: the rank that its message is from, or */
#define PRESCAN_UNKNOWN (-1) /* it is not completed, or with an error */
#define PRESCAN_NONE    (-2) /* no message: it is cancelled */

struct prescan;

/* Is there anything to look ahead for: non-blocking receives from MPI_ANY_SOURCE, or calls of MPI_Cancel (*every is
 * true then: all receives matter). */
bool prescan_needed(const struct trace *t, bool *every);
/* Returns 0, or -1 with error set. The trace must outlive the prescan. */
int prescan_create(struct prescan **out, const struct trace *t, uint32_t rank, bool every, struct error *error);
void prescan_destroy(struct prescan *s);
/* Where the message is from of the next receive that is posted (MPI_Irecv; MPI_Start of what MPI_Recv_init made), of
 * those that matter: a rank, or as above. Returns 0, or -1 with error set. */
int prescan_next(struct prescan *s, int *source, struct error *error);

#endif
