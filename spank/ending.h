/* SPDX-License-Identifier: BSD-3-Clause
 * ending - why a step ended, as Slurm and the kernel know it: what its tasks' exit status does not say
 */
#ifndef SPOOR_ENDING_H
#define SPOOR_ENDING_H

#include <stdint.h>

/* How often the kernel killed a process of this step because memory was short: of the memory cgroup that the lines of /proc/self/cgroup (text) name, below
 * root ("/sys/fs/cgroup"), of version 1 or 2. 0 if there is none. */
uint64_t ending_oom_kills(const char *text, const char *root);
/* The same of this process. */
uint64_t ending_own_oom_kills(void);

/* Asks slurmctld. Returns "time-limit", "cancelled", "preempted", "node-lost", "oom", or NULL: nothing of the kind, or it is not known. May take as long as
 * Slurm's message timeout. */
const char *ending_of_job(uint32_t job);
/* The same of a step with a time limit of its own (`srun --time`): "time-limit" if it has run as long as that, or NULL. */
const char *ending_of_step(uint32_t job, uint32_t step);

#endif
