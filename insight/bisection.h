/* SPDX-License-Identifier: BSD-3-Clause
 * bisection - a start for partition.h that is good for large graphs, too: the graph is halved, then its halves
 *
 * A half begins as the vertices with the lowest numbers, or grows from a vertex at the rim. Then vertices change sides
 * by pairs, one from each, those first that gain most or lose least; each moves once. The best state on the way is
 * kept, and it begins again until nothing is gained (Kernighan and Lin 1970, with the gains kept in order as by
 * Fiduccia and Mattheyses 1982). So it gets over small hills, and sizes are exact.
 *
 *     edges looked at: about 60 times those of the graph for each halving
 */
#ifndef SPOOR_INSIGHT_BISECTION_H
#define SPOOR_INSIGHT_BISECTION_H

#include "insight/partition.h"

/* Sets part[v]: so many vertices as `sizes` says of each part, which add up to all. Returns 0, or -1 on no memory. */
int bisection_make(const struct graph *g, uint32_t *part, uint32_t parts, const uint32_t *sizes);

#endif
