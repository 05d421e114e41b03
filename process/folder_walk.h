/* SPDX-License-Identifier: BSD-3-Clause
 * folder_walk - a folder in which root may write
 */
#ifndef SPOOR_FOLDER_WALK_H
#define SPOOR_FOLDER_WALK_H

#include <sys/types.h>

#include "trace/base/error.h"

/* Opens a folder, from / on, without following a link. Each folder on the way is root's, and nobody else can write it:
 * so what is found there now is what is found there later. A sticky one that others can write (/tmp) is allowed if what
 * it leads to is root's. Returns a descriptor, or -1 with error set: which folder is wrong, and what to do. */
int folder_walk(const char *path, struct error *error);
/* The same, and makes with this mode what is not there yet. */
int folder_walk_make(const char *path, mode_t mode, struct error *error);

#endif
