/* SPDX-License-Identifier: BSD-3-Clause
 * requests - the requests of the replay, as calls make and complete them
 */
#ifndef SPOOR_REQUESTS_H
#define SPOOR_REQUESTS_H

#include "replay/request_number.h"

/* Keeps a request that was made where replay_outcome says, and gives it its handle. rc: what the call that made it
 * returned. Returns rc. */
int request_made(int rc, MPI_Request real, MPI_Request *request);
/* The same, made by a function of MPI-IO. */
int request_made_of_file(int rc, MPI_Request real, MPI_Request *request);
/* Has a status say that a file call moved so many bytes; less than 0: as it is. The status may be ignored. */
void request_moved(MPI_Status *status, long long bytes);
/* The library's request of ours. */
static inline MPI_Request request_real(MPI_Request request)
{
	return request == MPI_REQUEST_NULL ? MPI_REQUEST_NULL : request_of(request)->real;
}

/* After a call that may have completed the request, or n of them: real is what the library has now. */
void request_update(MPI_Request *request, MPI_Request real);
void requests_update(int n, MPI_Request *requests, const MPI_Request *real);
/* The library's requests of an array; valid until the next call in this thread. */
MPI_Request *requests_real(int n, const MPI_Request *requests);

#endif
