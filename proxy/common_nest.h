/* SPDX-License-Identifier: BSD-3-Clause
 * common_nest - one loop nest of ranks that do different things
 *
 * Each kind of ranks has a nest of its own, whose loops have one entry. Those of all ranks together may have one for
 * each kind: ranks at the edge of a grid leave out the calls with which others begin a turn.
 *
 *     kind 0   B C B C D  B C B C D      loop (loop (B C) D)
 *     kind 1   A B A B D  A B A B D      loop (loop (A B) D)
 *     common                             loop (loop (A B C) D)
 *
 * From the whole down, children of all kinds that have sites in common become one: a site, or a loop. Its children are
 * those of the kinds' loops. A kind that has no loop there has one turn. Children come in an order that suits all
 * kinds. If there is none, they are a set in any order.
 */
#ifndef SPOOR_PROXY_COMMON_NEST_H
#define SPOOR_PROXY_COMMON_NEST_H

#include "proxy/steps.h"

/* Sites are those of all kinds. Returns 0, 1 if kinds have no order in common outside of loops, or -1 on no memory. The
 * caller frees the nest in any case. */
int common_nest_make(struct loop_nest *nest, uint32_t sites, const struct step_kinds *kinds);
/* How many sites come in any order. */
uint32_t common_nest_unordered(const struct loop_nest *nest);

#endif
