/* SPDX-License-Identifier: BSD-3-Clause
 * hooks - runs the programs that the policy names for traces that have arrived in the archive
 *
 * What is in a trace is its user's; it is a program's input, as JSON, and nothing of it is in arguments or environment.
 * The programs are root's, by the policy, which must be root's alone to write. They run with the rights with which the
 * index is read: as root started it, those of user nobody and the admin group (archive/catalog.h).
 */
#ifndef SPOOR_HOOKS_H
#define SPOOR_HOOKS_H

#include "archive/catalog.h"
#include "cmd/hook_state.h"
#include "policy/policy.h"

struct hooks {
	struct policy *policy;
	struct hook_state state;
	int64_t began; /* ns since 1970 */
	/* gets: */
	size_t run, failed, waiting, left_out;
};

/* Reads the policy, and opens the state file (NULL: where it is by default). To be called before the index is opened,
 * with which root's rights go. Returns 0, or -1 with error set. hooks_close in both cases. */
int hooks_open(struct hooks *h, const char *policy, const char *state, struct error *error);
void hooks_close(struct hooks *h);

/* Runs those that are for traces that arrived since the last time, one after another, and says on stderr which failed.
 * The index is up to date and not locked. Returns 0, or -1 with error set. */
int hooks_run(struct hooks *h, struct catalog *c, struct error *error);

#endif
