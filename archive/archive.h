/* SPDX-License-Identifier: BSD-3-Clause
 * archive - the dated store: ARCHIVE/YYYY/MM/DD/UID/JOB.STEP.N.spoor
 *
 * Everybody whose job was traced can add files to a folder of their own (archive/day.h), so what is here is untrusted.
 * The user of a trace is the owner of its file, who must be the owner of the folder; a folder whose name is not its
 * owner's is none. A file whose metadata says another job than its name, or another user than its owner, is damaged.
 */
#ifndef SPOOR_ARCHIVE_H
#define SPOOR_ARCHIVE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/error.h"

/* Called with the path of a folder and what of it follows the archive's: "YYYY/MM/DD", "YYYY/MM/DD/UID". Not 0 ends the
 * walk. */
typedef int archive_visit(void *context, const char *path, const char *name);
/* Visits the folders of all days, from that of `since` (seconds since 1970; 0: all) on, in order. Returns what visit
 * returned, 0, or -1 with error set if the archive cannot be read. */
int archive_days(const char *archive, int64_t since, archive_visit *visit, void *context, struct error *error);
/* The same of the users' folders in them: those that are there, or where the caller may not list a day, the caller's
 * own. */
int archive_folders(const char *archive, int64_t since, archive_visit *visit, void *context, struct error *error);
/* Those of one day, given by its path and name. */
int archive_day_folders(const char *path, const char *day, archive_visit *visit, void *context);

/* The file of the site's policy: SPOOR_POLICY of the environment, or policy= of Slurm's plugin stack, or the one that
 * is installed. */
const char *archive_policy(void);
/* The site's archive: SPOOR_ARCHIVE of the environment, or that of the policy (archive_policy), or where none is
 * installed, the one that is built in. Returns 0, or -1 with error set, also if the policy cannot be read: another
 * archive than the site's would only seem empty. */
int archive_default(char *path, size_t size, struct error *error);

/* The group that the policy lets read everybody's traces; 0 if there is none. */
gid_t archive_group(void);

/* The policy's names of applications: an object of patterns (fnmatch) and names; NULL if it has none, or cannot be
 * read. The caller gives it back. */
json_t *archive_applications(void);

/* The path of a trace: of a file as it is; of "JOB", "JOB.STEP" or "JOB.STEP.N" in the archive (NULL: the default). An
 * existing file wins; the caller's own trace wins over those that others say are of a job of that number. Returns 0, or
 * -1 with error set: there is none, or there are several (which are named). */
int archive_resolve(const char *file_or_job, const char *archive, char *path, size_t size, struct error *error);

#endif
