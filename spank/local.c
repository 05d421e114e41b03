/* SPDX-License-Identifier: BSD-3-Clause
 * local - what the plugin does in srun, sbatch and salloc
 */
#include "spank/local.h"

#include <stdlib.h>
#include <string.h>

#include "policy/choice.h"
#include "spank/handoff.h"
#include "spank/option.h"
#include "spank/preload.h"

/* Whoever runs in a traced job has the tracer in their environment. A job that they submit is decided upon anew, on its
 * nodes, which may not even have this tracer: it must not get it from here. Slurm packs the environment after this. */
static void clear_own_environment(const struct config *config)
{
	const char *preload = getenv("LD_PRELOAD");
	char *users = preload ? strdup(preload) : NULL;

	unsetenv(HANDOFF_VARIABLE);
	if (users && preload_remove(users, config->preload)) {
		if (users[0])
			setenv("LD_PRELOAD", users, 1);
		else
			unsetenv("LD_PRELOAD");
	}
	free(users);
}

void local_init(const struct config *config)
{
	const char *value = getenv(OPTION_VARIABLE);
	struct choice choice;
	struct error error = {""};

	clear_own_environment(config);
	if (!value || !*value) /* an empty variable says nothing */
		return;
	if (!choice_parse(&choice, value, &error))
		setenv(OPTION_VARIABLE_EXPORT, value, 1);
	else
		slurm_error("spoor: " OPTION_VARIABLE "=%s is ignored: %s", value, error.text);
}
