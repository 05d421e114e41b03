/* SPDX-License-Identifier: BSD-3-Clause
 * usage - what a user's folders in the spool hold, and how one is emptied
 *
 * A user may put anything into the folder of their step: so this runs as that user, never follows a link, and looks at
 * so many names only.
 */
#ifndef SPOOR_USAGE_H
#define SPOOR_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct usage {
	uint64_t bytes; /* that the disk has for it: blocks, not what files say that they are long */
	size_t names;   /* that were looked at */
	bool more;      /* too much in any case: USAGE_NAMES, a folder in a folder, one that cannot be read */
};
#define USAGE_NAMES 20000

/* Adds what a folder holds that is open there under that name. One that is not there holds nothing. */
void usage_add(struct usage *u, int at, const char *name);
/* Adds that of all folders of the user in an open folder. */
void usage_add_all(struct usage *u, int at, uid_t uid);

/* Removes what is in a folder, with all below it; the folder stays. Returns 0, or -1 if something is left. */
int usage_empty(int at, const char *name);
/* Removes whatever has that name. */
int usage_remove(int at, const char *name);

#endif
