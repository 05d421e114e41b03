/* SPDX-License-Identifier: BSD-3-Clause
 * starter - spoor-replay: becomes spoor-replay-openmpi or spoor-replay-mpich, as is the MPI library whose launcher
 * started it
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/base/tasks.h"
#include "process/process.h"

/* The program for an MPI library is beside this one. Valid until the next call. */
static const char *program_for(const char *mpi)
{
	static char path[PATH_MAX + 16];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);

	if (n < 0)
		return "";
	snprintf(path + n, 16, "-%s", mpi);
	return path;
}

static void be_silent(void *context)
{
	(void)context;
	int nothing = open("/dev/null", O_WRONLY);
	dup2(nothing, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
}

/* Does a program end well? It says nothing. */
static bool ends_well(const char *program, char **argv)
{
	int status;
	char *own[64] = {(char *)(uintptr_t)program};

	for (int i = 1; argv[i]; i++) {
		if (i == 63)
			return false;
		own[i] = argv[i];
	}
	pid_t pid = process_own(NULL, own, be_silent, NULL);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Only whether the trace can be replayed is asked: with one of them is enough. The last one says why not. */
static bool is_plan(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--plan") == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const char *mpi = is_plan(argc, argv) ? NULL : tasks_mpi();

	for (int i = 0; !mpi && TASKS_MPI[i]; i++) {
		if (access(program_for(TASKS_MPI[i]), X_OK) != 0)
			continue;
		if (!is_plan(argc, argv) || !TASKS_MPI[i + 1] || access(program_for(TASKS_MPI[i + 1]), X_OK) != 0)
			mpi = TASKS_MPI[i];
		else if (ends_well(program_for(TASKS_MPI[i]), argv))
			return 0;
	}
	mpi = mpi ? mpi : TASKS_MPI[0];
	process_replace(program_for(mpi), argv);
	fprintf(stderr, "spoor-replay: %s: %s: there is no replay for this launcher's MPI library, %s\n",
	        program_for(mpi), strerror(errno), mpi);
	return 127;
}
