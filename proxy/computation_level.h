/* SPDX-License-Identifier: BSD-3-Clause
 * computation_level - a computation of which fewer visits are left keeps its mean
 *
 *     100 visits: 25 of 3 ms, 75 of 1 ms; of the first 25 that are left, each would be 3 ms: each becomes 1.5 ms
 */
#ifndef SPOOR_PROXY_COMPUTATION_LEVEL_H
#define SPOOR_PROXY_COMPUTATION_LEVEL_H

#include "proxy/computation.h"

/* all, left: visits of a rank. seen: the number of the edge in the program (work_drawn). ranks: those that do this; at
 * least one. */
void computation_level(struct computation *c, uint64_t all, uint64_t left, unsigned seen, const uint32_t *ranks,
                       uint32_t count);
/* So many times as much in each visit. */
void computation_scale(struct computation *c, double factor);

#endif
