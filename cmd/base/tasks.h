/* SPDX-License-Identifier: BSD-3-Clause
 * tasks - processes that do one command together: the tasks of an MPI job, or one alone
 *
 * `spoor` itself knows no MPI library: as one of several tasks it becomes spoor-aggregate-openmpi or
 * spoor-aggregate-mpich (tasks_mpi.c), which do.
 */
#ifndef SPOOR_TASKS_H
#define SPOOR_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tasks {
	unsigned rank, size;
	/* Waits until all are here. True if it went well with all of them. NULL in a team of one. */
	bool (*agree)(bool well);
	/* Rank 0 gets the bytes of each other rank through take, in order of ranks. Returns 0, or -1: take said so, or
	 * no memory. NULL in a team of one. */
	int (*gather)(const uint8_t *bytes, size_t size, int (*take)(void *context, const uint8_t *bytes, size_t size),
	              void *context);
};

/* True if all members are well. */
static inline bool tasks_agree(const struct tasks *t, bool well)
{
	return t->agree ? t->agree(well) : well;
}

/* How many tasks the launcher says that there are (srun, mpirun, mpiexec), and which of them this is. 1 without one. */
unsigned tasks_expected(unsigned *rank);

/* The MPI libraries that there are programs for, as their names end; NULL is behind the last. */
#define TASKS_MPI ((const char *const[]){"openmpi", "mpich", NULL})
/* The one whose launcher started this process; NULL: none of them did. */
const char *tasks_mpi(void);

/* The command, in a team; argv[0] is its name. Returns the exit status. */
int aggregate_run(int argc, char **argv, const struct tasks *team);

#endif
