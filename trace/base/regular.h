/* SPDX-License-Identifier: BSD-3-Clause
 * regular - opens files that somebody else may have put in the place of others: links, FIFOs, devices, huge ones
 *
 * Nothing here waits for another process, becomes a terminal's owner, or is passed on to a program that is executed.
 * What is open is looked at, not what was there before. Every file that another user can write is opened here.
 */
#ifndef SPOOR_REGULAR_H
#define SPOOR_REGULAR_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "trace/base/error.h"

#define REGULAR_ANYBODY (-1)

/* Opens a regular file of this owner for reading, below a folder (as openat; AT_FDCWD), not following a link in the
 * last component. *st (may be NULL) gets what fstat says. Returns the descriptor, or -1 with error and errno set
 * (EINVAL: no regular file; EPERM: another owner). */
int regular_open(int folder, const char *name, int64_t owner, struct stat *st, struct error *error);
/* The same of a file that whoever runs the program has named: links are followed. */
int regular_open_named(const char *path, struct stat *st, struct error *error);
/* Reads a whole file of at most so many bytes; what is written to it meanwhile makes no difference. *text is malloc'ed,
 * with a NUL behind its *size bytes. Returns 0, or -1 with error set, and errno (EFBIG: it is larger). */
int regular_read(int folder, const char *name, int64_t owner, size_t most, char **text, size_t *size,
                 struct error *error);

/* Opens a folder for reading its names, not following a link. NULL with errno. */
DIR *regular_open_folder(int folder, const char *name);
/* Is the name the prefix, whatever follows, and the ending? */
bool regular_name_is(const char *name, const char *prefix, const char *ending);

#endif
