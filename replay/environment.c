/* SPDX-License-Identifier: BSD-3-Clause
 * environment - MPI functions that depend on the machine: names, nodes, files
 */
#include "replay/blocking.h"
#include "replay/poll.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int MPI_Get_processor_name(char *name, int *length)
{
	if (replay_outcome.refused)
		return outcome_refused();
	int rc = PMPI_Get_processor_name(name, length);
	if (rc == MPI_SUCCESS && replay_outcome.text && strlen(replay_outcome.text) < MPI_MAX_PROCESSOR_NAME) {
		strcpy(name, replay_outcome.text);
		*length = (int)strlen(name);
	}
	return rc;
}

/* Whoever shared memory then is one group now, wherever the ranks are. */
int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
	if (replay_outcome.refused)
		return outcome_refused();
	if (split_type != MPI_COMM_TYPE_SHARED && split_type != MPI_UNDEFINED)
		return PMPI_Comm_split_type(comm, split_type, key, info, newcomm);
	poll_barrier(comm);
	return PMPI_Comm_split(comm, split_type == MPI_UNDEFINED ? MPI_UNDEFINED : replay_outcome.node, key, newcomm);
}

/* A file's place in the scratch folder: the whole path as one name, so that nothing else is ever touched. Longer names
 * than a file may have are cut, with a hash of the whole. */
static const char *scratch_path(const char *name)
{
	static _Thread_local char path[8192];
	size_t n = (size_t)snprintf(path, sizeof path - 1024, "%s/", replay_outcome.scratch), begin = n;
	unsigned long long hash = 14695981039346656037u;
	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211u;
	for (const char *c = name; *c && n - begin < 200; c++) {
		if (*c == '/' || *c == '%' || *c == ':')
			n += (size_t)snprintf(path + n, 8, "%%%02x", (unsigned char)*c);
		else
			path[n++] = *c;
	}
	path[n] = '\0';
	if (strlen(name) >= 190)
		snprintf(path + n, 24, "%%%016llx", hash);
	return path;
}

/* What the application found there, is there. */
static void create_file(const char *path, long long size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (size >= 0 && ftruncate(fd, size) != 0)
		perror(path);
	close(fd);
}

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
	if (replay_outcome.refused)
		return outcome_refused();
	const char *path = scratch_path(filename);
	if (replay_outcome.error)
		return replay_outcome.error;
	/* also where rank 0 would make it: in Open MPI 4.1 others may open it before, fail, and leave rank 0 waiting */
	if (!(amode & MPI_MODE_EXCL))
		create_file(path, -1);
	poll_barrier(comm);
	int rc = PMPI_File_open(comm, path, amode, info, fh);
	if (rc == MPI_SUCCESS)
		blocking_register(HANDLE_BITS(*fh), comm);
	return rc;
}

int MPI_File_delete(const char *filename, MPI_Info info)
{
	if (replay_outcome.refused)
		return outcome_refused();
	const char *path = scratch_path(filename);
	if (replay_outcome.error)
		return replay_outcome.error;
	create_file(path, -1);
	return PMPI_File_delete(path, info);
}

/* The size that the file had; if the application found it so, it is made so. */
int MPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
	if (replay_outcome.error)
		return replay_outcome.error;
	int rc = PMPI_File_get_size(fh, size);
	if (rc == MPI_SUCCESS)
		*size = replay_outcome.size;
	return rc;
}
