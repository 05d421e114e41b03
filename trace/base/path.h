/* SPDX-License-Identifier: BSD-3-Clause
 * path - the last component of a path
 */
#ifndef SPOOR_PATH_H
#define SPOOR_PATH_H

#include <string.h>

/* What follows the last slash of a path, in the path itself; the whole of it without a slash; NULL of NULL. */
static inline const char *path_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

#endif
