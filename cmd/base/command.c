/* SPDX-License-Identifier: BSD-3-Clause
 * command - the command line of a launcher that starts ranks
 */
#include "cmd/base/command.h"
#include "cmd/base/sink.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/process.h"

#define PAUSE       20000000 /* ns, between two looks whether it has ended */
#define END_SECONDS 10       /* a launcher that was asked to end has so long to end its ranks */
#define END_TURNS   250      /* looks for processes that are being killed: five seconds */

int command_add(struct command *c, const char *word)
{
	if (c->count == (int)(sizeof c->words / sizeof *c->words) - 1) {
		say_to(stderr, "%s: too many arguments\n", c->name);
		return -1;
	}
	c->words[c->count++] = (char *)word;
	c->words[c->count] = NULL;
	return 0;
}

int command_add_option(struct command *c, const char *name, const char *value)
{
	return value ? command_add(c, name) || command_add(c, value) ? -1 : 0 : 0;
}

int command_add_launcher(struct command *c, char **launcher, int launcher_count, uint32_t ranks, char number[16])
{
	bool own = launcher_count && launcher[0][0] != '-', slurm = !own && getenv("SLURM_JOB_ID");
	int i = own;

	if (command_add(c, own ? launcher[0] : slurm ? "srun" : "mpirun"))
		return -1;
	snprintf(number, 16, "%u", ranks);
	if (!own && !slurm && (long)ranks > sysconf(_SC_NPROCESSORS_ONLN)) { /* Open MPI 4 and 5 want to be told */
		setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
		setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
	}
	if (command_add_option(c, "-n", number))
		return -1;
	for (; i < launcher_count; i++)
		if (command_add(c, launcher[i]))
			return -1;
	return 0;
}

int command_split(int argc, char **argv, char ***launcher, int *launcher_count)
{
	int end = 0;

	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end < argc) {
		*launcher = argv + end + 1;
		*launcher_count = argc - end - 1;
	}
	return end;
}

/* Returns its id, or -1 after a message. */
static pid_t start_command(const struct command *c)
{
	return process_own(c->name, c->words, NULL, NULL);
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_run(const struct command *c)
{
	int status;
	pid_t pid = start_command(c);

	if (pid < 0)
		return 1;
	signal(SIGINT, SIG_IGN); /* what the terminal sends, the launcher gets */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	return exit_status(status);
}

/* Its parent; 0: it is not there any more. */
static pid_t parent_of(const char *number)
{
	char path[64], line[512];
	snprintf(path, sizeof path, "/proc/%.20s/stat", number);
	FILE *f = fopen(path, "re");
	pid_t parent = 0;
	if (f && fgets(line, sizeof line, f)) {
		const char *end = strrchr(line, ')'); /* of its name, which may have any character */
		if (end && end[1] == ' ' && end[2] && end[3] == ' ')
			parent = (pid_t)atoi(end + 4);
	}
	if (f)
		fclose(f);
	return parent;
}

/* What it left behind is ours (PR_SET_CHILD_SUBREAPER), and what that left is, once that is gone. */
static void end_children(void)
{
	for (int turn = 0; turn < END_TURNS; turn++) {
		DIR *all = opendir("/proc");
		for (struct dirent *e; all && (e = readdir(all));)
			if (isdigit((unsigned char)e->d_name[0]) && parent_of(e->d_name) == getpid())
				kill((pid_t)atoi(e->d_name), SIGKILL);
		if (all)
			closedir(all);
		pid_t done;
		while ((done = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (done < 0)
			return;
		nanosleep(&(struct timespec){0, PAUSE}, NULL);
	}
}

/* Its status as of wait() in so many seconds; false: it is still there. */
static bool wait_seconds(pid_t pid, double seconds, int *status)
{
	for (double waited = 0;; waited += PAUSE * 1e-9) {
		pid_t done = waitpid(pid, status, WNOHANG);
		if (done == pid)
			return true;
		if (waited >= seconds)
			return false;
		nanosleep(&(struct timespec){0, PAUSE}, NULL);
	}
}

int command_run_within(const struct command *c, double seconds)
{
	int status = 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
	pid_t pid = start_command(c);
	if (pid < 0)
		return 1;
	signal(SIGINT, SIG_IGN);
	bool done = wait_seconds(pid, seconds, &status);
	if (!done) {
		kill(pid, SIGTERM); /* a launcher ends its ranks, on other nodes, too */
		wait_seconds(pid, END_SECONDS, &status);
		end_children();
	}
	prctl(PR_SET_CHILD_SUBREAPER, 0UL, 0UL, 0UL, 0UL);
	signal(SIGINT, SIG_DFL);
	return done ? exit_status(status) : COMMAND_TOO_LONG;
}
