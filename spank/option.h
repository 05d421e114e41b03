/* SPDX-License-Identifier: BSD-3-Clause
 * option - --trace[=off|on|lossless|lossy[:N]][,SETTING=VALUE]... of srun, sbatch and salloc, and its alias --spoor
 */
#ifndef SPOOR_OPTION_H
#define SPOOR_OPTION_H

#include <slurm/spank.h>
#include <stdbool.h>

/* What users set instead of the option, and the name under which it also survives `--export=NONE`. */
#define OPTION_VARIABLE        "SPOOR_TRACE"
#define OPTION_VARIABLE_EXPORT "SLURM_SPOOR_TRACE"
/* If both options were given: the name of the one that came last. srun, sbatch and salloc set it for the nodes. */
#define OPTION_VARIABLE_LAST "SLURM_SPOOR_OPTION"

/* Registers both options; to be called from slurm_spank_init in every context. Always returns 0: what goes wrong is
 * logged. */
int option_register(spank_t spank);
/* In slurmstepd, once all options were taken: what the user said; NULL if nothing. "on" if the option had no value. */
const char *option_value(spank_t spank);
/* Was it said to sbatch or salloc, and holds for all steps? */
bool option_inherited(spank_t spank);

#endif
