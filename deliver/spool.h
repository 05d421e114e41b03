/* SPDX-License-Identifier: BSD-3-Clause
 * spool - the folder of a node for what its steps leave behind: in it root makes a folder for each step
 *
 * Everything is done relative to folders that are open, never following a symbolic link, and only below folders that
 * are root's and that nobody else can write: so no user can put anything in the way.
 */
#ifndef SPOOR_SPOOL_H
#define SPOOR_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/error.h"

/* Makes SPOOL/NAME for the user (0700), and SPOOL (0711) if it is not there. If a folder of that name is left from an
 * earlier run of the job, NAME.1, NAME.2, ... is taken. path gets the folder's path. Returns an open descriptor of
 * SPOOL, or -1. */
int spool_make_step(const char *spool, const char *name, uid_t uid, gid_t gid, char *path, size_t size,
                    struct error *error);
/* Locks the step's folder (the last component of path) as that of a running step, until the descriptor that is returned
 * is closed or its processes are gone: who sweeps the spool leaves it alone. Returns -1 if that cannot be. */
int spool_lock_step(int spool_fd, const char *path);
/* Changes whenever something is made or removed in the step's folder (the last component of path); 0 if it is not
 * there. */
int64_t spool_step_changed(int spool_fd, const char *path);
/* Removes the step's folder (the last component of path) if it is empty. Returns 0, or -1 with errno. */
int spool_remove_step(int spool_fd, const char *path);

/* Opens SPOOL. Returns the descriptor, or -1. */
int spool_open(const char *spool, struct error *error);
/* The bytes that SPOOL's file system has left for users; 0 if that is not known. */
uint64_t spool_room(int spool_fd);
/* Returns 0 if SPOOL's file system has that many bytes left for users, -1 with error set if not. */
int spool_check_room(int spool_fd, const char *spool, uint64_t bytes, struct error *error);

#endif
