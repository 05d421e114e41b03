/* SPDX-License-Identifier: BSD-3-Clause
 * job_state - the states of jobs that have ended, as squeue and sacct call them
 */
#ifndef SPOOR_JOB_STATE_H
#define SPOOR_JOB_STATE_H

#include <stddef.h>

/* name, brief, and what of the metadata makes it: key and value. KILLED is what they say of every job that a signal
 * ended; Slurm has a word for some reasons, and calls the rest of them FAILED. One can ask for KILLED, too. */
#define JOB_STATE_TABLE(X)                        \
	X("COMPLETED", "CD", state, "COMPLETED")  \
	X("FAILED", "F", state, "FAILED")         \
	X("KILLED", "K", state, "KILLED")         \
	X("TIMEOUT", "TO", reason, "time-limit")  \
	X("CANCELLED", "CA", reason, "cancelled") \
	X("OUT_OF_MEMORY", "OOM", reason, "oom")  \
	X("NODE_FAIL", "NF", reason, "node-lost") \
	X("PREEMPTED", "PR", reason, "preempted")

/* The condition of a name of n bytes, "TIMEOUT", "to", on the table trace `t`. NULL: no trace can be in that state. */
const char *job_state_condition(const char *name, size_t n);
/* Are all of the list, "F,TIMEOUT", states of that kind? Returns 0 or -1. */
int job_state_check_list(const char *list);
/* Slurm's word for a state and a reason of the metadata, either may be NULL: TIMEOUT for KILLED at the time limit,
 * FAILED for KILLED without one of Slurm's reasons. NULL if there is no state. */
const char *job_state_word(const char *state, const char *reason);
/* The names, with NULL at the end. */
extern const char *const job_states[];
/* What there is, for messages. */
#define JOB_STATE_TEXT(name, brief, key, value) name " (" brief "), "
#define JOB_STATES                              JOB_STATE_TABLE(JOB_STATE_TEXT) "or a list of them"

#endif
