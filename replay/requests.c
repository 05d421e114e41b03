/* SPDX-License-Identifier: BSD-3-Clause
 * requests - the requests of the replay
 */
#include "replay/requests.h"

#include <stdio.h>
#include <stdlib.h>

#include "replay/lossy_messages.h"

_Thread_local struct outcome replay_outcome;
/* Tells the tracer that this layer is part of the library, and no tool (preload/bind.c). */
const char spoor_below = 1;

int request_made(int rc, MPI_Request real, MPI_Request *request)
{
	struct request *e = replay_outcome.request;
	if (rc != MPI_SUCCESS)
		return rc;
	if (replay_outcome.lossy)
		return lossy_request_made(REQUEST_PLAIN, real, request);
	if (!e) { /* the recorded call gave MPI_REQUEST_NULL */
		if (real != MPI_REQUEST_NULL)
			PMPI_Request_free(&real);
		*request = MPI_REQUEST_NULL;
		return rc;
	}
	*e = (struct request){.number = e->number, .real = real, .own = MPI_REQUEST_NULL};
	*request = request_handle(e);
	return rc;
}

int request_made_of_file(int rc, MPI_Request real, MPI_Request *request)
{
	rc = request_made(rc, real, request);
	struct request *e = rc == MPI_SUCCESS ? request_of(*request) : NULL;
	if (e)
		e->of_file = true;
	return rc;
}

void request_moved(MPI_Status *status, long long bytes)
{
	if (status != MPI_STATUS_IGNORE && bytes >= 0)
		PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
}

void request_update(MPI_Request *request, MPI_Request real)
{
	struct request *e = request_of(*request);
	if (!e)
		return;
	e->real = real;
	if (real != MPI_REQUEST_NULL)
		return;
	if (e->tracked)
		e->real = e->own;
	else
		*request = MPI_REQUEST_NULL;
}

MPI_Request *requests_real(int n, const MPI_Request *requests)
{
	static _Thread_local MPI_Request *array;
	static _Thread_local int capacity;
	if (n > capacity) {
		MPI_Request *more = realloc(array, (size_t)n * 2 * sizeof *more);
		if (!more) {
			fputs("spoor-replay: no memory\n", stderr);
			PMPI_Abort(MPI_COMM_WORLD, 1);
			return NULL;
		}
		array = more;
		capacity = 2 * n;
	}
	for (int i = 0; i < n; i++)
		array[i] = request_real(requests[i]);
	return array;
}

void requests_update(int n, MPI_Request *requests, const MPI_Request *real)
{
	for (int i = 0; i < n; i++)
		request_update(&requests[i], real[i]);
}
