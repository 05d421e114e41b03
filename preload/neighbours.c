/* SPDX-License-Identifier: BSD-3-Clause
 * neighbours - which ranks of this node are traced
 */
#include "preload/neighbours.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/number.h"

static int by_rank(const void *a, const void *b)
{
	const int *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static bool is_early(const char *name)
{
	const char *at = name + strlen("rank-");
	char *end, text[64];
	uint64_t process;

	if (strncmp(name, "rank-", strlen("rank-")) != 0 || number_read(&at, INT32_MAX, &process) != 0 || *at != '-')
		return false;
	unsigned long long time = strtoull(at + 1, &end, 16);
	snprintf(text, sizeof text, NEIGHBOURS_ARENA_EARLY, (long)process, time);
	return strcmp(name, text) == 0;
}

/* The rank whose arena has this name; -1 if it is none of the world's on this host. */
static int rank_of(const char *name, uint64_t world, uint32_t host, int size)
{
	const size_t before = strlen("rank-0123456789abcdef-");
	const char *at = name + before;
	char text[64];
	uint64_t rank;

	if (strnlen(name, before) < before || number_read(&at, INT32_MAX, &rank) != 0 || rank >= (uint64_t)size)
		return -1;
	snprintf(text, sizeof text, NEIGHBOURS_ARENA, (unsigned long long)world, (unsigned)rank, host);
	return strcmp(name, text) == 0 ? (int)rank : -1;
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
