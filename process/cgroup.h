/* SPDX-License-Identifier: BSD-3-Clause
 * cgroup - out of a job's cgroups, so that Slurm neither waits for us, nor ends us with the job, nor counts what we use
 * for it
 */
#ifndef SPOOR_CGROUP_H
#define SPOOR_CGROUP_H

#include <stdint.h>

/* Puts this process where the daemons of Slurm are: above the job, in each hierarchy where it is in that of a job.
 * Where that cannot be it stays. Makes system calls only, on the kernel's own file systems: it may be called between
 * fork and exec. */
void cgroup_leave(void);

/* The same for the lines of /proc/self/cgroup in text, below root ("/sys/fs/cgroup"); process is what is written to
 * cgroup.procs ("0": the caller). */
void cgroup_leave_at(const char *text, const char *root, const char *process);

/* How often the kernel killed a process of this step because memory was short: of the memory cgroup that the lines of
 * /proc/self/cgroup (text) name, below root ("/sys/fs/cgroup"), of version 1 or 2. 0 if there is none. */
uint64_t cgroup_oom_kills(const char *text, const char *root);
/* The same of this process. */
uint64_t cgroup_own_oom_kills(void);

#endif
