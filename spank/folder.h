/* SPDX-License-Identifier: BSD-3-Clause
 * folder - the folders that root makes for users: a step's spool folder, a day's folder in the archive
 *
 * Everything is done relative to folders that are open, never following a symbolic link, and only below folders that are root's
 * and that nobody else can write: so no user can put anything in the way.
 */
#ifndef SPOOR_FOLDER_H
#define SPOOR_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "trace/error.h"

/* Makes SPOOL/NAME for the user (0700), and SPOOL (0711) if it is not there. If a folder of that name is left from an earlier run of
 * the job, NAME.1, NAME.2, ... is taken. path gets the folder's path. Returns an open descriptor of SPOOL, or -1. */
int folder_make_step(const char *spool, const char *name, uid_t uid, gid_t gid, char *path, size_t size,
                     struct error *error);
/* Locks the step's folder (the last component of path) as that of a running step, until the descriptor that is returned is closed or its processes
 * are gone: who sweeps the spool leaves it alone. Returns -1 if that cannot be. */
int folder_lock_step(int spool_fd, const char *path);
/* Changes whenever something is made or removed in the step's folder (the last component of path); 0 if it is not there. */
int64_t folder_step_changed(int spool_fd, const char *path);
/* True if there is a folder of some step in the spool (for certain only if the caller may list it). */
bool folder_has_steps(const char *spool);
/* Removes the step's folder (the last component of path) if it is empty. Returns 0, or -1 with errno. */
int folder_remove_step(int spool_fd, const char *path);

/* Opens SPOOL. Returns the descriptor, or -1. */
int folder_open_spool(const char *spool, struct error *error);
/* The path that folder_make_day makes. Returns 0, or -1 with error set. */
int folder_day_path(const char *archive, time_t when, char *path, size_t size, struct error *error);
/* Returns 0 if SPOOL's file system has that many bytes left for users, -1 with error set if not. */
int folder_check_room(int spool_fd, const char *spool, uint64_t bytes, struct error *error);

/* Makes ARCHIVE/YYYY/MM/DD of the local time and what is missing above it: ARCHIVE, YYYY and MM are root's, 0755; DD is 3777 with the
 * group: everybody can add files, nobody can remove those of others, and they get the group. path gets its path. Returns 0 or -1. */
int folder_make_day(const char *archive, time_t when, gid_t group, char *path, size_t size, struct error *error);

#endif
