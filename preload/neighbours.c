/* SPDX-License-Identifier: BSD-3-Clause
 * neighbours - which ranks of this node are traced
 */
#include "preload/neighbours.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int by_rank(const void *a, const void *b)
{
	const int *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static bool is_early(const char *name)
{
	long process;
	unsigned long long time;
	int end = 0;

	return sscanf(name, NEIGHBOURS_ARENA_EARLY "%n", &process, &time, &end) == 2 && end > 0 && !name[end];
}

/* The rank whose arena has this name; -1 if it is none of the world's on this host. */
static int rank_of(const char *name, uint64_t world, uint32_t host, int size)
{
	unsigned long long its_world;
	unsigned rank, its_host;
	int end = 0;

	if (sscanf(name, NEIGHBOURS_ARENA "%n", &its_world, &rank, &its_host, &end) != 3 || end == 0 || name[end] ||
	    its_world != world || its_host != host || rank >= (unsigned)size)
		return -1;
	return (int)rank;
}

int neighbours_look(struct neighbours *node, const char *folder, uint64_t world, uint32_t host, int size)
{
	int capacity = 0, rv = 0;
	DIR *dir = opendir(folder);

	*node = (struct neighbours){.count = 0};
	for (struct dirent *e; dir && (e = readdir(dir));) {
		int rank = rank_of(e->d_name, world, host, size);

		node->early += rank < 0 && is_early(e->d_name);
		if (rank < 0)
			continue;
		if (node->count == capacity) {
			capacity = capacity ? 2 * capacity : 64;
			int *more = realloc(node->ranks, (size_t)capacity * sizeof(*more));

			if (!more) {
				rv = -1;
				break;
			}
			node->ranks = more;
		}
		node->ranks[node->count++] = rank;
	}
	if (dir)
		closedir(dir);
	if (node->count > 0)
		qsort(node->ranks, (size_t)node->count, sizeof(*node->ranks), by_rank);
	return dir ? rv : -1;
}

static int read_number(const char *variable)
{
	const char *value = getenv(variable);
	long n = value ? strtol(value, NULL, 10) : 0;

	return n > 0 && n < INT32_MAX ? (int)n : 0;
}

/* Of Slurm's list of tasks per node, 4(x3),2, the entry of this node. */
static int tasks_here(void)
{
	const char *at = getenv("SLURM_STEP_TASKS_PER_NODE"), *node = getenv("SLURM_NODEID");
	long left = node ? strtol(node, NULL, 10) : -1;

	while (at && *at && left >= 0) {
		char *end;
		long tasks = strtol(at, &end, 10), nodes = 1;

		if (end == at || tasks <= 0 || tasks >= INT32_MAX)
			return 0;
		if (end[0] == '(' && end[1] == 'x')
			nodes = strtol(end + 2, &end, 10), end += *end == ')';
		if (left < nodes)
			return (int)tasks;
		left -= nodes;
		at = *end == ',' ? end + 1 : "";
	}
	return 0;
}

int neighbours_expected(int size)
{
	if (read_number("OMPI_COMM_WORLD_SIZE") == size)
		return read_number("OMPI_COMM_WORLD_LOCAL_SIZE");
	if (read_number("PMI_SIZE") == size && read_number("MPI_LOCALNRANKS"))
		return read_number("MPI_LOCALNRANKS");
	return read_number("SLURM_STEP_NUM_TASKS") == size ? tasks_here() : 0;
}
