/* SPDX-License-Identifier: BSD-3-Clause
 * claims - what a job's environment says of the job is a claim: before anything of a step is delivered, slurmctld is
 * asked, and the policy once more
 *
 * A step starts without a question to anybody: its account, partition and so on are those of its environment, which
 * its user may have changed. Where the policy rests on them, and the step has left traces, slurmctld is asked as soon
 * as the step has ended, before its user can make anything of it wait: slurmctld forgets jobs after some minutes.
 * Nobody waits for the answer. If there is none, the claims stay, and whoever delivers asks again.
 */
#ifndef SPOOR_CLAIMS_H
#define SPOOR_CLAIMS_H

#include "trace/base/error.h"
#include "trace/base/facts.h"

/* Asks for a step that has the fact HELPER_POLICY, until there was an answer, and sets its facts to what Slurm says; if
 * the policy then switches the tracer off, QUEUE_DENIED. helper: the path of spoor-helper, which reads the policy. said
 * gets what was claimed instead, or why nothing is known. */
void claims_settle(const char *helper, struct facts *facts, struct error *said);

#endif
