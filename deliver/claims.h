/* SPDX-License-Identifier: BSD-3-Clause
 * claims - what a job's environment says of the job is a claim: before anything of a step is delivered, slurmctld is
 * asked, and the policy once more
 *
 * A step starts without a question to anybody: its account, partition and so on are those of its environment, which
 * its user may have changed. Where the policy rests on them, and the step has left traces, whoever delivers these asks.
 * Nobody waits for that. If slurmctld does not answer, the claims stay.
 */
#ifndef SPOOR_CLAIMS_H
#define SPOOR_CLAIMS_H

#include <stdbool.h>

#include "trace/base/error.h"
#include "trace/base/facts.h"

/* Asks once for a step that has the fact HELPER_POLICY, and sets its facts to what Slurm says. helper: the path of
 * spoor-helper, which reads the policy. Returns true if the policy then switches the tracer off; said gets what was
 * claimed instead, or why nothing is known. */
bool claims_deny(const char *helper, struct facts *facts, struct error *said);

#endif
