/* SPDX-License-Identifier: BSD-3-Clause
 * detail - what is recorded of each call only if the policy asks for it: counters, and all times one by one
 *
 * A recorder that has a detail begins each call on the slow way (its limit is 0), which marks the call (call.detail).
 * Nothing of this is on the way of others. What the recorder itself uses is then measured at each event, not now and
 * then: reading counters takes as long as a short computation.
 */
#ifndef SPOOR_DETAIL_H
#define SPOOR_DETAIL_H

#include "preload/recorder_internal.h"
#include "trace/record/flow.h"

struct counting;

struct detail {
	unsigned counters;         /* how many are counted */
	struct counting *counting; /* of that thread */
	unsigned long thread;
	bool begun;
	bool known; /* `left` is that of the last event */
	/* Readings: where the recorder begins; in front of the call, if that is measured; where the recorder ends. */
	int64_t entry[TRACE_COUNTERS], begin[TRACE_COUNTERS], left[TRACE_COUNTERS];
	int64_t front[TRACE_COUNTERS];   /* what it uses in front of a call, as far as it is known */
	int64_t reading[TRACE_COUNTERS]; /* from one reading to the next one */
	uint64_t measured;               /* `front`, so many times */
	bool measuring;                  /* in this event */
	unsigned digits;                 /* of times (flow.h); only if times are kept */
	bool times;                      /* they are kept, until now */
	uint64_t at;                     /* ticks: when the last event ended, as the kept times say */
	uint64_t bytes, most;            /* of the arena, that flows have, and may have */
};

/* Gives the recorder a detail. list: counters, "" if there are none. timing: as the setting says, GRADE_EXACT - error
 * in millionths, or less if times are not kept one by one. */
void detail_start(struct recorder *r, const char *list, bool times, uint64_t millionths);
/* Gives a further thread's recorder what the first one has. */
void detail_join(struct recorder *r, const struct recorder *first);
/* What cannot be counted, and why, as one text for each, behind the last one's `separator`. Returns out. */
char *detail_notes(const struct recorder *r, char separator, char *out, size_t size);

/* The steps of a call, beside those of call.h. */
void detail_enter(struct recorder *r);                 /* first of all */
void detail_begin(struct recorder *r, struct call *c); /* last, before the call */
void detail_end(struct recorder *r, struct call *c);   /* first, behind the call */
/* Before the event counts. e: from the event before; NULL: there is none. communicate: in ticks. */
void detail_commit(struct recorder *r, struct call *c, struct record_edge *e, uint64_t communicate);
void detail_stop(struct recorder *r);                        /* no more times: the call is no event */
void detail_leave(struct recorder *r, const struct call *c); /* last of all */

#endif
