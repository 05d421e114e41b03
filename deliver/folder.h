/* SPDX-License-Identifier: BSD-3-Clause
 * folder - the folders that root makes for users: a step's spool folder, a day's folder in the archive
 *
 * Everything is done relative to folders that are open, never following a symbolic link, and only below folders that
 * are root's and that nobody else can write: so no user can put anything in the way.
 */
#ifndef SPOOR_FOLDER_H
#define SPOOR_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/error.h"

/* Makes SPOOL/NAME for the user (0700), and SPOOL (0711) if it is not there. If a folder of that name is left from an
 * earlier run of the job, NAME.1, NAME.2, ... is taken. path gets the folder's path. Returns an open descriptor of
 * SPOOL, or -1. */
int folder_make_step(const char *spool, const char *name, uid_t uid, gid_t gid, char *path, size_t size,
                     struct error *error);
/* Locks the step's folder (the last component of path) as that of a running step, until the descriptor that is returned
 * is closed or its processes are gone: who sweeps the spool leaves it alone. Returns -1 if that cannot be. */
int folder_lock_step(int spool_fd, const char *path);
/* Changes whenever something is made or removed in the step's folder (the last component of path); 0 if it is not
 * there. */
int64_t folder_step_changed(int spool_fd, const char *path);
/* Removes the step's folder (the last component of path) if it is empty. Returns 0, or -1 with errno. */
int folder_remove_step(int spool_fd, const char *path);

/* Opens SPOOL. Returns the descriptor, or -1. */
int folder_open_spool(const char *spool, struct error *error);
/* The bytes that SPOOL's file system has left for users; 0 if that is not known. */
uint64_t folder_room(int spool_fd);
/* Returns 0 if SPOOL's file system has that many bytes left for users, -1 with error set if not. */
int folder_check_room(int spool_fd, const char *spool, uint64_t bytes, struct error *error);

/* Makes the folder of a day (archive/day.h) and what is missing above it, all of the archive's owner, with the group;
 * and in it the folder of a user: the user's, 2750 with the group, so that nobody can be there first. path gets the
 * day's path. Returns 0 or -1.
 *
 *     the archive is root's           ARCHIVE, YYYY, MM: 0755; DD: 2751, in which only the group sees who has a folder
 *     it is another user's            all is made with that user's rights, for root has none on the file servers of
 *                                     most sites (root_squash); DD is 3773: root cannot give a folder to the user
 *                                     there, whose own processes make it (day_own_folder)
 *     it is root's, who may not write the day must be there: `spoor setup --days` makes days ahead, 3773, where root is
 *     root
 *
 * FOLDER_AHEAD instead of a user makes a day for later, 3773. */
#define FOLDER_AHEAD ((uid_t)-1)
int folder_make_day(const char *archive, int64_t when, gid_t group, uid_t user, char *path, size_t size,
                    struct error *error);

#endif
