/* SPDX-License-Identifier: BSD-3-Clause
 * helper - what spoor-helper does for the plugin
 *
 * Facts come in on stdin. Messages for the node's log go to stderr, one line each. The exit status is 0 if all went well.
 */
#ifndef SPOOR_HELPER_H
#define SPOOR_HELPER_H

#include "policy/facts.h"

/* `spoor-helper decide POLICY PRELOAD`: reads the policy and writes the decision to stdout. If that is to capture, looks as the job's
 * user (facts uid and gid) whether the tracer PRELOAD can be loaded; with the fact step_folder makes the step's folder of that name in the spool, and
 * writes its path as the fact folder. Runs as root. */
int helper_decide(struct facts *facts, const char *policy, const char *preload);

/* `spoor-helper collect`: seals and archives what the step left in its spool folder, and prints PROCESS_DONE (spank/process.h) if
 * all of it is delivered. Runs as the job's user. */
int helper_collect(struct facts *facts);

/* `spoor-helper keep`: as collect, where there is no day's folder to deliver to: makes raw traces of what ranks left, and saves the facts beside them
 * (spank/kept.h), for a later sweep. Runs as the job's user. */
int helper_keep(struct facts *facts);

/* `spoor-helper sweep`: delivers what earlier steps kept (spank/sweep.h; facts spool, archive, group, helper, deadline), and removes unfinished files
 * from the folder of the archive where it delivers. Runs as root, and reads nothing that users can write. */
int helper_sweep(struct facts *facts);

/* `spoor-helper day`: makes the folder of the day (fact `when`) in the archive, for the group, and in it that of the user (fact `uid`). Runs as root. */
int helper_day(struct facts *facts);

#endif
