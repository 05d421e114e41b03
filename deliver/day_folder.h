/* SPDX-License-Identifier: BSD-3-Clause
 * day_folder - a day's folder in the archive, and in it a user's, which root makes (archive/day.h has their names)
 *
 * Everything is done relative to folders that are open, never following a symbolic link, and only below folders that
 * nobody but the archive's owner can write: so no user can put anything in the way.
 */
#ifndef SPOOR_DAY_FOLDER_H
#define SPOOR_DAY_FOLDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/error.h"

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
 * DAY_FOLDER_AHEAD instead of a user makes a day for later, 3773. */
#define DAY_FOLDER_AHEAD ((uid_t)-1)
int day_folder_make(const char *archive, int64_t when, gid_t group, uid_t user, char *path, size_t size,
                    struct error *error);

#endif
