/* SPDX-License-Identifier: BSD-3-Clause
 * option - --trace[=off|on|lossless|lossy[:N]][,SETTING=VALUE]... of srun, sbatch and salloc, and its alias --spoor
 */
#ifndef SPOOR_OPTION_H
#define SPOOR_OPTION_H

#include <slurm/spank.h>

/* What users set instead of the option, and the name under which it also survives `--export=NONE`. */
#define OPTION_VARIABLE        "SPOOR_TRACE"
#define OPTION_VARIABLE_EXPORT "SLURM_SPOOR_TRACE"

/* Registers both options; to be called from slurm_spank_init in every context. Always returns 0: what goes wrong is
 * logged. */
int option_register(spank_t spank);
/* What the user said; NULL if nothing. "on" if the option had no value. */
const char *option_value(void);

#endif
