/* SPDX-License-Identifier: BSD-3-Clause
 * decision - what is to happen to one job, and why: the value that crosses from policy/ to spank/
 *
 * Made by policy_decide() in the helper, and sent to the plugin as text in the form of facts. libc only.
 */
#ifndef SPOOR_DECISION_H
#define SPOOR_DECISION_H

#include <stddef.h>
#include <stdint.h>

#include "policy/mode.h"
#include "policy/setting.h"
#include "trace/base/error.h"

#define DECISION_PATH_SIZE         1024
#define DECISION_ALTERNATIVES_SIZE 16000

struct decision {
	struct mode mode;
	char archive[DECISION_PATH_SIZE]; /* absolute */
	char spool[DECISION_PATH_SIZE];   /* absolute; node-local, root's */
	char admin_group[64];             /* may read everybody's traces; empty: none */
	struct settings set;
	char rule[128];    /* name of the rule that decided, or "default", "command line", "environment" */
	char where[1200];  /* FILE:LINE of what decided; empty for command line and environment */
	char reason[512];  /* a sentence for people */
	char refused[160]; /* what --trace said that the policy does not allow, for the user; empty: nothing */
	/* What else may happen, by what the program is (policy/alternative.h); empty: the decision holds for all. */
	char alternatives[DECISION_ALTERNATIVES_SIZE];
};

/* The text, malloc'ed, or NULL if memory is short. */
char *decision_encode(const struct decision *d);
/* Reads all of it. Returns 0, or -1 with error set: something is missing, unknown, or out of range. */
int decision_decode(struct decision *d, const char *text, size_t n, struct error *error);

#endif
