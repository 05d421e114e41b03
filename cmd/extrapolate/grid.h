/* SPDX-License-Identifier: BSD-3-Clause
 * grid - the grids that the ranks of a program may stand in
 *
 * A grid has up to three dimensions; the last coordinate is the one that changes from rank to rank. Its extents follow
 * from the number of ranks alone, so that they are known at any size: as even as the factors allow (what
 * MPI_Dims_create says), the largest first or last. The first grid is a line.
 */
#ifndef SPOOR_EXTRAPOLATE_GRID_H
#define SPOOR_EXTRAPOLATE_GRID_H

#include <stdint.h>

#define GRID_DIMS 3
#define GRIDS     5

struct grid {
	int dims;
	int64_t extent[GRID_DIMS], stride[GRID_DIMS]; /* stride: of ranks from one to the next */
};

/* The ranks of one size. */
struct world {
	uint32_t size;
	struct grid grid[GRIDS];
};

/* What stands in which place: a line, two dimensions, the same from the smallest extent on, three, the same. */
struct world grid_world(uint32_t size);
static inline int64_t grid_at(const struct grid *g, int dim, int64_t rank)
{
	return rank / g->stride[dim] % g->extent[dim];
}
/* ranks >= 1; log2, rounded down. */
static inline int64_t grid_log(int64_t n)
{
	return 63 - __builtin_clzll((unsigned long long)(n > 0 ? n : 1));
}

#endif
