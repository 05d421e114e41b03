/* SPDX-License-Identifier: BSD-3-Clause
 * job_state - the states of jobs that have ended, as squeue and sacct call them
 */
#ifndef SPOOR_JOB_STATE_H
#define SPOOR_JOB_STATE_H

#include <stddef.h>

/* name, brief, and what of the table trace `t` makes it. KILLED is what the metadata say of every job that a signal
 * ended; Slurm has a word for each reason. */
#define JOB_STATE_TABLE(X)                             \
	X("COMPLETED", "CD", "t.state = 'COMPLETED'")  \
	X("FAILED", "F", "t.state = 'FAILED'")         \
	X("KILLED", "K", "t.state = 'KILLED'")         \
	X("TIMEOUT", "TO", "t.reason = 'time-limit'")  \
	X("CANCELLED", "CA", "t.reason = 'cancelled'") \
	X("OUT_OF_MEMORY", "OOM", "t.reason = 'oom'")  \
	X("NODE_FAIL", "NF", "t.reason = 'node-lost'") \
	X("PREEMPTED", "PR", "t.reason = 'preempted'")

/* The condition of a name of n bytes: "TIMEOUT", "to". NULL: no trace can be in such a state. */
const char *job_state_condition(const char *name, size_t n);
/* Are all of the list, "F,TIMEOUT", states of that kind? Returns 0 or -1. */
int job_state_check_list(const char *list);
/* The names, with NULL at the end. */
extern const char *const job_states[];
/* What there is, for messages. */
#define JOB_STATE_TEXT(name, brief, condition) name " (" brief "), "
#define JOB_STATES                             JOB_STATE_TABLE(JOB_STATE_TEXT) "or a list of them"

#endif
