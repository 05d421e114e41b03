/* SPDX-License-Identifier: BSD-3-Clause
 * helper - the two things that spoor-helper does for the plugin
 *
 * Facts come in on stdin. Messages for the node's log go to stderr, one line each. The exit status is 0 if all went well.
 */
#ifndef SPOOR_HELPER_H
#define SPOOR_HELPER_H

#include "policy/facts.h"

/* `spoor-helper decide POLICY PRELOAD`: reads the policy and writes the decision to stdout. If that is to capture, looks as the job's
 * user (facts uid and gid) whether the tracer PRELOAD can be read. Runs as root. */
int helper_decide(struct facts *facts, const char *policy, const char *preload);

/* `spoor-helper collect`: seals and archives what the step left in its spool folder, and prints PROCESS_DONE (spank/process.h) if
 * all of it is delivered. Runs as the job's user. */
int helper_collect(struct facts *facts);

#endif
