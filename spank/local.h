/* SPDX-License-Identifier: BSD-3-Clause
 * local - what the plugin does in srun, sbatch and salloc
 */
#ifndef SPOOR_LOCAL_H
#define SPOOR_LOCAL_H

/* Hands SPOOR_TRACE on under a name that survives --export=NONE. A value that means nothing is told to the user and ignored. */
void local_init(void);

#endif
