/* SPDX-License-Identifier: BSD-3-Clause
 * exporter - what the formats of `spoor export` have in common: a trace in, another form of it out, one rank after the
 * other
 */
#ifndef SPOOR_EXPORT_EXPORT_H
#define SPOOR_EXPORT_EXPORT_H

#include <jansson.h>

#include "cmd/export/output.h"
#include "cmd/base/frames.h"
#include "cmd/base/progress.h"
#include "insight/execution.h"
#include "trace/read/event_clock.h"

struct export
{
	const char *name; /* of the trace, for messages */
	const struct trace *trace;
	const json_t *meta; /* NULL if there is none */
	struct calls calls;
	struct comms *comms;
	char **paths; /* by site: "exchange at halo.c:41 < main at halo.c:90" */
	struct progress progress;
	uint64_t done;    /* events, over all ranks */
	uint64_t unknown; /* execution_unknown, over all ranks */
	uint64_t cut;     /* ranks of which the order of events is not known to the end */
	double flops;     /* of --simgrid: what a second of computation is */
	uint64_t left_out, foreign,
		/* of --simgrid: messages and operations that have no partner; calls that it cannot say; sizes that are
		 * not known */
		unsized;
	struct error error;
};

/* Returns 0, or -1 with x->error set. The caller ends it in any case. name, t and meta must outlive it. */
int export_begin(struct export *x, const char *name, const struct trace *t, const json_t *meta);
void export_end(struct export *x);

/* One rank that is walked: the events with their times and what they did. */
struct track {
	struct export *export;
	uint32_t stream;
	struct walk *walk;
	struct event_clock *clock;
	struct execution *execution;
	struct event event;
	uint64_t begin, end; /* ns */
	const struct act *list;
	size_t count;
};

/* Returns 0, or -1 with x->error set. The caller ends it in any case. timed: are begin and end wanted? */
int track_begin(struct track *t, struct export *x, uint32_t stream, bool timed);
void track_end(struct track *t);
/* The next event: 0; 1 at the end; -1 with error set. */
int track_next(struct track *t);

/* The formats: each returns 0, or -1 with x->error set, and then has left nothing. */
int export_chrome(struct export *x, const char *file);
int export_otf2(struct export *x, const char *folder);
int export_simgrid(struct export *x, const char *folder);

#endif
