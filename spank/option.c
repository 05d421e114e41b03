/* SPDX-License-Identifier: BSD-3-Clause
 * option - --trace and --spoor
 *
 * Slurm calls the callback more than once in a context (the command line, then what a surrounding sbatch handed down):
 * the last call counts, and a call changes nothing but the value, and the variable that says which option was last.
 */
#include "spank/option.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/choice.h"

enum { TRACE, SPOOR, OPTIONS };
static const char *const names[OPTIONS] = {"trace", "spoor"};
static bool given[OPTIONS];
static int last;
static char values[OPTIONS][CHOICE_SIZE];

static void print_help(void)
{
	char expected[SETTING_EXPECTED_SIZE];

	puts("--trace[=MODE][,SETTING=VALUE]...    (--spoor is the same; SPOOR_TRACE=... in the environment)\n"
	     "MODE: on (the site's own; also without MODE), off, lossless, lossy, lossy:N. SETTING:");
	for (size_t i = 0; i < setting_count; i++)
		if (setting_table[i].tracer)
			printf("  %-14s %s; %s\n", setting_table[i].name, setting_table[i].help,
			       setting_expected(&setting_table[i], expected));
	fflush(stdout);
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The option's argument needs a `=`: of "srun --trace lossless ./a.out" Slurm takes `lossless` for the program. What
 * follows a file may be for the program or the script. */
static void tell_of_blank(const char *name)
{
	static char text[16384];
	static bool told;
	struct choice choice;
	int fd = told ? -1 : open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (const char *word = text + strlen(text) + 1, *next; word < text + n && !is_file(word); word = next) {
		next = word + strlen(word) + 1;
		if (strncmp(word, "--", 2) || strcmp(word + 2, name) || next >= text + n || !*next || is_file(next) ||
		    choice_parse(&choice, next, NULL))
			continue;
		slurm_error("spoor: write --%s=%.60s, with a \"=\": after a blank \"%.60s\" is taken for the program",
		            name, next, next);
		told = true;
		return;
	}
}

/* Slurm hands both options to the nodes in an order of its own: the environment says which came last. */
static void note_last(int option)
{
	if (given[!option] || getenv(OPTION_VARIABLE_LAST))
		setenv(OPTION_VARIABLE_LAST, names[option], 1);
}

static int take_option(int option, const char *argument, int remote)
{
	struct choice choice;
	struct error error = {""};

	if (!argument && !remote)
		tell_of_blank(names[option]);
	/* Slurm hands an option without a value down to steps as "(null)". */
	if (!argument || !*argument || !strcmp(argument, "(null)"))
		argument = "on";
	if (!remote && !strcmp(argument, "help")) {
		print_help();
		return -1;
	}
	if (!remote && choice_parse(&choice, argument, &error)) {
		slurm_error("spoor: --%s=%s: %s; --%s=help says more", names[option], argument, error.text,
		            names[option]);
		return -1;
	}
	if (!remote)
		note_last(option);
	given[option] = true;
	last = option;
	snprintf(values[option], sizeof values[option], "%s", argument);
	return 0;
}

int option_register(spank_t spank)
{
	static struct spank_option options[] = {
		{"trace", "MODE", "capture the job's MPI calls (off, on, lossless, lossy[:N])[,SETTING=VALUE]...", 2,
	         TRACE, take_option},
		{"spoor", "MODE", "the same as --trace", 2, SPOOR, take_option},
	};

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		spank_err_t rc = spank_option_register(spank, &options[i]);
		if (rc != ESPANK_SUCCESS)
			slurm_info("spoor: the option --%s is not there: %s", options[i].name, spank_strerror(rc));
		if (spank_context() == S_CTX_ALLOCATOR) /* sbatch looks for its script before it takes the options */
			tell_of_blank(options[i].name);
	}
	return 0;
}

const char *option_value(spank_t spank)
{
	char name[16];

	if (given[TRACE] && given[SPOOR] &&
	    spank_getenv(spank, OPTION_VARIABLE_LAST, name, sizeof name) == ESPANK_SUCCESS)
		last = strcmp(name, names[SPOOR]) ? TRACE : SPOOR;
	return given[last] ? values[last] : NULL;
}

bool option_inherited(spank_t spank)
{
	char value[CHOICE_SIZE];

	return given[last] && spank_getenv(spank,
	                                   last == TRACE ? "SLURM_SPANK__SLURM_SPANK_OPTION_spoor_trace"
	                                                 : "SLURM_SPANK__SLURM_SPANK_OPTION_spoor_spoor",
	                                   value, sizeof value) == ESPANK_SUCCESS;
}
