/* SPDX-License-Identifier: BSD-3-Clause
 * process_facts - what only the process itself knows of its job: its command, executable and MPI library, the world
 * that spawned it, and what was asked for and is not done
 */
#ifndef SPOOR_PROCESS_FACTS_H
#define SPOOR_PROCESS_FACTS_H

#include "spank/handoff.h"

/* Also those that the handoff brought. size: of MPI_COMM_WORLD. Returns facts_encode's text, malloc'ed; NULL on no
 * memory. */
char *process_facts(const struct handoff *h, int size, int thread_level);
/* The CPUs that the kernel allows this process, as it writes them: 0-3,8; "" if it does not say so, or there is no
 * room. */
/* ns since the process began, as exactly as the kernel says it (10 ms); 0: not known. */
uint64_t process_age(void);
/* ns for which its first thread was ready to run, but had no core; 0: not known. */
uint64_t process_queued(void);
void process_cpus(char *out, size_t size);

#endif
