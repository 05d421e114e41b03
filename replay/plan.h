/* SPDX-License-Identifier: BSD-3-Clause
 * plan - can this trace be replayed? Which call replays which function of it
 */
#ifndef SPOOR_PLAN_H
#define SPOOR_PLAN_H

#include "replay/args.h"
#include "replay/calls.h"

enum plan_special { PLAN_CALL, PLAN_INIT, PLAN_FINALIZE, PLAN_ABORT };

/* One function of the trace. */
struct plan {
	const struct replay_call *call; /* NULL: cannot be replayed (or PLAN_ABORT) */
	enum plan_special special;
	int error;                /* column of the error class, or -1 */
	bool same;                /* the trace's columns are those of the call; else: */
	int16_t from[SCHEMA_MAX]; /* the trace's column of each of the call's, -1: not there */
	size_t columns;           /* of the call */
	bool known_buffers;       /* the trace says which buffers they were, in these columns (-1: not there): */
	int16_t buffers[ARGS_BUFFERS];
};

/* By function; malloc'ed. Returns NULL if there are functions that cannot be replayed; *missing is then a malloc'ed
 * text, a line for each: its name, how often it is called, why. Or NULL: no memory. */
struct plan *plan_create(const struct trace *t, char **missing);

/* Why the trace is no whole run, or NULL if it is one: ranks that are missing, that did not come to MPI_Finalize, or
 * whose events are not all there. The text is in `text`. */
#define PLAN_TEXT 256
const char *plan_partial(const struct trace *t, char text[PLAN_TEXT]);
/* Does it call functions on files? */
bool plan_uses_files(const struct trace *t);

#endif
