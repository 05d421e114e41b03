/* SPDX-License-Identifier: BSD-3-Clause
 * scalar_rule - a number that follows from another one of the same call
 *
 *     count = table_5[tag - 100]     the size of a message, where each tag is that of a part of a grid
 */
#ifndef SPOOR_PROXY_SCALAR_RULE_H
#define SPOOR_PROXY_SCALAR_RULE_H

#include "proxy/columns.h"

/* Column `number` as a function of the other one, which is a variable `name` of the program. Its tables go to
 * columns.tables. Returns 1, 0: it does not follow, or -1 with columns.error set. */
int scalar_by_rule(struct columns *c, uint32_t number, uint32_t from_number, const char *name,
                   const struct tree_node **out);

#endif
