/* SPDX-License-Identifier: BSD-3-Clause
 * parse - the text of a policy file into a struct policy; inside of policy/ only
 */
#ifndef SPOOR_PARSE_H
#define SPOOR_PARSE_H

#include "policy/policy.h"
#include "policy/rule.h"

/* Adds a problem at a position: "FILE:LINE:COLUMN: " and the text. */
void problems_add(struct problems *p, const char *file, size_t line, size_t column, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Fills *policy (which has its defaults and its path) from size bytes of text, which has a NUL behind its end, and adds what is
 * wrong to problems. */
void parse_policy(struct policy *policy, const char *text, size_t size, struct problems *problems);

#endif
