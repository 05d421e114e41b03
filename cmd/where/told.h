/* SPDX-License-Identifier: BSD-3-Clause
 * told - of `spoor watch`: of which jobs it was told that they hang, in a file that nobody else can write
 */
#ifndef SPOOR_WHERE_TOLD_H
#define SPOOR_WHERE_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"

struct told {
	int fd; /* locked */
	uint64_t *jobs;
	uint32_t count, capacity;
};

/* Opens or makes the file; path NULL: `watch` in STATE_DIRECTORY (systemd), of root in /var/lib/spoor, else in
 * XDG_STATE_HOME/spoor or ~/.local/state/spoor. Refused if it, or its folder, is somebody else's or can be written by
 * others, and if another process has it. Returns 0, or -1 with error set. The caller closes it in any case. */
int told_open(struct told *t, const char *path, struct error *error);
void told_close(struct told *t);
bool told_has(const struct told *t, uint64_t job);
/* Writes it down at once. Returns 0, or -1 with error set. */
int told_add(struct told *t, uint64_t job, struct error *error);
/* Forgets all jobs of which `runs` is false: their numbers come again. Returns as told_add. */
int told_keep(struct told *t, bool (*runs)(uint64_t job, const void *context), const void *context,
              struct error *error);

#endif
