/* SPDX-License-Identifier: BSD-3-Clause
 * job_state - the states of jobs that have ended, as squeue and sacct call them
 */
#ifndef SPOOR_JOB_STATE_H
#define SPOOR_JOB_STATE_H

#include <stddef.h>

/* What of the table trace `t` makes the state of that name (n bytes long; "TIMEOUT", "to", "KILLED"), in SQL. NULL: no
 * trace can be in such a state. */
const char *job_state_condition(const char *name, size_t n);
/* Are all of the list, "F,TIMEOUT", states of that kind? Returns 0 or -1. */
int job_state_check_list(const char *list);
/* What there is, for messages. */
#define JOB_STATES                                                                                               \
	"COMPLETED (CD), FAILED (F), KILLED, TIMEOUT (TO), CANCELLED (CA), OUT_OF_MEMORY (OOM), NODE_FAIL (NF) " \
	"or PREEMPTED (PR)"

#endif
