/* SPDX-License-Identifier: BSD-3-Clause
 * rank_source - what a rank does, event after event, for simulate.h: from the trace, or from a tape of it
 *
 * Who plays a trace many times keeps on a tape what its events came to the first time: acts, and computation. Of a
 * loop, each act is kept once.
 */
#ifndef SPOOR_INSIGHT_RANK_SOURCE_H
#define SPOOR_INSIGHT_RANK_SOURCE_H

#include "insight/execution.h"
#include "insight/times.h"

/* No more is kept: some 30 bytes for each event, and what is different of its acts once. Of an act, only what it is,
 * and the numbers of its message and request, but not where it is in the trace. */
#define TAPE_EVENTS (UINT64_C(1) << 20)
#define TAPE_ACTS   (UINT64_C(1) << 21)
#define TAPE_SHAPES (UINT64_C(1) << 16)

struct tape;
/* Returns NULL on no memory. */
struct tape *tape_create(uint32_t ranks);
void tape_destroy(struct tape *t);
/* All ranks begin: what is on a tape that is not whole goes. */
void tape_begin(struct tape *t);
/* All ranks were played to their end. Is all of it there? Only then it is played. */
void tape_end(struct tape *t);
bool tape_is_whole(const struct tape *t);

struct rank_step {
	uint32_t site;
	bool vain;              /* it asks, and gets no answer */
	double ns;              /* what the rank computes before it; 0 while it asks again and again */
	const struct act *list; /* what it does */
	size_t count;
};

struct rank_source;
/* Of one rank of a trace that has one thread a rank. times: not needed if the tape is whole; tape: NULL: there is none;
 * one that is not whole is written. Returns NULL with error set. What is given must outlive it. */
struct rank_source *rank_source_create(const struct calls *calls, const struct comms *comms, struct times *times,
                                       struct tape *tape, uint32_t rank, struct error *error);
void rank_source_destroy(struct rank_source *r);
/* The next event; its acts are valid until the next one. Returns 0; 1: there is none; -1 with error set. */
int rank_source_next(struct rank_source *r, struct rank_step *out, struct error *error);
/* As execution_mark; and what was marked, of an act that ends it; 0: nothing. Returns 0, or -1 on no memory. */
int rank_source_mark(struct rank_source *r, const struct act *begun, uint64_t mark);
uint64_t rank_source_marked(struct rank_source *r, const struct act *ended);

#endif
