/* SPDX-License-Identifier: BSD-3-Clause
 * local - what the plugin does in srun, sbatch and salloc
 */
#ifndef SPOOR_LOCAL_H
#define SPOOR_LOCAL_H

#include "spank/config.h"

/* Takes the tracer and the handoff of a surrounding job out of the environment, which is handed on to a new job or
 * step: its nodes put them in. Hands SPOOR_TRACE on under a name that survives --export=NONE. A value that means
 * nothing is told to the user and ignored. */
void local_init(const struct config *config);

#endif
