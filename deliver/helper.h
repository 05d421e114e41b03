/* SPDX-License-Identifier: BSD-3-Clause
 * helper - what spoor-helper does for the plugin
 *
 * Facts come in on stdin. Messages go to stderr, one line each. The exit status is 0 if all went well, 1 if not (-1
 * here).
 */
#ifndef SPOOR_HELPER_H
#define SPOOR_HELPER_H

#include "trace/base/facts.h"

/* `spoor-helper decide POLICY PRELOAD`: reads the policy and writes the decision to stdout. If that is to capture,
 * looks as the job's user (facts uid and gid) whether the tracer PRELOAD can be loaded; with the fact step_folder makes
 * the step's folder of that name in the spool, and writes its path as the fact folder. Runs as root. PRELOAD NULL: only
 * decides. */
int helper_decide(struct facts *facts, const char *policy, const char *preload);

/* `spoor-helper end`: a step ended: delivers what it left, and what else is due (deliver/sweep.h), and tells `spoor
 * doctor`. Nobody waits for it. Facts are the step's, and the ones below for itself; descriptor PROCESS_KEPT, if it is
 * open, holds the lock of the step's folder. Runs as root, and reads nothing that users can write. */
int helper_end(struct facts *facts);
#define HELPER_ARCHIVE_AT  "deliver_archive"
#define HELPER_HELPER      "deliver_helper"
#define HELPER_ADMIN_GROUP "deliver_group"  /* its name; may be missing */
#define HELPER_MEMORY      "deliver_memory" /* of a helper, bytes */
#define HELPER_CPU         "deliver_cpu"    /* seconds */
#define HELPER_USER_LIMIT  "deliver_user"   /* setting spool_user */
#define HELPER_CHANGED \
	"deliver_changed" /* when the step's folder was made: another time now means that a tracer worked there */
#define HELPER_POLICY      "deliver_policy" /* its path, if it rests on claims (deliver/claims.h), and the next two */
#define HELPER_OPTION      "deliver_trace_option"
#define HELPER_ENVIRONMENT "deliver_trace_environment"
#define HELPER_ASK         "deliver_ask" /* 1: a task of it failed, and slurmctld may know why */

/* `spoor-helper collect`: seals and archives what the step left in its spool folder. Returns 0 if all of it is
 * delivered; HELPER_EMPTY: there was no trace; HELPER_ARCHIVE: the archive did not take something; -1: something in the
 * folder cannot be delivered. Runs as the job's user. */
int helper_collect(struct facts *facts);
#define HELPER_ARCHIVE 3
#define HELPER_EMPTY   4

/* `spoor-helper keep`: as collect, where there is no day's folder to deliver to: makes raw traces of what ranks left,
 * and saves the facts beside them (deliver/attempt.h), for a later sweep. Runs as the job's user. */
int helper_keep(struct facts *facts);

/* `spoor-helper day`: makes the folder of the day (fact `when`) in the archive, for the group, and in it that of the
 * user (fact `uid`), as `end` does before it has something delivered there: to try by hand what an archive's server
 * lets root do. */
int helper_day(struct facts *facts);

/* `spoor-helper discard`: empties the step's folder if it holds more than the fact `limit`, or if that is 0. Returns 0
 * if it did. Runs as the job's user. */
int helper_discard(struct facts *facts);

#endif
