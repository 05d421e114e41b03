/* SPDX-License-Identifier: BSD-3-Clause
 * posted - in which order receives were posted, where that decides which message each of them got
 *
 * A message goes to the receive that was posted first of those that could take it. From whom a receive from
 * MPI_ANY_SOURCE (or of MPI_ANY_TAG) got its message is known when it is complete; receives behind it, that were posted
 * meanwhile and may be complete, then turn out to have got the next one of that channel:
 *
 *     receive 0  MPI_Irecv source=MPI_ANY_SOURCE         open
 *     receive 1  MPI_Irecv source=2                      message 0 of channel 2, it seems
 *     MPI_Wait of receive 0: from 2                      message 0; and receive 1 got message 1
 *
 * Only receives that are posted while an open one is pending are kept, and of these only those that it could concern.
 */
#ifndef SPOOR_INSIGHT_POSTED_H
#define SPOOR_INSIGHT_POSTED_H

#include "insight/act.h"

/* More are not kept: the oldest is left as it seemed. */
#define POSTED_MOST 4096

/* Which message a receive got, where it is not the one that it seemed. */
struct posted_change {
	uint64_t receive, number;
};

struct posted {
	struct posted_entry *list; /* in order */
	uint32_t count, capacity;
	struct posted_change *changes; /* by receive, once it is finished */
	uint32_t change_count, change_capacity;
};

void posted_free(struct posted *p);
/* To be told of all acts of a stream, in order. Returns 0, or -1 on no memory. */
int posted_act(struct posted *p, const struct act *m);
/* All is known. Returns as above. */
int posted_finish(struct posted *p);
/* Which message a receive got, if it is not the one that it seems. */
uint64_t posted_number(const struct posted *p, uint64_t receive, uint64_t seems);

#endif
