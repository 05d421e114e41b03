/* SPDX-License-Identifier: BSD-3-Clause
 * privileges - root becomes somebody else before it looks at what users wrote
 */
#ifndef SPOOR_PRIVILEGES_H
#define SPOOR_PRIVILEGES_H

#include <sys/types.h>

#include "trace/base/error.h"

/* For good. Does nothing if the process is not root's. Returns 0, or -1 with error set. */
int privileges_drop(uid_t uid, gid_t gid, struct error *error);
/* The user who owns nothing. */
uid_t privileges_nobody(void);

#endif
