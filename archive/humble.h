/* SPDX-License-Identifier: BSD-3-Clause
 * humble - root becomes somebody else before it looks at what users wrote
 */
#ifndef SPOOR_HUMBLE_H
#define SPOOR_HUMBLE_H

#include <sys/types.h>

#include "trace/base/error.h"

/* For good. Does nothing if the process is not root's. Returns 0, or -1 with error set. */
int humble_become(uid_t uid, gid_t gid, struct error *error);
/* The user who owns nothing. */
uid_t humble_nobody(void);

#endif
