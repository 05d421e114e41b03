/* SPDX-License-Identifier: BSD-3-Clause
 * interleave - the events of all threads of a rank as one sequence, in the order of time
 *
 * A trace has the order of the events of each thread (a stream: stream.h), and between threads only what times say and
 * what follows from what was done:
 *
 * - If all threads of the rank have the exact times of their events (timing.h), an event's place is where it began. All
 *   threads of a rank use one clock: the order is that in which the calls began.
 * - Else it is an estimate. Times are drawn from histograms (event_clock.h), or rounded ones are taken, and no event
 *   comes before what it needs: none before MPI was initialised, MPI_Finalize behind all others, an object or a request
 *   behind the call that made it, and one that got the number of another behind the call that ended that. A thread that
 *   would be too early is as much later from there on.
 *
 * Where times are exact up to a certain event only (memory was used up), the order is an estimate from the first event
 * on: `exact` is one word for the rank. Memory depends on the size of the trace and on the number of objects that live
 * at a time, not on the number of events. An estimate costs one more walk of each thread before the first event.
 */
#ifndef SPOOR_INTERLEAVE_H
#define SPOOR_INTERLEAVE_H

#include "trace/read/walk.h"

struct interleave;

/* An event in its place. */
struct interleaved {
	uint32_t stream;
	const struct event *event; /* valid until the next call */
	uint64_t begin, end;       /* ns since the rank's first event began; begin never goes back */
	bool timed;                /* they are as the trace has them, exactly: not drawn, nor moved */
};

/* Returns 0; or -1 with error set: the rank is not in the trace, or no memory. The trace must outlive it. */
int interleave_begin(struct interleave **out, const struct trace *t, uint32_t rank, struct error *error);
void interleave_end(struct interleave *w);
/* The next event. Returns 0, 1 at the end, -1 with error set if the trace contradicts itself. */
int interleave_next(struct interleave *w, struct interleaved *e, struct error *error);
/* Is the order known, not estimated? It is if there is but one thread. */
bool interleave_exact(const struct interleave *w);
/* The first stream whose walk came to its end early (walk_unordered), so far; false: none did. */
bool interleave_cut(const struct interleave *w, uint32_t *stream);

#endif
