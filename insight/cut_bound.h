/* SPDX-License-Identifier: BSD-3-Clause
 * cut_bound - how little a division of a graph into parts of given sizes can cut
 *
 * What k vertices have among them at most, M(k), is a bound: at least all edges less the sum of M is cut. Where a
 * division is given whose parts have no more than T among them, M(k) <= T is proved if no k vertices have more. Of such
 * vertices with w > T, one has at most 2 w / k; without it, k - 1 have at least w - 2 w / k. So they grow from few sets
 * of fewer vertices that have nearly as much for their size, and these are all looked at:
 *
 *     cube of 4x4x4, periodic, parts of 8     13 of 8 need 10 of 7, 8 of 6, 6 of 5, 4 of 4: 240 squares, and none has
 *                                             a fifth vertex with two neighbours in it. So M(8) is 12, and 96 are cut.
 *
 * Where these are too many, the second eigenvalue of the graph's Laplacian bounds what leaves k of n vertices:
 * lambda k (n - k) / n (Fiedler, "Algebraic connectivity of graphs", Czechoslovak Mathematical Journal 23, 1973). That
 * lambda is above a value is proved by a Cholesky decomposition.
 */
#ifndef SPOOR_INSIGHT_CUT_BOUND_H
#define SPOOR_INSIGHT_CUT_BOUND_H

#include "insight/partition.h"

/* Sets *bound: no division into parts of the sizes of `part` cuts less; at most what it cuts itself, 0 if nothing is
 * proved. work: about so many edges are looked at. Returns 0, or -1 on no memory. */
int cut_bound_find(int64_t *bound, const struct graph *g, const uint32_t *part, uint32_t parts, uint64_t work);

#endif
