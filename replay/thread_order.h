/* SPDX-License-Identifier: BSD-3-Clause
 * thread_order - the order between the threads of a rank (MPI_THREAD_MULTIPLE): each replays the events of one of
 * them
 *
 * A trace has the order of the events of each thread. Between threads is kept what follows from what they did
 * (trace/read/dependencies.h): what a thread uses was made before, by whichever thread; a communicator is freed when
 * nobody uses it any more; a request's number is made anew when the one before was completed; no thread calls before
 * MPI is initialised, and MPI_Finalize is the last call. Threads make their first calls in the order of their numbers,
 * so that a tracer gives them the same ones. A thread that has to wait does so between its calls. If all wait for each
 * other, what one waits for was another object with the same number, and the one that waits for the least goes on. If
 * the trace has the exact times of all events (timing: full), their order is known (trace/read/interleave.h), and all
 * calls of a rank begin in it, each behind the end of those that had ended when it began.
 *
 * Not replayed, and refused before the start (thread_check.h), is what the order matters for and is not known.
 */
#ifndef SPOOR_THREAD_ORDER_H
#define SPOOR_THREAD_ORDER_H

#include "replay/live_handles.h"
#include "trace/read/walk.h"

struct thread_order;

/* Of one rank; costs a walk of each of its threads. *out stays NULL if the rank has one thread only. Returns 0, or -1
 * with error set: also if which objects its threads passed to each other is not clear. */
int thread_order_create(struct thread_order **out, const struct trace *t, uint32_t rank, struct error *error);
void thread_order_destroy(struct thread_order *m);
/* How many further threads there are, and the stream of the i-th. */
int thread_order_count(const struct thread_order *m);
uint32_t thread_order_stream(const struct thread_order *m, int i);
/* The calling thread replays this stream, and keeps its objects here; before its first event. */
void thread_order_join(struct thread_order *m, struct live_handles *handles, uint32_t stream);
/* Around each event: waits until it may be made; it was made. */
void thread_order_before(struct thread_order *m, const struct event *e);
void thread_order_after(struct thread_order *m, const struct event *e);
/* The calling thread has no more events; waits for the others. */
void thread_order_end(struct thread_order *m);

#endif
