/* SPDX-License-Identifier: BSD-3-Clause
 * match - the conditions of a rule, from JSON; inside of policy/ only
 */
#ifndef SPOOR_MATCH_H
#define SPOOR_MATCH_H

#include "policy/condition.h"
#include "policy/reader.h"

/* The conditions of one rule, while they are read: in the order of condition_table. Zero-initialised is none. */
struct match {
	struct condition conditions[CONDITIONS];
	bool has[CONDITIONS], has_least[CONDITIONS], has_most[CONDITIONS];
};

/* Reads the object at s into a struct match; its patterns go to the policy. */
void match_read(struct parser *p, const struct spot *s, void *match);
/* Adds them to the policy. Returns 0 or -1 (no memory). */
int match_add(struct parser *p, struct rule *rule, const struct match *match);

#endif
