/* SPDX-License-Identifier: BSD-3-Clause
 * neighbours - which ranks of this node are traced, as far as that can be seen without asking them
 *
 * Every traced process makes an arena at its first MPI call, so before MPI_Init can return anywhere, and gives it the
 * name of its rank when it knows that. A rank without an arena is not traced.
 */
#ifndef SPOOR_NEIGHBOURS_H
#define SPOOR_NEIGHBOURS_H

#include <stdint.h>

#define NEIGHBOURS_ARENA "rank-%016llx-%u-%08x.arena" /* world, rank, host */
#define NEIGHBOURS_ARENA_EARLY \
	"rank-%ld-%llx.arena" /* process, time: of a rank that does not know its number yet, of whatever world */

struct neighbours {
	int *ranks; /* of the world, ascending, those that have an arena here; malloc'ed */
	int count;
	int early; /* arenas that are no rank's yet */
};

/* Looks at the arenas in the node's folder. Returns 0, or -1: no memory, or the folder cannot be read. ranks is to be
 * freed in any case. */
int neighbours_look(struct neighbours *node, const char *folder, uint64_t world, uint32_t host, int size);

#endif
