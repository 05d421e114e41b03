/* SPDX-License-Identifier: BSD-3-Clause
 * salvage - makes a trace of the arenas that ranks left behind: they were killed, or did not find each other at
 * MPI_Finalize
 */
#ifndef SPOOR_SALVAGE_H
#define SPOOR_SALVAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/world.h"

struct salvage {
	/* Takes a raw trace that could not be written to the folder because that is full. Returns 0 if it is safe
	 * elsewhere; then its arenas are removed. NULL: the arenas stay. */
	int (*deliver)(void *context, const uint8_t *bytes, size_t size);
	/* Is told what should be known: one line. May be NULL. */
	void (*tell)(void *context, const char *text);
	void *context;
	/* When the processes ended, in ns since 1970; 0: not known. Ranks that ended before that: RANK:NS,RANK:NS,...
	 * or NULL. */
	int64_t ended_ns;
	const char *exits;
	/* arenas that cannot be read; else they stay. Those of another build of spoor always stay. */
	bool remove_damaged;
	/* results */
	size_t made;    /* traces */
	size_t running; /* arenas whose process is still there: left alone */
	size_t damaged; /* arenas that could not be read */
};

/* Adds an open arena to its world, and uses it up. Returns 0, or -1 with error set (`name` is its path): it is of
 * another world, it cannot be read, a reader would refuse what was read, or its rank is there already. Then nothing was
 * added, unless memory ran out. */
int salvage_arena(struct world *w, struct arena *a, const char *name, struct error *error);

/* Is the process of an arena still there? A recorder holds a lock on its arena, which this takes for a moment where
 * nobody has it: so not of an arena that may just be made, whose recorder would go without. */
bool salvage_is_running(const char *path);
/* How many arenas in a folder are of processes that are still there. */
size_t salvage_running(const char *folder);

/* Looks at all arenas (`*.arena`) in a folder. Those of one MPI_COMM_WORLD become one file `world-<hex>.spoor` in the
 * same folder, in the form in which the tracer leaves it, a part (merge/world.h) if ranks are missing; then they are
 * removed. An arena of a process that never initialised MPI, or whose rank is in the world's file already, is removed.
 * Returns 0, or -1 with error set (the first one): the folder cannot be read, or something is left that is no running
 * process's. */
int salvage_folder(struct salvage *s, const char *folder, struct error *error);

#endif
