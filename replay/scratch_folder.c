/* SPDX-License-Identifier: BSD-3-Clause
 * scratch_folder - where the application's files are in the replay
 */
#include "replay/scratch_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "replay/outcome.h"

int scratch_folder_create(struct scratch_folder *f, const char *name)
{
	const char *temporary = getenv("TMPDIR");
	int rank;
	f->temporary = !name;
	if (name) {
		snprintf(f->path, sizeof f->path, "%s", name);
	} else {
		PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
		if (rank == 0) {
			snprintf(f->path, sizeof f->path, "%s/spoor-replay.XXXXXX",
			         temporary && *temporary == '/' ? temporary : "/tmp");
			if (!mkdtemp(f->path))
				f->path[0] = '\0';
		}
		PMPI_Bcast(f->path, sizeof f->path, MPI_CHAR, 0, MPI_COMM_WORLD);
	}
	return f->path[0] && (mkdir(f->path, 0700) == 0 || errno == EEXIST) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *f)
{
	(void)s, (void)kind, (void)f;
	remove(path);
	return 0;
}

void scratch_folder_remove(const struct scratch_folder *f)
{
	if (!f->temporary)
		return;
	PMPI_Barrier(MPI_COMM_WORLD);
	nftw(f->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
