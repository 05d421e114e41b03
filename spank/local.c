/* SPDX-License-Identifier: BSD-3-Clause
 * local - what the plugin does in srun, sbatch and salloc
 */
#include "spank/local.h"

#include <stdlib.h>

#include "policy/mode.h"
#include "spank/option.h"

void local_init(void)
{
	const char *value = getenv(OPTION_VARIABLE);

	if (!value)
		return;
	if (mode_choice_valid(value))
		setenv(OPTION_VARIABLE_EXPORT, value, 1);
	else
		slurm_error("spoor: " OPTION_VARIABLE "=%s is ignored: expected one of " MODE_CHOICES, value);
}
