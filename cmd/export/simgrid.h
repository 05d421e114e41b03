/* SPDX-License-Identifier: BSD-3-Clause
 * simgrid - one rank of a time-independent trace that is being written
 */
#ifndef SPOOR_EXPORT_SIMGRID_H
#define SPOOR_EXPORT_SIMGRID_H

#include "cmd/export/exporter.h"

/* Room for a message whose size the receiver does not know. */
#define TI_ROOM INT32_MAX

struct ti {
	struct export *export;
	FILE *out;
	uint32_t self;
	double compute;       /* ns that have passed since the last line */
	uint64_t *operations; /* collectives so far, by communicator: all members count alike */
	struct ti_pending {
		uint64_t request, number;
	} * pending; /* operations that do not block and are under way */
	size_t pending_count, pending_capacity;
};

/* A tag that no other message between the same two ranks has while this one is under way. */
int ti_tag(uint64_t channel, uint64_t number);
/* Writes the computation that has passed. */
void ti_compute(struct ti *ti);
/* collectives.c: an operation, begun or ended. Those of MPI_COMM_WORLD that the replay has are one line; others are
 * messages: trees for bcast, reduce, allreduce and barrier, a chain for scans, one message for each pair where all talk
 * to all. Operations that do not block are messages without order, begun here and awaited where the request was
 * completed. */
void ti_collective(struct ti *ti, struct track *t, const struct act *m);

#endif
