/* SPDX-License-Identifier: BSD-3-Clause
 * hook_state - for which traces the hooks of the policy were run, in a file that nobody else can write
 *
 * Lines of equal length, each of which is written at once:
 *
 *     NS 0000000000 0000000000000000 0     since when traces are looked at
 *     NS UID        KEY              LEFT  a trace that arrived at NS: a hook (KEY is of both) may be run LEFT times
 *
 * A line is written before a hook is run, and again behind it. So it is run again if this process, or the machine, ends
 * in between, and never more than so many times. A line from before the first one's time is free.
 */
#ifndef SPOOR_HOOK_STATE_H
#define SPOOR_HOOK_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"

#define HOOK_ENTRIES 50000

struct hook_entry {
	int64_t arrived; /* ns since 1970; later, to be kept for longer */
	uint64_t uid, key;
	unsigned left; /* 0: it was run, or given up */
};

struct hook_state {
	int fd; /* locked */
	int64_t since;
	struct hook_entry *entries;
	size_t count;
};

/* Opens it as state_file.h says; a new one begins now. Returns 0, or -1 with error set. The caller closes it. */
int hook_state_open(struct hook_state *s, const char *path, struct error *error);
void hook_state_close(struct hook_state *s);
/* NULL: there is none. */
const struct hook_entry *hook_state_find(const struct hook_state *s, uint64_t uid, uint64_t key);
/* How many traces and hooks of this user it has that arrived after this time. */
size_t hook_state_count(const struct hook_state *s, uint64_t uid, int64_t after);
/* Adds or changes an entry, and writes it down. Returns 0, or -1 with error set: there are HOOK_ENTRIES. */
int hook_state_put(struct hook_state *s, const struct hook_entry *e, struct error *error);
/* Forgets what arrived before. */
int hook_state_advance(struct hook_state *s, int64_t since, struct error *error);

#endif
