/* SPDX-License-Identifier: BSD-3-Clause
 * main - the command `spoor`: finds the subcommand and runs it
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/open.h"
#include "policy/suggest.h"
#include "trace/base/budget.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	bool limited; /* it reads traces, and knows --limit */
} commands[] = {
	{"run", cmd_run, "trace a command without Slurm: mpirun, mpiexec, or one process", false},
	{"list", cmd_list, "list the traces of the archive", false},
	{"aggregate", cmd_aggregate, "add up what the traces of the archive say", true},
	{"index", cmd_index, "bring the index of the archive up to date", true},
	{"show", cmd_show, "show what a trace is of", true},
	{"dump", cmd_dump, "print every event of a trace", true},
	{"export", cmd_export, "write a trace for other tools: Vampir, Perfetto, SimGrid", true},
	{"report", cmd_report, "write a page that explains where a job's time went", true},
	{"replay", cmd_replay, "run a trace as an MPI program again; --check compares", true},
	{"stat", cmd_stat, "print the size of a trace by part", true},
	{"merge", cmd_merge, "merge arenas, and parts of a trace, into one trace", true},
	{"verify", cmd_verify, "check that traces are whole and can be decoded", true},
	{"policy", cmd_policy, "check a site's policy, or explain what it does with a job", false},
	{"prune", cmd_prune, "remove traces that have had their time", false},
	{"setup", cmd_setup, "make the folders that the policy names", false},
	{"sweep", cmd_sweep, "deliver what earlier steps had to keep in this node's spool", false},
	{"diff", cmd_diff, "compare two traces call site by call site", true},
	{"doctor", cmd_doctor, "check this installation", false},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void usage(FILE *out)
{
	fputs("Usage: spoor COMMAND [ARGUMENT...]\n"
	      "Traces of MPI jobs: small, merged, archived with the job's metadata.\n\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\n`spoor COMMAND --help` says more about one. In Slurm, jobs are traced by the site's policy and by\n"
	      "sbatch|srun|salloc --trace[=off|on|lossless|lossy[:N]], or SPOOR_TRACE=... in the environment.\n",
	      out);
}

static int unknown(const char *name)
{
	const char *names[COMMANDS];

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	const char *near = suggest(name, names, COMMANDS);
	fprintf(stderr, "spoor: unknown command \"%s\"", name);
	if (near)
		fprintf(stderr, "; did you mean \"%s\"?\n", near);
	else
		fputs("; `spoor --help` lists them\n", stderr);
	return CMD_USAGE;
}

/* --limit TIMES, which all commands have that read traces, anywhere in front of `--`: takes it out of the arguments.
 * Returns 0, or -1 after a message. */
static int take_limit(int *argc, char **argv)
{
	static const char name[] = "--limit";
	int kept = 1;
	for (int i = 1; i < *argc; i++) {
		bool last = !strcmp(argv[i], "--"),
		     glued = !strncmp(argv[i], name, sizeof name - 1) && argv[i][sizeof name - 1] == '=';
		if (last || (!glued && strcmp(argv[i], name))) {
			while (last && i + 1 < *argc)
				argv[kept++] = argv[i++];
			argv[kept++] = argv[i];
			continue;
		}
		const char *text = glued ? argv[i] + sizeof name : i + 1 < *argc ? argv[++i] : "";
		char *end;
		double times = strtod(text, &end);
		if (end == text || *end || !(times > 0 && times <= 1e12)) {
			fprintf(stderr,
			        "spoor %s: --limit: expected how many times the memory and the steps that reading a "
			        "trace may take, such as 10, not \"%s\"\n",
			        argv[0], text);
			return -1;
		}
		budget_raise(times);
	}
	argv[ *argc = kept] = NULL;
	return 0;
}

/* What was printed has to be written: a full disk is not success. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		perror("spoor: stdout");
		return status ? status : CMD_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		usage(stdout);
		return finish(CMD_OK);
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("spoor " PACKAGE_VERSION);
		return finish(CMD_OK);
	}
	if (argc < 2) {
		usage(stderr);
		return CMD_USAGE;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(name, commands[i].name))
			continue;
		argc--;
		argv++;
		if (commands[i].limited && take_limit(&argc, argv) != 0)
			return CMD_USAGE;
		return finish(open_finish(commands[i].run(argc, argv)));
	}
	return unknown(name);
}
