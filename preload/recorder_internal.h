/* SPDX-License-Identifier: BSD-3-Clause
 * recorder_internal - what a recorder is, for the files that it is made of
 *
 *     recorder  its life: made, identified, stopped
 *     call      one MPI call: begin, end, puts, commit
 *     site      where a call is made: frames, call paths, sites, edges
 *     stand_in  what a call writes to at a site that is visited once or twice
 *     pool      strings and vectors, each kept once
 *     shortage  what becomes of all that when memory is short
 *     left      calls that did not return
 *     cost      what recording takes itself
 *
 * Nobody else includes this.
 */
#ifndef SPOOR_RECORDER_INTERNAL_H
#define SPOOR_RECORDER_INTERNAL_H

#include "preload/call.h"
#include "preload/callpath.h"
#include "preload/ignored.h"
#include "preload/lock.h"
#include "preload/unwind.h"
#include "trace/base/index.h"
#include "trace/record/brief.h"
#include "trace/model/schema.h"
#include "trace/record/record.h"

/* What an event may allocate without asking again. Larger things (a long vector, leaving a long loop) may still fail;
 * then the column that they are for gives up its order. */
#define EVENT_ROOM 24576
/* Of the arena's end, when the rest is used up: for counting; and, in that of the first thread, for one more site of
 * each function, without a path: a part of the arena, up to so much. */
#define COUNTED_ROOM UINT64_C(32768)
#define SITES_ROOM   UINT64_C(131072)
#define SITES_PART   128
/* Functions have a second schema, for calls that returned an error. */
#define FUNCTIONS      (2 * FN_COUNT)
#define FUNCTION_ERROR FN_COUNT

/* Calls around the one that a thread is in, as far as they are known when all are left (left.h). */
#define LEFT_NESTED 4
struct call_around {
	void *frame;   /* CFA of its wrapper */
	uint32_t site; /* record_at.in_flight */
};

struct detail;

/* What is known of the processor's use (absence.h). */
struct away {
	uint64_t used, ticks_per_ms; /* ns, when it was read last */
	/* Ticks: what is a long computation (UINT64_MAX: nothing is asked); before when it is not read again; what the
	 * last reading took, until its call is an event. */
	uint64_t least, look_at, behind;
	/* The longest computation since then that was long: ticks, and between which sites (numbers + 1). */
	uint64_t gap;
	uint32_t from, to;
	uint32_t patience; /* calls that may still come before one that waits */
	bool next;         /* the next call begins on the slow way, to be looked at */
};

struct recorder {
	union {
		struct recorder_head head;
		struct record *record; /* its first member */
	};
	struct arena arena;
	struct memo memo;
	struct site *last;        /* of the last event; call_nowhere before the first one */
	struct site *stand_in[2]; /* stand_in.c */
	ref spare;         /* struct brief that is not used any more; each begins with the reference of another one */
	uint64_t last_end; /* ticks; 0: no event yet */
	/* What an event costs in ticks, as measured now and then: after its end, and before the next one's begin. It is
	 * no time of the application. */
	uint64_t cost, before, sample_at, sampled;
	uint64_t emptied;   /* events when full words of histograms were last looked for */
	bool cutting;       /* the path that is looked up is short already */
	bool holding;       /* what is made may take what is held for it */
	uint64_t structure; /* bytes of the arena that sites, frames and edges have */
	/* events before which memory is not reclaimed again, and how many after that */
	uint64_t reclaim_at, reclaim_after;
	uint64_t unwound;          /* stacks */
	struct shortage *shortage; /* shortage.c; NULL as long as there is enough of everything */
	uint32_t unknown;          /* the string "?" */
	struct away away;
	struct detail *detail; /* NULL: nothing but what is always recorded (detail.h) */
	struct columns columns;
	struct unwinder *unwinder;
	struct index strings, vectors, nodes, sites, edges;
	uint32_t functions[FUNCTIONS]; /* index in record.functions + 1 */
	uint32_t widths[FUNCTIONS];    /* columns */
	bool waits[FUNCTIONS];         /* by index in record.functions: such calls wait for others */
	struct site *objects[OBJECT_COUNT];
	bool shared; /* MPI is not initialised yet, and several threads may call: a lock for each step */
	/* of the thread that may record here; NULL: it has ended (thread.c), or there is none yet */
	struct recording *turn;
	bool turns; /* another one did so before: each call asks whose turn it is */
	/* a file was unloaded: another one may be where it was, so that no address means what it meant */
	bool unloaded;
	struct call_around around[LEFT_NESTED];
	struct ignored *ignored; /* NULL: no frames are (ignored.h) */
	unsigned tolerance;      /* frames by which the call paths of a site may differ */
	/* The call path that is being looked at: not on the stack, which may be that of a signal handler and small. */
	struct callpath path;
	struct record_node frames[CALLPATH_MAX + 1];
	/* What one function needs while it runs, for the same reason. */
	union {
		char schema[4096];          /* function_known */
		uint8_t brief[BRIEF_BYTES]; /* stand_in_take */
		int64_t values[SCHEMA_MAX]; /* fill (stand_in.c) */
	} room;
	struct lock lock;
};

extern struct site call_nowhere __attribute__((visibility("hidden")));

/* A recorder on a new arena, with nothing in it. shared: bytes that several arenas may take together, or NULL. NULL:
 * error is set. */
struct recorder *recorder_create(const char *path, uint64_t memory, uint64_t *shared, struct error *error);
/* Another reading of both clocks, so that ticks can be turned into time. */
void recorder_calibrate(struct recorder *r);

/* That of the process, or of its thread 0 if threads have recorders of their own (thread.h). NULL while nothing is
 * recorded. It lives as long as the process. */
extern struct recorder *recorder_current __attribute__((visibility("hidden")));

#endif
