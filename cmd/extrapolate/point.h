/* SPDX-License-Identifier: BSD-3-Clause
 * point - where a value was seen, or is wanted
 */
#ifndef SPOOR_EXTRAPOLATE_POINT_H
#define SPOOR_EXTRAPOLATE_POINT_H

#include "cmd/extrapolate/grid.h"

#define POINT_VARS 3

/* Where a value was seen, or is wanted. */
struct point {
	uint32_t world, rank;    /* world: number, for whoever has them */
	int32_t vars;            /* turns of loops whose length depends on the ranks, the outermost first */
	int32_t var[POINT_VARS]; /* others are 0 */
};

#endif
