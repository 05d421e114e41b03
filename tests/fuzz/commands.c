/* SPDX-License-Identifier: BSD-3-Clause
 * commands - fuzzes what people do with a trace: the commands that read one, in this process
 *
 * What they print goes to /dev/null. The trace is also compared with itself, and with another one.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "tests/fuzz/container.h"
#include "tests/fuzz/fuzz.h"

#define ARGUMENTS 7

/* %: the trace; %d: a folder or file to write to, which is removed again. */
static const struct command {
	int (*run)(int argc, char **argv);
	const char *arguments[ARGUMENTS + 1];
} commands[] = {
	{cmd_verify, {"verify", "%"}},
	{cmd_stat, {"stat", "%"}},
	{cmd_show, {"show", "%", "--json"}},
	{cmd_show, {"show", "%", "--sites"}},
	{cmd_show, {"show", "%", "--loops"}},
	{cmd_show, {"show", "%", "--matrix"}},
	{cmd_show, {"show", "%", "--last"}},
	{cmd_diff, {"diff", "%", "%", "--all"}},
	{cmd_dump, {"dump", "%", "--times", "--count", "50"}},
	{cmd_export, {"export", "%", "--chrome", "%d"}},
	{cmd_export, {"export", "%", "--simgrid", "%d"}},
	{cmd_export, {"export", "%", "--otf2", "%d"}},
	{cmd_proxy, {"proxy", "%", "--no-run", "-o", "%d"}},
	{cmd_proxy, {"proxy", "%", "--no-run", "--partial", "--scale=0.25", "-o", "%d"}},
	{cmd_report, {"report", "%", "-o", "%d"}},
};

static char output[64];

static void output_remove(void)
{
	char command[128];
	if (access(output, F_OK) == 0) {
		snprintf(command, sizeof command, "rm -rf %s", output);
		if (system(command))
			abort();
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return container_mutate(data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *file = malloc(size + 1);
	if (!output[0]) {
		if (!freopen("/dev/null", "w", stdout))
			abort();
		if (geteuid() == 0 &&
		    (setgid(65534) ||
		     setuid(65534))) /* root opens files ahead, and would become somebody else anyway */
			abort();
		snprintf(output, sizeof output, "%.40s/fuzz-out.%d", fuzz_folder(), (int)getpid());
	}
	memcpy(file, data, size);
	container_correct(file, size);
	const char *path = fuzz_file(file, size);
	free(file);
	fflush(stderr);
	int kept = dup(STDERR_FILENO);
	if (!getenv("FUZZ_MESSAGES") && !freopen("/dev/null", "w", stderr))
		abort();
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		char *argv[ARGUMENTS + 2] = {NULL};
		int argc = 0;
		for (; commands[i].arguments[argc]; argc++) {
			const char *a = commands[i].arguments[argc];
			argv[argc] = (char *)(uintptr_t)(!strcmp(a, "%") ? path : !strcmp(a, "%d") ? output : a);
		}
		optind = 0;
		commands[i].run(argc, argv);
		output_remove();
	}
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	return 0;
}
