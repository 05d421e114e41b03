/* SPDX-License-Identifier: BSD-3-Clause
 * attempt - what a step's spool folder holds besides raw traces, so that they can be delivered later, once: the step's
 * facts, and a lock
 *
 *     FOLDER/facts   written before anything is delivered; removed when all was
 *     FOLDER/lock    there and held (flock) while a helper delivers
 *
 * The folder is the user's, and so is who calls this: what they change in it changes their own trace's metadata and
 * nothing else.
 */
#ifndef SPOOR_ATTEMPT_H
#define SPOOR_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/facts.h"

#define ATTEMPT_FACTS "facts"
#define ATTEMPT_LOCK  "lock"
#define ATTEMPT_NEXT  "facts.next" /* what is about to be FACTS */

/* Returns a descriptor that holds the lock until it is closed, or -1 with errno; EWOULDBLOCK: another helper has it. */
int attempt_lock(const char *folder);
/* Gives it back. */
void attempt_unlock(const char *folder, int lock);
/* Are there facts of an earlier attempt? */
bool attempt_has_facts(const char *folder);
/* Saves the facts; those of an earlier attempt stay. Returns 1 if there was one, 0 if not, -1 with error set. */
int attempt_save(const char *folder, const struct facts *facts, struct error *error);
/* Saves the facts instead of those that are there. Returns 0, or -1 with error set. */
int attempt_replace(const char *folder, const struct facts *facts, struct error *error);
/* Adds the saved facts to facts, those named in stay (NULL-terminated) only if they are not there yet. Returns 0, 1 if
 * none are saved, -1 with error set. */
int attempt_load(const char *folder, struct facts *facts, const char *const *stay, struct error *error);
/* All is delivered: removes the facts. */
void attempt_clear(const char *folder);
/* True for the names above. */
bool attempt_is_own(const char *name);

/* Looks in a folder of the archive for a regular file JOB.STEP.*.spoor of this user with exactly these bytes: delivered
 * already, by a helper that was killed before it could remove the raw trace. */
bool attempt_is_delivered(const char *archived, const char *prefix, const void *bytes, size_t size);

#endif
