/* SPDX-License-Identifier: BSD-3-Clause
 * state_file - what a command remembers from one run to the next, in a file that nobody else can write
 */
#ifndef SPOOR_STATE_FILE_H
#define SPOOR_STATE_FILE_H

#include <stdint.h>

#include "trace/base/error.h"

/* Opens or makes the file, and locks it. path NULL: `command` in STATE_DIRECTORY (systemd), of root in /var/lib/spoor,
 * else in XDG_STATE_HOME/spoor or ~/.local/state/spoor. Refused if it, or its folder, is somebody else's or can be
 * written by others, and if another process has it; of root also if that is true of a folder on the way, or if one is a
 * link. Returns a descriptor, or -1 with error set. */
int state_file_open(const char *path, const char *command, struct error *error);
/* When the file of that name, where it is by default, was last written: seconds since 1970, or -1: there is none that
 * can be seen. */
int64_t state_file_written(const char *command);

#endif
