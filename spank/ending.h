/* SPDX-License-Identifier: BSD-3-Clause
 * ending - why a step ended, as the kernel knows it: what its tasks' exit status does not say
 */
#ifndef SPOOR_ENDING_H
#define SPOOR_ENDING_H

#include <stdint.h>

/* How often the kernel killed a process of this step because memory was short: of the memory cgroup that the lines of
 * /proc/self/cgroup (text) name, below root ("/sys/fs/cgroup"), of version 1 or 2. 0 if there is none. */
uint64_t ending_oom_kills(const char *text, const char *root);
/* The same of this process. */
uint64_t ending_own_oom_kills(void);

#endif
