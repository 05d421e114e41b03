/* SPDX-License-Identifier: BSD-3-Clause
 * command - the command line of a launcher that starts ranks
 */
#include "cmd/base/command.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int command_add(struct command *c, const char *word)
{
	if (c->count == (int)(sizeof c->words / sizeof *c->words) - 1) {
		fprintf(stderr, "%s: too many arguments\n", c->name);
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

int command_run(const struct command *c)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(c->words[0], c->words);
		fprintf(stderr, "%s: %s: %s\n", c->name, c->words[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0) {
		fprintf(stderr, "%s: no process: %s\n", c->name, strerror(errno));
		return 1;
	}
	signal(SIGINT, SIG_IGN); /* what the terminal sends, the launcher gets */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
