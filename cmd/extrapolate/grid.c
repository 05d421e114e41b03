/* SPDX-License-Identifier: BSD-3-Clause
 * grid - the grids that the ranks of a program may stand in
 */
#include "cmd/extrapolate/grid.h"

#include <stdbool.h>

/* The largest factors first, each to the smallest extent; the largest extent comes first in the end. */
static void even_extents(int64_t n, int dims, int64_t *extent)
{
	int64_t factors[64];
	int count = 0;
	for (int64_t k = 2; n > 1; k++)
		for (k = k * k > n ? n : k; n % k == 0 && n > 1; n /= k)
			factors[count++] = k;
	for (int i = 0; i < dims; i++)
		extent[i] = 1;
	while (count-- > 0) {
		int least = 0;
		for (int i = 1; i < dims; i++)
			least = extent[i] < extent[least] ? i : least;
		extent[least] *= factors[count];
	}
	for (int i = 0; i < dims; i++)
		for (int k = i + 1; k < dims; k++)
			if (extent[k] > extent[i]) {
				int64_t swap = extent[i];
				extent[i] = extent[k];
				extent[k] = swap;
			}
}

static struct grid grid_make(uint32_t size, int dims, bool reversed)
{
	struct grid g = {.dims = dims};
	int64_t extent[GRID_DIMS], stride = 1;
	even_extents(size, dims, extent);
	for (int i = 0; i < dims; i++)
		g.extent[i] = extent[reversed ? dims - 1 - i : i];
	for (int i = dims - 1; i >= 0; i--) {
		g.stride[i] = stride;
		stride *= g.extent[i];
	}
	return g;
}

struct world grid_world(uint32_t size)
{
	struct world w = {.size = size};
	w.grid[0] = grid_make(size, 1, false);
	for (int dims = 2; dims <= GRID_DIMS; dims++)
		for (int reversed = 0; reversed < 2; reversed++)
			w.grid[2 * dims - 3 + reversed] = grid_make(size, dims, reversed);
	return w;
}
