/* SPDX-License-Identifier: BSD-3-Clause
 * match - the conditions of a rule, from JSON; inside of policy/ only
 */
#ifndef SPOOR_MATCH_H
#define SPOOR_MATCH_H

#include "policy/parser.h"

/* Reads the object at s into the conditions of a struct rule. */
void match_read(struct parser *p, const struct spot *s, void *rule);

#endif
