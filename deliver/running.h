/* SPDX-License-Identifier: BSD-3-Clause
 * running - traces of what processes that still run have recorded so far, from copies of their arenas
 *
 * The processes are not stopped, and need not know (trace/base/snapshot.h). Nothing in the folder is changed.
 */
#ifndef SPOOR_RUNNING_H
#define SPOOR_RUNNING_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"

struct running {
	/* Takes a raw trace (merge/world.h) of one MPI_COMM_WORLD: those of its ranks whose arenas are here. The bytes
	 * are not kept. Returns 0, or -1 with error set. */
	int (*take)(void *context, const uint8_t *bytes, size_t size, struct error *error);
	void *context;
	/* results: arenas that were read, whose process has not initialised MPI yet, that could not be read */
	size_t arenas, early, unread;
	struct error first; /* why the first one of the latter */
};

/* Reads all arenas (`*.arena`) of the caller in a folder. Those that vanish meanwhile, or cannot be read, are left out.
 * Returns 0, or -1 with error set: the folder cannot be read, no memory, or `take` failed. */
int running_read(struct running *r, const char *folder, struct error *error);

#endif
