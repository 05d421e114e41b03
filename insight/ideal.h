/* SPDX-License-Identifier: BSD-3-Clause
 * ideal - how a job would run on an ideal network: when each rank computes then, and for whom it waits
 *
 * All ranks are played in order, with the computation that was recorded; messages and collective operations take no
 * time, so that a rank waits only for what others compute first (Dimemas' ideal network; POP's efficiencies). Who
 * waited for what is found in the stretches that come out (blame.h).
 *
 * A send waits for its receive if it is synchronous (MPI_Ssend), or if calls of its site took so long that it must have
 * been. Other sends, and calls of one-sided communication and of files, wait for nobody here.
 */
#ifndef SPOOR_INSIGHT_IDEAL_H
#define SPOOR_INSIGHT_IDEAL_H

#include "insight/stretch.h"
#include "trace/model/trace.h"

struct ideal {
	bool known;      /* else all is 0: a trace that is not whole, lossy, of threads, or too large */
	uint64_t run_ns; /* from the end of MPI_Init to that of the last rank */
	struct ideal_rank *ranks;
	uint32_t size;
	uint64_t *wait_ns; /* by site, of all ranks */
	uint64_t *meets;   /* when all ranks had come to a collective call that waits for all: ascending */
	uint32_t meet_count, meet_capacity;
};

/* More events than this are not played, each of which takes up to 120 bytes of memory; nor more ranks. */
#define IDEAL_EVENTS (UINT64_C(1) << 20)
#define IDEAL_RANKS  1024

/* synchronous: by site, whether its sends wait for their receives; NULL: only MPI_Ssend and the like do. Returns 0, or
 * -1 with error set. The caller frees it in any case. */
int ideal_make(struct ideal *i, const struct trace *t, const bool *synchronous, struct error *error);
void ideal_free(struct ideal *i);

#endif
