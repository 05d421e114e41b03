/* SPDX-License-Identifier: BSD-3-Clause
 * computation_level - a computation of which fewer visits are left keeps its mean, and what it has now and then
 *
 *     100 visits: 98 of 1 ms, 2 of 5 ms; 25 are left: 24 of 1 ms, one of 3 ms, which is half as far from the others
 */
#ifndef SPOOR_PROXY_COMPUTATION_LEVEL_H
#define SPOOR_PROXY_COMPUTATION_LEVEL_H

#include "proxy/computation.h"

/* all, left: visits of a rank. What is drawn then has as many values in all as there are visits. If one kind is drawn,
 * or begins unlike it goes on and does not come to the end of its turn, all of them are drawn. Else some would be long
 * when the others are not. Sets `visits`. */
void computation_level(struct computation_kinds *kinds, uint64_t all, uint64_t left);
/* So many times as much in each visit. */
void computation_scale(struct computation *c, double factor);

#endif
