/* SPDX-License-Identifier: BSD-3-Clause
 * place - a rank as a place in the grid, each coordinate of which follows from those of the caller
 */
#ifndef SPOOR_EXTRAPOLATE_PLACE_H
#define SPOOR_EXTRAPOLATE_PLACE_H

#include "cmd/extrapolate/term.h"

struct coordinate {
	enum coordinate_kind {
		COORDINATE_SHIFT,  /* coordinate `from` + by, around the end */
		COORDINATE_HALVES, /* xor half the extent, a quarter, ... in the turns of a loop */
		COORDINATE_POWERS, /* xor 1, 2, 4, ... in the turns of a loop */
		COORDINATE_XOR,    /* xor `by` */
		COORDINATE_DOWN,   /* rounded down to a multiple of `by` */
		COORDINATE_FIRST,
		COORDINATE_LAST,
	} kind;
	int from, by;
};

struct grid_place {
	struct coordinate each[GRID_DIMS];
};

int64_t place_value(const struct grid_place *l, const struct grid *g, const struct point *p);
/* Of values that are relative to the rank itself. */
bool place_find(struct grid_place *l, const struct sample *s);

#endif
