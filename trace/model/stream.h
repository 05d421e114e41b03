/* SPDX-License-Identifier: BSD-3-Clause
 * stream - the threads of ranks in a trace
 *
 * A thread that calls MPI is a stream of events: thread k of rank r is stream k * size + r. Whatever a trace says "of a
 * rank" it says of a stream; the streams of thread 0, the one that initialised MPI, are the ranks themselves, and a
 * program without MPI_THREAD_MULTIPLE has no others.
 *
 *     size 4:  0 1 2 3    thread 0 of each rank
 *              4 5 - 7    thread 1: rank 2 has none
 */
#ifndef SPOOR_STREAM_H
#define SPOOR_STREAM_H

#include "trace/model/trace.h"

static inline uint32_t stream_rank(const struct trace *t, uint64_t stream)
{
	return (uint32_t)(t->size ? stream % t->size : stream);
}

static inline uint32_t stream_thread(const struct trace *t, uint64_t stream)
{
	return (uint32_t)(t->size ? stream / t->size : 0);
}

/* The next thread of a rank, from *thread on, as its stream; false if there is none.
 * for (uint32_t k = 0; stream_next(t, rank, &k, &stream); k++) sees all. */
bool stream_next(const struct trace *t, uint32_t rank, uint32_t *thread, uint32_t *stream);

/* How many numbers streams may have: size times the most threads of a rank. At least size. */
uint64_t stream_limit(const struct trace *t);
/* The most threads of a rank: 1 if there is nothing else but ranks. */
uint32_t stream_threads(const struct trace *t);
/* Of how many of MPI_COMM_WORLD's ranks the first thread is among these streams: in a trace, only ranks whose first
 * thread is there are. All of them, if memory runs out. */
uint64_t stream_ranks(const struct trace *t, const struct rankmap *streams);
/* Of how many of them any thread is, with another value than 0 (visits of calls that never ended). All of them, if
 * memory runs out. Linear in the streams if there are threads. */
uint64_t stream_ranks_any(const struct trace *t, const struct rankmap *streams);

/* Says in error that a stream is not there, and why: there is no such rank, it left no trace, or it has no such thread.
 * Returns -1. */
int stream_missing(const struct trace *t, uint32_t stream, struct error *error);

/* "3": rank 3; "3.1": thread 1 of rank 3. Returns out. */
#define STREAM_NAME 32
const char *stream_name(const struct trace *t, uint64_t stream, char out[STREAM_NAME]);

/* The number of a request that another thread of the rank made: which number it has there, and which thread that is. */
#define STREAM_FOREIGN (INT64_C(1) << 32)
static inline bool stream_foreign(int64_t value, uint32_t *thread, uint32_t *number)
{
	if (value < STREAM_FOREIGN)
		return false;
	*thread = (uint32_t)((uint64_t)value >> 32) - 1;
	*number = (uint32_t)value;
	return true;
}

#endif
