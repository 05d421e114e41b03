/* SPDX-License-Identifier: BSD-3-Clause
 * world - the trace of one MPI_COMM_WORLD while it is put together: from a rank's own trace, from arenas, from parts
 *
 * The ranks of a node that could not be merged with the others are a *part*. A part is in canonical order, but it is
 * not refined and keeps all bins of its times, so that parts give the same bytes in the end as if all ranks had been
 * merged at once. What is whole (no rank is missing), is final.
 */
#ifndef SPOOR_WORLD_H
#define SPOOR_WORLD_H

#include <stdbool.h>

#include "trace/base/arena.h"
#include "trace/base/budget.h"
#include "trace/base/facts.h"
#include "trace/model/trace.h"
#include "trace/base/varint.h"

/* More hosts than this are not listed in facts and metadata: the trace knows the host of each rank, and they must not
 * grow with the machine. */
#define HOSTS_LISTED 1024

struct world {
	struct trace trace;        /* packed (trace/model/packed.h) */
	uint64_t id;               /* equal for the ranks of one MPI_COMM_WORLD */
	struct facts facts;        /* of the process of the lowest rank */
	uint32_t facts_rank;       /* which that is; UINT32_MAX: none yet */
	uint64_t start_ns, end_ns; /* of that rank, since 1970; end_ns 0: it did not come to MPI_Finalize */
	uint64_t unfinished;       /* ranks that did not come to MPI_Finalize */
	bool aborted;              /* a rank was in MPI_Abort */
};

/* What merging may take in a process of the job that has recorded in an arena of so many bytes. */
struct budget world_budget(uint64_t arena);

/* Returns 0 or -1 (no memory). The caller frees it in any case. */
int world_init(struct world *w, uint64_t id);
void world_free(struct world *w);

/* What an open arena says: its stream (trace/model/stream.h) and world. Returns 0; 1 if its process never initialised
 * MPI; -1 with error set (`name` is its path). */
int world_identify(const struct arena *a, const char *name, uint64_t *id, uint32_t *stream, struct error *error);
/* What an open arena says of its process, without its events. */
void world_add_process(struct world *w, const struct arena *a);
/* The ranks of another world, whose trace is used up. Returns 0, or -1 with error set; then nothing was added, unless
 * memory ran out. */
int world_take(struct world *w, struct world *from, struct error *error);
/* A trace, in the form in which the tracer or a salvage left it, with its facts. Returns 0, or -1 with error set. */
int world_add_trace(struct world *w, const struct trace *t, const struct facts *facts, struct error *error);

/* Ranks of MPI_COMM_WORLD that are not there. */
uint64_t world_missing(const struct world *w);

/* The raw trace: in canonical order, refined if no rank is missing, with the facts (doc/metadata.md: partial,
 * ranks_missing, ranks_unfinished, aborted, hosts, ...). ended_ns: when it ended if rank 0 does not say (0: not known).
 * The trace is used up. *bytes is malloc'ed. Returns 0, or -1 with error set. */
int world_encode(struct world *w, uint64_t ended_ns, uint8_t **bytes, size_t *size, struct error *error);

#endif
