/* SPDX-License-Identifier: BSD-3-Clause
 * verdict - does a job hang, why, and how one can see that
 *
 *     deadlock   ranks wait for each other: a cycle, or a knot; or for what none of them can send any more
 *     mismatch   a message was sent with another tag or communicator than the one that is waited for, or ranks are in
 *                different collectives of one communicator, or name different roots
 *     gone       others wait for ranks that have computed for a long time, were stopped, or have ended
 *     slow       ranks wait for one that computes, not yet for long; or what they wait for is there
 *     ended      a rank called MPI_Abort; or the run has ended by itself, and the rank that others wait for was in no
 *                call; or a call failed (enum verdict_way)
 *     unknown    it cannot be told, and why
 *
 * A deadlock and a mismatch are said only where the trace proves it (blocked.h). Between gone and slow there is only
 * the reader's patience: a trace does not tell a long computation from an endless one. In a run that has ended no
 * message can come any more.
 */
#ifndef SPOOR_INSIGHT_VERDICT_H
#define SPOOR_INSIGHT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/trace.h"

enum verdict_kind {
	VERDICT_NONE, /* no rank was in a call when its trace ended */
	VERDICT_DEADLOCK,
	VERDICT_MISMATCH,
	VERDICT_GONE,
	VERDICT_SLOW,
	VERDICT_ENDED,
	VERDICT_UNKNOWN,
	VERDICT_KINDS
};

/* How a rank ended the run, where it did. */
enum verdict_way {
	VERDICT_ABORTED, /* it called MPI_Abort */
	VERDICT_CRASHED, /* by a signal that programs bring upon themselves */
	VERDICT_LEFT,    /* with an exit status */
	VERDICT_FAILED   /* in a call, by all that is known */
};

#define VERDICT_PATIENCE (UINT64_C(60) * 1000000000) /* ns */
#define VERDICT_TEXT     768
#define VERDICT_CALL     128
#define VERDICT_STEPS    16 /* of a proof that are told */

struct verdict {
	enum verdict_kind kind;
	enum verdict_way way;    /* of VERDICT_ENDED */
	char text[VERDICT_TEXT]; /* one or two sentences; empty if the kind is VERDICT_NONE */
	/* The proof: who waits for whom, one after another. */
	struct verdict_step {
		uint32_t stream, site;
		uint32_t waits_for;      /* stream; UINT32_MAX: nobody in particular */
		uint32_t any;            /* of how many this is one: MPI_ANY_SOURCE, MPI_Waitany; 0: only this one */
		char call[VERDICT_CALL]; /* "MPI_Recv source=3 tag=7" */
	} steps[VERDICT_STEPS];
	uint32_t step_count;
	uint64_t length; /* of the whole chain */
	uint64_t stuck;  /* streams that can never go on */
	uint64_t ns;     /* for how long it has been so; 0: it does not hang, or that is not known */
};

/* How a run has ended (archive/metadata.h, metadata_run_end). */
struct run_end {
	bool itself;        /* not at a limit, or by somebody else's signal */
	int signal, status; /* 0: none */
	bool partial;       /* its trace is made of what killed ranks left */
	char reason[16];    /* of that, as the metadata say it ("time-limit"); "": none */
};

/* patience: ns; ranks that compute for longer are gone if others wait for them. end: NULL if the run goes on, or may.
 * In one that has ended, a call that was in flight for a second waits. */
void verdict_find(struct verdict *v, const struct trace *t, uint64_t patience, const struct run_end *end);
/* Does a job with this verdict hang? */
static inline bool verdict_hangs(enum verdict_kind kind)
{
	return kind == VERDICT_DEADLOCK || kind == VERDICT_MISMATCH || kind == VERDICT_GONE;
}
/* "deadlock" */
const char *verdict_name(enum verdict_kind kind);
/* "crashed"; of a failed call "mpi-error" */
const char *verdict_way_name(enum verdict_way way);

#endif
