/* SPDX-License-Identifier: BSD-3-Clause
 * live - the live requests, and those that one call means (a batch)
 *
 * The list of live requests is in order of creation. A handle means the oldest live request that has it; within one
 * array each live request is meant at most once (Open MPI gives one handle to all requests to MPI_PROC_NULL). Those of
 * the calling thread come first, then those of the others in the order of the threads. A batch is what the request
 * arguments of a call mean before it. While the call runs, the library may give a handle to another thread's new
 * request.
 */
#ifndef FLATLOG_LIVE_H
#define FLATLOG_LIVE_H

#include "tests/flatlog/flatlog.h"

#define BATCH_NULL (-1)
struct batch {
	int n;
	int *number; /* BATCH_NULL for MPI_REQUEST_NULL */
};

/* Before and after the call. Others cannot mean its requests in between. */
void batch_begin(struct batch *b, int n, const MPI_Request *handles);
void batch_end(struct batch *b);

/* A number as the log has it: r2, or r2@1 of thread 1. */
char *say_number(int number);
/* All of them: [r2,r3]. */
char *batch_say(const struct batch *b);

/* What the status of request i describes: RECEIVE a message, OF_FILE what was moved, 0 nothing. */
int batch_tells(const struct batch *b, int i);
/* Request i is complete. Returns what batch_tells() said before. */
int batch_complete(struct batch *b, int i);
/* The request of the call is freed. */
void batch_free(struct batch *b);
/* After an error: what has become MPI_REQUEST_NULL is complete. */
void batch_failed(struct batch *b, const MPI_Request *after);
/* The requests of the call are started. */
void batch_start(struct batch *b);

#endif
