/* SPDX-License-Identifier: BSD-3-Clause
 * tidy - statements of a program without what they do not need
 *
 *     for (long i = 0, i_end = next(7); i < i_end; i++) {     becomes    for (long i = next(7); i > 0; i--)
 *             Barrier(3);                                                        Barrier(3);
 *     }
 *     case 4: {                                               becomes    case 4:
 *
 * Nobody asks for the variable, there is one statement of one line in the block, and the case has no variable.
 */
#ifndef SPOOR_PROXY_TIDY_H
#define SPOOR_PROXY_TIDY_H

#include "proxy/nodes.h"

const struct tree_node *tidy_statements(struct tree *t, const struct tree_node *n);

#endif
