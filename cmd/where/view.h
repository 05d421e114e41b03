/* SPDX-License-Identifier: BSD-3-Clause
 * view - parts of `spoor where`: what is read on a node, and what is put together of all nodes
 */
#ifndef SPOOR_WHERE_VIEW_H
#define SPOOR_WHERE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/world.h"
#include "trace/base/budget.h"

/* node.c: on a node of the job, as its user. */

/* Writes to stdout what the processes of a job's steps (step NULL: of all) have recorded on this node, in lines that
 * where_hear reads. spool: the folder. Returns the exit status. */
int where_node(const char *spool, const char *job, const char *step);

/* worlds.c: where the user is. */

#define WHERE_WORLDS 256

struct where_worlds {
	struct where_world {
		struct world world;
		char step[64]; /* JOB.STEP of the part that came first; "" if that is not known */
	} * each;
	size_t count;
	size_t arenas, early, unread;
	char first[400]; /* why the first one could not be read */
	struct budget budget;
};

/* Begins the budget of what nodes send, which grows with it. */
void where_begin(struct where_worlds *w);

/* Adds a raw trace. Returns 0, or -1 with error set; then nothing was added, unless memory ran out. */
int where_add(struct where_worlds *w, const char *step, const uint8_t *bytes, size_t size, struct error *error);
/* Ends the budget. */
void where_free(struct where_worlds *w);

/* The whole trace of a world, which is used up: the raw bytes, malloc'ed, and what is decoded of them. The caller frees
 * all of it in any case. */
struct where_trace {
	uint8_t *bytes;
	size_t size;
	struct container *container;
	struct trace trace;
};
int where_make(struct where_trace *out, struct where_world *w, const char *name, struct error *error);
void where_trace_free(struct where_trace *t);

/* job.c: a job that runs, by Slurm. */

/* What squeue says: one line for each job. which: "--jobs=4711". Returns 0, or -1 with error set. */
int where_squeue(const char *which, const char *states, const char *format, char *answer, size_t size,
                 struct error *error);

/* Asks the nodes of a job, as its user; seconds: how long they have. Returns 0, or CMD_FAILED after a message. */
int where_job(struct where_worlds *w, const char *job, const char *step, unsigned seconds);

#endif
