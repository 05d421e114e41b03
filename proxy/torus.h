/* SPDX-License-Identifier: BSD-3-Clause
 * torus - a number of a rank and a visit whose digits go round the sides of a grid of ranks
 *
 *     100 + (rank % 4 + rank / 4 + v) % 4 + 4 * ((3 + v - rank % 4) % 4)
 *
 * That is how ranks and tags are where each stage of a sweep has other partners (a cyclic multipartition), and where
 * blocks are shifted from stage to stage (Cannon's multiplication).
 */
#ifndef SPOOR_PROXY_TORUS_H
#define SPOOR_PROXY_TORUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/nodes.h"

struct torus_point {
	int64_t x, v, y; /* of rank x, at visit v; none is negative but y */
};

struct torus_digit {
	int64_t modulus;
	int64_t column, row, visit; /* factors of x % width, x / width, and v: -1, 0, 1 */
	int64_t shift;
};

struct torus {
	int64_t width, base, most_x, most_v;
	struct torus_digit low, high; /* base + low + low.modulus * high; modulus 0: there is none */
};

/* size: of MPI_COMM_WORLD, whose divisors are tried as sides. False: it is no such function. */
bool torus_find(struct torus *t, const struct torus_point *p, size_t n, int64_t size);
/* The divisors of a number from 2 on, itself included, at most so many: sides that a grid may have. Returns how many.
 * */
size_t torus_divisors(int64_t size, int64_t *out, size_t most);
/* The expression. x, v: what they are in it. */
const struct tree_node *torus_make(const struct torus *t, struct tree *tree, const struct tree_node *x,
                                   const struct tree_node *v);

#endif
