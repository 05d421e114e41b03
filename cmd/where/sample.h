/* SPDX-License-Identifier: BSD-3-Clause
 * sample - of `spoor top` and `spoor watch`: the jobs that run, and each of them in a few numbers
 *
 * A child becomes the job's user, asks its nodes as `spoor where` does, and sends back a struct job_sample. So whoever
 * calls this, root too, parses nothing that a user can write.
 */
#ifndef SPOOR_WHERE_SAMPLE_H
#define SPOOR_WHERE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"
#include "insight/verdict.h"

/* What a job has done since it began; of all its MPI_COMM_WORLDs that run. */
struct job_sample {
	enum sample_state {
		SAMPLE_NONE,     /* it was not asked */
		SAMPLE_SILENT,   /* its nodes did not answer, or it ended meanwhile */
		SAMPLE_UNTRACED, /* no process of it is traced, or none has initialised MPI */
		SAMPLE_TRACED
	} state;
	uint64_t worlds; /* which they are: samples of the same ones may be compared */
	uint64_t ranks, here;
	uint64_t waiting;  /* ranks in an MPI call */
	uint64_t still_ns; /* for how long no rank has begun or ended a call */
	uint64_t events, messages, bytes;
	uint64_t mpi_ns, all_ns; /* of all ranks: in MPI; in all */
	enum verdict_kind kind;  /* the first world that hangs, or the first one */
	uint64_t hung_ns;        /* 0: it does not hang */
	char step[64];           /* of this world: 4711.0 */
	char text[VERDICT_TEXT]; /* printable ASCII */
};

struct running_job {
	char id[64]; /* 4711, 4711_3: of an array */
	char user[64], partition[64];
	uint64_t number, seconds; /* the latter: how long it has run */
	struct job_sample sample;
	uint64_t asked_ns; /* when, by the monotonic clock */
};

/* The running jobs that the caller may look into: of root all, else those of this user; who: only those of this user or
 * partition; NULL: all. The caller frees *jobs (budget_free), also after an error. Returns 0, or -1 with error set. */
int jobs_running(struct running_job **jobs, size_t *count, const char *who, struct error *error);
/* Asks those of which `wanted` is true, some at a time. seconds: how long the nodes of each may take; patience: of the
 * verdict, in ns; quiet: what goes wrong with a job is not said on stderr. */
void jobs_ask(struct running_job *jobs, size_t count, bool (*wanted)(const struct running_job *j, void *context),
              void *context, unsigned seconds, uint64_t patience, bool quiet);

#endif
