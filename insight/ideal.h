/* SPDX-License-Identifier: BSD-3-Clause
 * ideal - how long a job would take on an ideal network, and what its length depends on then
 *
 * All ranks are played in order, with the computation that was recorded; messages and collective operations take no
 * time, so that a rank waits only for what others compute first (Dimemas' ideal network; POP's efficiencies). What the
 * run took longer than this was transfer; what this takes longer than the rank that computes most was serialisation:
 * ranks that wait for each other in turn.
 *
 * The critical path is followed back from the rank that ends last: at each wait it goes on with the rank that was
 * waited for (Boehme et al., ICPP 2012). It says for each rank and call site how much of the job's length was decided
 * by what that rank computed before its calls there.
 *
 * Calls of one-sided communication and of files wait for nobody here, nor does a send.
 */
#ifndef SPOOR_INSIGHT_IDEAL_H
#define SPOOR_INSIGHT_IDEAL_H

#include "trace/model/trace.h"

/* What a rank computed before its calls of a site, as far as it is on the critical path. */
struct ideal_part {
	uint32_t rank, site;
	uint64_t ns;
};

struct ideal {
	bool known;      /* else all is 0: a trace that is not whole, lossy, of threads, or too large */
	uint64_t run_ns; /* from the end of MPI_Init to that of the last rank */
	uint64_t message_ns, collective_ns; /* waits of all ranks for messages, and in collective operations */
	struct ideal_part *parts;           /* most first; malloc'ed */
	size_t part_count;
	uint32_t message_site, collective_site; /* where most of these waits are */
};

/* More events than this are not played, each of which takes up to 100 bytes of memory; nor more ranks. */
#define IDEAL_EVENTS (UINT64_C(1) << 20)
#define IDEAL_RANKS  1024

/* Returns 0, or -1 with error set. The caller frees it in any case. */
int ideal_make(struct ideal *i, const struct trace *t, struct error *error);
void ideal_free(struct ideal *i);

#endif
