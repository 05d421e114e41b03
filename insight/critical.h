/* SPDX-License-Identifier: BSD-3-Clause
 * critical - which computations the length of a run hangs on, and who waits for whom, on an ideal network (ideal.h)
 *
 * The critical path is followed from the end of the rank that ends last back to the begin. While a rank computes, the
 * path is on it; where it waited, it goes on with the rank that it waited for, at the moment when that wait ended:
 *
 *     rank 0   computes 4       | waits 6 for 1 | computes 2      path: rank 1, 0 to 10; rank 0, 10 to 12
 *     rank 1   computes 10      | sends
 *
 * Its pieces together are as long as the run on an ideal network: what is shorter on it makes that run shorter, until
 * another path is the longest one; what is not on it does not.
 */
#ifndef SPOOR_INSIGHT_CRITICAL_H
#define SPOOR_INSIGHT_CRITICAL_H

#include "trace/model/trace.h"

#define CRITICAL_NOWHERE UINT32_MAX

/* A rank computes between calls of two sites. CRITICAL_NOWHERE: what it waits for there is not known. */
struct critical_piece {
	uint32_t rank, behind, site;
	uint64_t begin, ns; /* begin: from the end of MPI_Init on */
};

/* A rank waits in calls of a site for another one. */
struct critical_wait {
	uint32_t rank, from, site;
	uint32_t waits;
	uint64_t ns;
};

struct critical {
	bool known;                  /* false: the trace cannot be played (ideal.h) */
	uint64_t run_ns;             /* on an ideal network */
	struct critical_piece *path; /* in order of time */
	struct critical_wait *waits; /* most first */
	uint32_t path_count, path_room, wait_count, wait_room;
};

/* Returns 0, or -1 with error set. The caller frees it in any case. */
int critical_find(struct critical *c, const struct trace *t, struct error *error);
void critical_free(struct critical *c);

#endif
