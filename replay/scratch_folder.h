/* SPDX-License-Identifier: BSD-3-Clause
 * scratch_folder - where the application's files are in the replay
 */
#ifndef SPOOR_SCRATCH_FOLDER_H
#define SPOOR_SCRATCH_FOLDER_H

#include <limits.h>
#include <stdbool.h>

struct scratch_folder {
	char path[PATH_MAX];
	bool temporary; /* it is removed at the end */
};

/* Makes the folder: the named one, or if that is NULL one of our own, for all ranks. Collective on MPI_COMM_WORLD.
 * Returns 0, or -1 if there is none. */
int scratch_folder_create(struct scratch_folder *f, const char *name);
/* Collective. */
void scratch_folder_remove(const struct scratch_folder *f);

#endif
