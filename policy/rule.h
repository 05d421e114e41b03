/* SPDX-License-Identifier: BSD-3-Clause
 * rule - whether a rule is for a job, and which rules can never be reached; inside of policy/ only
 */
#ifndef SPOOR_RULE_H
#define SPOOR_RULE_H

#include "policy/condition.h"
#include "policy/image.h"

/* UNKNOWN: all hold that are known, and others are known only where the program starts. If the rule does not hold, why
 * (if not NULL) gets the first reason. */
enum verdict rule_verdict(const struct policy *p, const struct rule *r, const struct subject *s, struct error *why);
/* True if whatever b matches is matched by a. False does not say that it is not: some of that is hard to see. */
bool rule_covers(const struct policy *p, const struct rule *a, const struct rule *b);

/* The value that the rule has for a setting, or NULL. */
const struct value *rule_value(const struct policy *p, const struct rule *r, size_t setting);

#endif
