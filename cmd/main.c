/* SPDX-License-Identifier: BSD-3-Clause
 * main - the command `spoor`: finds the subcommand and runs it
 */
#include <errno.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/sink.h"
#include "cmd/base/terminal.h"
#include "policy/suggest.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	bool pages; /* what it prints is for people: on a terminal it goes through a pager */
} commands[] = {
	{"run", cmd_run, "trace a command without Slurm: mpirun, mpiexec, or one process", false},
	{"list", cmd_list, "list the traces of the archive", true},
	{"aggregate", cmd_aggregate, "add up what the traces of the archive say", true},
	{"trend", cmd_trend, "find applications and nodes that became slower", true},
	{"index", cmd_index, "bring the index of the archive up to date", false},
	{"show", cmd_show, "show a summary of a trace", true},
	{"why", cmd_why, "say why a job was slow, or did not end, and what to try", true},
	{"what-if", cmd_what_if, "say what a run would save without each cause of lost time", true},
	{"scale", cmd_scale, "say how an application would scale to more ranks", true},
	{"extrapolate", cmd_extrapolate, "write the trace of a larger run, from traces of smaller ones", false},
	{"place", cmd_place, "say how the ranks of a job would sit better on its nodes", true},
	{"where", cmd_where, "show where the ranks of a running job are, and for how long", false},
	{"top", cmd_top, "show the traced jobs that run, one a line", false},
	{"watch", cmd_watch, "tell of running jobs that hang; for cron or a systemd timer", false},
	{"dump", cmd_dump, "print every event of a trace", true},
	{"export", cmd_export, "write a trace for other tools: Vampir, Perfetto, SimGrid", false},
	{"report", cmd_report, "write a page that explains where a job's time went", false},
	{"proxy", cmd_proxy, "write a small C program that makes the calls of a trace", false},
	{"replay", cmd_replay, "run a trace as an MPI program again; --check compares", false},
	{"stat", cmd_stat, "print the size of a trace by part", true},
	{"merge", cmd_merge, "merge arenas, and parts of a trace, into one trace", false},
	{"verify", cmd_verify, "check that traces are whole and can be decoded", false},
	{"policy", cmd_policy, "check a site's policy, or explain what it does with a job", false},
	{"prune", cmd_prune, "remove expired traces", false},
	{"setup", cmd_setup, "make the folders that the policy names", false},
	{"sweep", cmd_sweep, "deliver what earlier steps had to keep in this node's spool", false},
	{"diff", cmd_diff, "compare two traces call site by call site", true},
	{"doctor", cmd_doctor, "check this installation", false},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void usage(FILE *out)
{
	say_to(out, "Usage: spoor COMMAND [ARGUMENT...]\n"
	            "Traces of MPI jobs: small, merged, archived with the job's metadata.\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		say_to(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	say_to(out,
	       "\n`spoor COMMAND --help` says more about one. In Slurm, jobs are traced by the site's policy and by\n"
	       "sbatch|srun|salloc --trace[=off|on|lossless|lossy[:N]], or SPOOR_TRACE=... in the environment.\n");
}

static int unknown_command(const char *name)
{
	const char *names[COMMANDS];

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	const char *near = suggest(name, names, COMMANDS);
	say_to(stderr, "spoor: unknown command \"%s\"", name);
	if (near)
		say_to(stderr, "; did you mean \"%s\"?\n", near);
	else
		say_to(stderr, "; `spoor --help` lists them\n");
	return CMD_USAGE;
}

/* What was printed has to be written: a full disk is not success. */
static int end_command(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		say_to(stderr, "spoor: stdout: %s\n", strerror(errno));
		return status ? status : CMD_FAILED;
	}
	return status;
}

bool cmd_child_ignored;

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	cmd_child_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;

	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		usage(stdout);
		return end_command(CMD_OK);
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		say("spoor " PACKAGE_VERSION "\n");
		return end_command(CMD_OK);
	}
	if (argc < 2) {
		usage(stderr);
		return CMD_USAGE;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(name, commands[i].name))
			continue;
		terminal_begin(commands[i].pages);
		int status = end_command(open_finish(commands[i].run(argc - 1, argv + 1)));
		terminal_end();
		return status;
	}
	return unknown_command(name);
}
