/* SPDX-License-Identifier: BSD-3-Clause
 * remote - what the plugin does in slurmstepd, as root: before the tasks start, when one ends, and after all have ended
 *
 * Nothing here fails a job: what goes wrong is one line in the node's log, and the step runs untraced.
 */
#ifndef SPOOR_REMOTE_H
#define SPOOR_REMOTE_H

#include <slurm/spank.h>

#include "spank/config.h"

/* Decides, and makes everything ready: the step's spool folder, the handoff, LD_PRELOAD. */
void remote_begin(spank_t spank, const struct config *config);
/* When stderr is the job's: tells the user, once, what --trace said that the policy does not allow. */
void remote_tell(spank_t spank);
/* A task ended: keeps its exit status. */
void remote_task_exit(spank_t spank);
/* All tasks have ended: has the traces collected, and removes the spool folder. */
void remote_end(spank_t spank, const struct config *config);

#endif
