/* SPDX-License-Identifier: BSD-3-Clause
 * controller - what slurmctld is asked: seldom, by a helper, and not for long
 */
#ifndef SPOOR_CONTROLLER_H
#define SPOOR_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/error.h"
#include "trace/base/facts.h"

#define CONTROLLER_SECONDS 20

/* Sets what slurmctld says of the job (fact job) in fields that its user cannot write: account, partition, qos,
 * reservation, het_job_id, job_start, time_limit. What the job does not have becomes "". Asks once for a job,
 * and no more once nobody has answered. Returns 0; or -1 with error set and facts as they were. */
int controller_identify(struct facts *facts, struct error *error);

/* `scontrol show WHAT NAME`, with the slurm.conf of the facts (slurm_conf, and slurm_bin: the folder of Slurm's
 * commands). Returns 0 with its one line in answer, or -1 with what it said there, or why it said nothing. */
int controller_ask(const struct facts *facts, const char *what, const char *name, char *answer, size_t size);

/* The value of KEY= in such a line, malloc'ed; NULL: it is not there. */
char *controller_value(const char *answer, const char *key);

/* Why tasks failed, as their job's record says it some time after: "time-limit", "cancelled",
 * "preempted", "node-lost", "oom"; NULL: nothing of the kind, or it is not known. Waits until the record can say so,
 * and asks once for a job. Once more if slurmctld does not answer. Every 10 s while the job is still ending, for a
 * minute in all of a process. Not at all if the step (fact step_end) ended long ago. error is set if nobody answered.
 * That a step had a time limit of its own is not known any more then. */
const char *controller_ending(const struct facts *facts, struct error *error);

/* What the record says: one of the above. *ending gets whether the job is still ending, so that this may change. */
const char *controller_read_ending(const char *record, bool *ending);

#endif
