/* SPDX-License-Identifier: BSD-3-Clause
 * local - what the plugin does in srun, sbatch and salloc
 */
#include "spank/local.h"

#include <stdlib.h>

#include "policy/choice.h"
#include "spank/option.h"

void local_init(void)
{
	const char *value = getenv(OPTION_VARIABLE);

	struct choice choice;
	struct error error = {""};

	if (!value)
		return;
	if (!choice_parse(&choice, value, &error))
		setenv(OPTION_VARIABLE_EXPORT, value, 1);
	else
		slurm_error("spoor: " OPTION_VARIABLE "=%s is ignored: %s", value, error.text);
}
