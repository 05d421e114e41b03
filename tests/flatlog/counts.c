/* SPDX-License-Identifier: BSD-3-Clause
 * counts - how often each function was called: for programs whose lines would fill a disk
 *
 * A call counts when it begins, also if it never comes back. The file is written where MPI_Finalize or MPI_Abort
 * begins.
 */
#include "tests/flatlog/flatlog.h"

#include <unistd.h>

enum { MOST = 1024 }; /* more than MPI has functions */

static struct count {
	const char *function;
	unsigned long calls;
} counts[MOST];
static bool written;

/* The wrappers in C and in Fortran have texts of their own, with the same letters. */
static struct count *count_of(const char *function)
{
	struct count *c = counts;

	while (c->function && c->function != function && strcmp(c->function, function) != 0)
		c++;
	c->function = function;
	return c;
}

static void counts_write(const char *folder)
{
	char *path;
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	FILE *file = asprintf(&path, "%s/%d.counts", folder, rank) < 0 ? NULL : fopen(path, "w");
	for (const struct count *c = counts; file && c->function; c++)
		fprintf(file, "%s %lu\n", c->function, c->calls);
	if (!file || fclose(file) != 0) {
		fprintf(stderr, "flatlog: %s: cannot write\n", path);
		_exit(99);
	}
	free(path);
	written = true;
}

void counts_count(const char *function)
{
	pthread_mutex_lock(&flatlog_lock);
	if (!written)
		count_of(function)->calls++;
	if (!written && (strcmp(function, "MPI_Finalize") == 0 || strcmp(function, "MPI_Abort") == 0))
		counts_write(getenv("FLATLOG_COUNTS"));
	pthread_mutex_unlock(&flatlog_lock);
}
