/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_start - `spoor aggregate` alone, or as one of several tasks
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/base/sink.h"
#include "cmd/base/tasks.h"
#include "process/process.h"

/* The program that knows the launcher's MPI library. SPOOR_AGGREGATE: of a build that is not installed. */
static const char *aggregate_program(void)
{
	static char path[PATH_MAX];
	const char *own = getenv("SPOOR_AGGREGATE"), *mpi = tasks_mpi();
	snprintf(path, sizeof path, "%s-%s", own && *own ? own : SPOOR_LIBEXECDIR "/spoor-aggregate",
	         mpi ? mpi : TASKS_MPI[0]);
	return path;
}

int cmd_aggregate(int argc, char **argv)
{
	static const struct tasks alone = {0, 1, NULL, NULL};
	unsigned rank, size = tasks_expected(&rank);

	if (size > 1) {
		process_replace(aggregate_program(), argv);
		if (rank > 0)
			return CMD_OK;
		say_to(stderr, "spoor aggregate: %s: %s; the first task does the work of all\n", aggregate_program(),
		       strerror(errno));
	}
	return aggregate_run(argc, argv, &alone);
}
