/* SPDX-License-Identifier: BSD-3-Clause
 * replayer - replays the events of a rank
 */
#ifndef SPOOR_REPLAYER_H
#define SPOOR_REPLAYER_H

#include <pthread.h>

#include "replay/args.h"
#include "replay/compute.h"
#include "replay/plan.h"
#include "replay/prescan.h"
#include "replay/scratch_folder.h"
#include "replay/senders.h"
#include "replay/thread_order.h"
#include "replay/unrecorded.h"

/* What the user asked for. */
struct replayer_options {
	enum compute_mode compute;
	const char *scale; /* cmd/base/scale.h, with numbers */
	uint64_t seed;
	const char *scratch; /* NULL: one below TMPDIR */
	bool partial, verbose;
};

struct replayer {
	const char *file;
	struct replayer_options options;
	struct container *container;
	struct trace trace;
	struct plan *plans; /* by function */
	double *scales;     /* by site */
	uint32_t rank;
	uint32_t stream;              /* of the thread that has this copy of it all */
	struct thread_order *threads; /* NULL: the rank has one thread */
	struct replayer *further;     /* copies for its other threads */
	pthread_t thread;
	bool initialized; /* MPI is up */
	struct args args;
	struct prescan *prescan; /* NULL: there is nothing to look ahead for */
	struct compute *compute;
	struct unrecorded *unrecorded; /* of a trace without order, as the next one */
	struct senders *senders;
	struct scratch_folder folder;
	uint64_t events, different; /* different: calls that ended otherwise than they did */
	char first_difference[200];
	struct error error;
};

/* One of the ranks says why the trace is not replayed, if they know who they are. Returns -1. */
int replayer_refuse(const struct replayer *r, const char *text);
/* The same, in a run of so many ranks. */
int replayer_refuse_size(const struct replayer *r, uint32_t size);
/* Replays the rank, from MPI_Init to MPI_Finalize; file, options, trace, plans and rank are set. Returns 0; or -1,
 * and has said why: calls ended otherwise, or the replay did not come to its end. */
int replayer_run(struct replayer *r);
/* What replayer_run made. */
void replayer_free(struct replayer *r);

#endif
