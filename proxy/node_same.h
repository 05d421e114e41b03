/* SPDX-License-Identifier: BSD-3-Clause
 * node_same - are two nodes the same program?
 */
#ifndef SPOOR_PROXY_NODE_SAME_H
#define SPOOR_PROXY_NODE_SAME_H

#include "proxy/definition.h"

/* A definition is that which stands for it. */
bool node_same(const struct tree_node *a, const struct tree_node *b);
/* The same for all that are the same. */
uint64_t node_hash(const struct tree_node *n);

#endif
