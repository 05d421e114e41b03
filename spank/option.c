/* SPDX-License-Identifier: BSD-3-Clause
 * option - --trace and --spoor
 *
 * Slurm calls the callback more than once in a context (the command line, then what a surrounding sbatch handed down):
 * the last call counts, and a call changes nothing but the value.
 */
#include "spank/option.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "policy/choice.h"

static bool given;
static char value[CHOICE_SIZE];

static int take_option(int val, const char *argument, int remote)
{
	struct choice choice;
	struct error error = {""};

	(void)val;
	/* Slurm hands an option without a value down to steps as "(null)". */
	if (!argument || !*argument || !strcmp(argument, "(null)"))
		argument = "on";
	if (!remote && choice_parse(&choice, argument, &error)) {
		slurm_error("spoor: --trace=%s: %s", argument, error.text);
		return -1;
	}
	given = true;
	snprintf(value, sizeof value, "%s", argument);
	return 0;
}

int option_register(spank_t spank)
{
	static struct spank_option options[] = {
		{"trace", "MODE", "capture the job's MPI calls (off, on, lossless, lossy[:N])[,SETTING=VALUE]...", 2, 0,
	         take_option},
		{"spoor", "MODE", "the same as --trace", 2, 1, take_option},
	};

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		spank_err_t rc = spank_option_register(spank, &options[i]);
		if (rc != ESPANK_SUCCESS)
			slurm_info("spoor: the option --%s is not there: %s", options[i].name, spank_strerror(rc));
	}
	return 0;
}

const char *option_value(void)
{
	return given ? value : NULL;
}
