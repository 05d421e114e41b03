/* SPDX-License-Identifier: BSD-3-Clause
 * completed - which of its requests a call has completed, and which status belongs to each
 *
 *     MPI_Wait request=r1                                 r1, with the one status
 *     MPI_Waitany requests=[r0 r1 r2] index=1             r1, with the one status
 *     MPI_Waitsome requests=[r0 r1 r2] indices=[2 0]      r2 with status 0, r0 with status 1
 *     MPI_Waitall requests=[r0 r1]                        r0 with status 0, r1 with status 1
 *     MPI_Testall requests=[r0 r1] flag=0                 none
 *
 * MPI 4.1, section 3.7.5.
 */
#ifndef SPOOR_COMPLETED_H
#define SPOOR_COMPLETED_H

#include "trace/read/call_fields.h"

/* On its way through the requests of one call. Valid as long as the event is. */
struct completed {
	const struct pool_item *requests, *indices; /* arrays; NULL: there is none */
	size_t request_count, count;                /* of the requests, and of those that are completed */
	size_t next, first;                         /* first: the index of the first one, without `indices` */
	int64_t one;                                /* the request, without an array of them */
};

/* Before the first one. What is not known in a lossy trace is left out: completed_is_known. */
struct completed completed_begin(const struct trace *t, const struct event *e);
/* The next request, as it was recorded (MPI_REQUEST_NULL is a constant), and the number of its status. False: there
 * are no more. */
bool completed_next(struct completed *c, int64_t *request, size_t *status);
/* Is it known whether there are any, and which ones? */
bool completed_is_known(const struct event *e);
/* Does a function complete all of its requests, when it does (MPI_Waitall, MPI_Wait, MPI_Testall), not any of them? */
bool completed_is_all(const struct mpi_function *f);

#endif
