/* SPDX-License-Identifier: BSD-3-Clause
 * chains - sites of a set in any order that always follow each other
 *
 *     A B C, D, A B C, A B C, D, D    is a set of A, B, C and D, but B follows on A only, and C on B only
 */
#ifndef SPOOR_PROXY_CHAINS_H
#define SPOOR_PROXY_CHAINS_H

#include "trace/read/loop_nest.h"

/* Each such chain becomes a child of its set, and a turn of that. edges: those of which the nest was made. Returns 0,
 * or -1: no memory. */
int chains_make(struct loop_nest *nest, const struct nest_edge *edges, size_t edge_count);

#endif
