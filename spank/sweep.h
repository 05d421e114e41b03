/* SPDX-License-Identifier: BSD-3-Clause
 * sweep - delivers what earlier steps had to keep in a node's spool: the archive was away or full, or the node went down
 */
#ifndef SPOOR_SWEEP_H
#define SPOOR_SWEEP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/error.h"

/* A folder without facts is that of a step about to start, or of one whose node went down: so long nothing may have been made in it. */
#define SWEEP_SETTLED 60

struct sweep {
	const char *spool, *archive, *helper; /* absolute paths; helper is spoor-helper */
	gid_t group;                          /* who may read the archive; for new day folders */
	unsigned seconds;                     /* for each folder */
	int64_t settled;                      /* seconds; SWEEP_SETTLED */
	/* Is told of every folder: "FOLDER: what" (may be NULL). */
	void (*tell)(const char *text);
	size_t delivered, kept, running; /* gets how many folders were delivered, stay, belong to running steps */
};

/* Looks at each step's folder in the spool that no slurmstepd has locked, and has its owner's own process deliver it to the archive's folder of
 * today: nothing that a user can write is read here. As somebody other than root, only one's own folders. Returns 0, or -1 with
 * error set: the spool cannot be read or trusted, or the archive's folder cannot be made. */
int sweep_spool(struct sweep *s, struct error *error);

#endif
