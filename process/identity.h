/* SPDX-License-Identifier: BSD-3-Clause
 * identity - who a process is, and becoming somebody else for good
 *
 * Whoever becomes somebody else here is not dumpable, has no capability and gains none by what it executes. So its new
 * user cannot attach to it, nor read its memory, environment or descriptors (ptrace(2), proc(5)).
 */
#ifndef SPOOR_IDENTITY_H
#define SPOOR_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "trace/base/error.h"

struct identity {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* supplementary ones */
	size_t group_count;
	/* The effective group is one that nobody has, and the real one is gid. Then the kernel makes what is executed
	 * not dumpable, too: execve(2) looks whether these differ. For programs that make no files. */
	bool apart;
};

/* In a child of one thread, between fork and exec: system calls only. Returns whether it is so, and for good. */
bool identity_take(const struct identity *who);
/* The same of this process, with all its threads. Does nothing if the process is not root's, or who is root. Returns 0,
 * or -1 with error set. */
int identity_become(const struct identity *who, struct error *error);
/* Has this process, or one that it is the child of, been root, and become somebody else? */
bool identity_changed(void);

#endif
