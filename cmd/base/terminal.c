/* SPDX-License-Identifier: BSD-3-Clause
 * terminal - what stdout is, and a pager in front of it
 */
#include "cmd/base/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/process.h"
#include "cmd/base/sink.h"
#include "trace/base/number.h"

static bool is_terminal;
static int columns;
static pid_t pager;
static bool coloured;

static int find_columns(void)
{
	int number = number_variable("COLUMNS", 0);
	struct winsize size;

	if (number > 0)
		return number;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static bool wants_colours(void)
{
	const char *wanted = getenv("SPOOR_COLOR"), *none = getenv("NO_COLOR"), *type = getenv("TERM");

	if (wanted && (!strcmp(wanted, "always") || !strcmp(wanted, "never")))
		return *wanted == 'a';
	return is_terminal && !(none && *none) && type && strcmp(type, "dumb");
}

static const char *pager_command(void)
{
	const char *command = getenv("SPOOR_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = access("/usr/bin/less", X_OK) == 0 ? "less" : "";
	return *command && strcmp(command, "cat") ? command : NULL;
}

/* In the child. F: end at once if all fits; R: colours; X: leave what was shown. */
static void prepare_pager(void *context)
{
	const int *ends = context;
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	setenv("LESS", "FRX", 0);
	if (geteuid() == 0)
		setenv("LESSSECURE", "1", 1); /* what is shown is of users: no commands from there */
}

void terminal_begin(bool pages)
{
	const char *command = pager_command();
	int ends[2];

	is_terminal = isatty(STDOUT_FILENO);
	columns = is_terminal ? find_columns() : 0;
	coloured = wants_colours();
	/* Open MPI gives its ranks a terminal as stdout, but none as stdin. */
	if (!pages || !is_terminal || !isatty(STDIN_FILENO) || !command || pipe(ends) != 0)
		return;
	char *const argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)command, NULL};
	pager = process_own(NULL, argv, prepare_pager, ends);
	if (pager > 0)
		dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
}

void terminal_end(void)
{
	if (pager <= 0)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}

bool terminal_is(void)
{
	return is_terminal;
}

void terminal_print_mark(FILE *out, enum mark mark)
{
	if (coloured)
		say_to(out, mark == MARK_GOOD   ? "\033[32m"
		            : mark == MARK_FAIR ? "\033[33m"
		            : mark == MARK_BAD  ? "\033[31m"
		                                : "\033[m");
}

int terminal_width(void)
{
	return columns;
}

bool terminal_is_narrow(int wanted)
{
	return columns > 0 && columns < wanted;
}
