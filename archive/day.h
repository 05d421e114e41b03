/* SPDX-License-Identifier: BSD-3-Clause
 * day - the folders of an archive: of days, and in them of users
 *
 *     YYYY/MM/DD             the day in UTC, on whatever node and in whatever time zone
 *     YYYY/MM/DD/UID[.K]     a user's; K is 1, 2, ... where other names were taken by somebody else
 *
 * Only this file makes and reads these names. libc only: the plugin has it, too.
 */
#ifndef SPOOR_DAY_H
#define SPOOR_DAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "trace/base/error.h"

#define DAY_SIZE 11 /* "YYYY/MM/DD" and a NUL */
/* How many names a user's folder may have: in a day that everybody may add folders to (root_squash), somebody else may
 * be there first. */
#define DAY_NAMES 64
/* What else is in the name of a user's folder, at most: UID, a dot, K, a NUL. */
#define DAY_FOLDER_SIZE 16

/* The day of a time (seconds since 1970). Returns 0, or -1: it has none that has four digits of a year. */
int day_of(int64_t when, char day[DAY_SIZE]);
/* How many days a day's folder is before that of a time; 0 if it is later, or is none. */
int64_t day_age(const char *day, int64_t now);

/* The name of a user's folder, its K-th. */
void day_folder_name(uid_t uid, unsigned k, char name[DAY_FOLDER_SIZE]);
/* True if that is one, and then whose. It counts only if this user is its owner. */
bool day_is_folder(const char *name, uid_t *uid);

/* The caller's own folder in a day's (a path), or with `make`, if it is not there, a new one: 2750, with the group of
 * the day's folder. path gets its path. Returns 0; 1: there is none; -1 with error set. */
int day_own_folder(const char *day, bool make, char *path, size_t size, struct error *error);

#endif
