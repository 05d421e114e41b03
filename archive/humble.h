/* SPDX-License-Identifier: BSD-3-Clause
 * humble - root becomes somebody else before it looks at what users wrote
 */
#ifndef SPOOR_HUMBLE_H
#define SPOOR_HUMBLE_H

#include <sys/types.h>

#include "trace/error.h"

/* For good. Does nothing if the process is not root's. Returns 0, or -1 with error set. */
int humble_become(uid_t uid, gid_t gid, struct error *error);
/* As the owner of a file, if that is not root; so that whatever is in it is read with the rights of who could have written it. The file must be
 * a regular one; symbolic links are followed. Returns 0 also if there is no such file. */
int humble_as_owner(const char *path, struct error *error);
/* The user who owns nothing. */
uid_t humble_nobody(void);

#endif
