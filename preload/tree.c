/* SPDX-License-Identifier: BSD-3-Clause
 * tree - merges the traces of all ranks at MPI_Finalize, along a binomial tree
 *
 * Rank r receives from r + 1, r + 2, r + 4, ... as long as those bits are not set in r, and then sends to r without its lowest set bit. Each
 * message is preceded by its length. Nothing blocks: requests are tested until they are done or the deadline passes; a request that
 * is given up keeps its buffer for ever, since the library may still write to it.
 */
#include "preload/tree.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "preload/clock.h"
#include "merge/merge.h"
#include "trace/container.h"

#define TAG_SIZE 1
#define TAG_TRACE 2
#define TAG_ANSWER 3
/* What one rank may send. More is refused, and the arenas are left to be merged when the step has ended: merging takes about sixteen times the size in
 * memory (measured on the bucket sort), and that is the job's memory here. */
#define MAX_MESSAGE (INT64_C(32) << 20)

/* Tests until the request is done. Returns 0, or -1: deadline or error. */
static int wait_for(const struct tree *tree, MPI_Request *request)
{
	for (unsigned spins = 0;; spins++) {
		int done = 0;
		if (real.MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return -1;
		if (done)
			return 0;
		if (clock_ns(CLOCK_MONOTONIC) > tree->deadline)
			return -1;
		if (spins < 200)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = spins < 2000 ? 20000 : 1000000}, NULL);
	}
}

/* Takes bytes (malloc'ed): frees them unless the request was given up. */
static int send_take(const struct tree *tree, int to, uint8_t *bytes, int64_t size)
{
	int64_t *length = malloc(sizeof *length);
	MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	if (!length) {
		free(bytes);
		return -1;
	}
	*length = size;
	if (real.MPI_Isend(length, (int)sizeof *length, MPI_BYTE, to, TAG_SIZE, tree->comm, &request[0]) != MPI_SUCCESS ||
	    (size > 0 && real.MPI_Isend(bytes, (int)size, MPI_BYTE, to, TAG_TRACE, tree->comm, &request[1]) != MPI_SUCCESS))
		return -1;
	if (wait_for(tree, &request[0]) != 0 || (size > 0 && wait_for(tree, &request[1]) != 0))
		return -1;
	free(length);
	free(bytes);
	return 0;
}

/* The message of a rank. *bytes is malloc'ed. Returns 0; -1: it did not come, or says that it has failed. */
static int receive(const struct tree *tree, int from, uint8_t **bytes, int64_t *size)
{
	int64_t *length = malloc(sizeof *length);
	MPI_Request request;
	*bytes = NULL;
	if (!length || real.MPI_Irecv(length, (int)sizeof *length, MPI_BYTE, from, TAG_SIZE, tree->comm, &request) != MPI_SUCCESS ||
	    wait_for(tree, &request) != 0)
		return -1;
	*size = *length;
	free(length);
	if (*size <= 0 || *size > MAX_MESSAGE)
		return -1;
	uint8_t *buffer = malloc((size_t)*size);
	if (!buffer || real.MPI_Irecv(buffer, (int)*size, MPI_BYTE, from, TAG_TRACE, tree->comm, &request) != MPI_SUCCESS ||
	    wait_for(tree, &request) != 0)
		return -1;
	*bytes = buffer;
	return 0;
}

static int merge_received(struct trace *t, const uint8_t *bytes, size_t size, struct error *error)
{
	int rv = -1;
	struct container *c = NULL;
	struct trace part = {.size = 0};
	if (container_parse(&c, "part", bytes, size, NULL, error) == 0 && trace_decode(&part, c, error) == 0)
		rv = merge_into(t, &part, error);
	trace_free(&part);
	container_destroy(c);
	return rv;
}

int tree_merge(struct tree *tree, struct trace *t, struct error *error)
{
	int rv = t ? 0 : -1, bit = 0;
	for (; !(tree->rank >> bit & 1) && 1 << bit < tree->size; bit++) {
		int child = tree->rank + (1 << bit);
		uint8_t *bytes;
		int64_t size;
		if (child >= tree->size)
			continue;
		tree->children |= UINT32_C(1) << bit;
		if (receive(tree, child, &bytes, &size) != 0)
			rv = error_set(error, "no trace came from rank %d within the deadline", child);
		else if (rv == 0 && merge_received(t, bytes, (size_t)size, error) != 0)
			rv = -1;
		free(bytes);
	}
	if (tree->rank == 0)
		return rv;
	/* a rank that has failed says so (length 0), so that nobody waits for it */
	uint8_t *bytes = NULL;
	size_t size = 0;
	if (rv == 0 && (trace_encode(t, NULL, 0, NULL, &bytes, &size) != 0 || size > MAX_MESSAGE))
		rv = error_set(error, "no memory to encode the trace");
	if (send_take(tree, tree->rank & (tree->rank - 1), bytes, rv == 0 ? (int64_t)size : 0) != 0)
		rv = error_set(error, "rank %d did not take the trace within the deadline", tree->rank & (tree->rank - 1));
	return rv;
}

int tree_settle(struct tree *tree, bool kept)
{
	char *answer = malloc(1);
	MPI_Request request;
	if (!answer)
		return -1;
	*answer = (char)kept;
	if (tree->rank != 0) {
		if (real.MPI_Irecv(answer, 1, MPI_BYTE, tree->rank & (tree->rank - 1), TAG_ANSWER, tree->comm, &request) != MPI_SUCCESS)
			return -1;
		if (wait_for(tree, &request) != 0)
			return -1;
	}
	int rv = *answer ? 0 : -1;
	for (int bit = 31; bit-- > 0;)
		if (tree->children >> bit & 1) {
			if (real.MPI_Isend(answer, 1, MPI_BYTE, tree->rank + (1 << bit), TAG_ANSWER, tree->comm, &request) != MPI_SUCCESS ||
			    wait_for(tree, &request) != 0)
				return rv; /* that child keeps its arena; its rank is in the trace, too: who collects sees that */
		}
	free(answer);
	return rv;
}
