/* SPDX-License-Identifier: BSD-3-Clause
 * shape - what statements are but for a few values: their holes
 *
 *     for (long i = rank == 0 ? 2 : 0; i > 0; i--)      for (long . = .; . > 0; .--)
 *             Recv(10, 1, MPI_INT, next(0));                    Recv(., ., ., next(.));
 *
 * A hole is a number, an expression of the rank, a handle that is a constant, or a table. The variables of loops are
 * known by how far these are.
 */
#ifndef SPOOR_PROXY_SHAPE_H
#define SPOOR_PROXY_SHAPE_H

#include "proxy/routine.h"

/* Kinds of holes. Those of handles have a lower-case letter each (columns.h); so has the name of a parameter that is
 * given for a hole, as its number. */
enum {
	HOLE_NUMBER = 'L',
	HOLE_SITE = 'S',
	HOLE_QUEUE = 'Q',
	HOLE_VISIT = 'V',
	HOLE_TABLE = 'T',
};

struct hole {
	char kind;
	const struct tree_node *of;
	/* Where it is: the call, and its argument; else what is in front of it, or NULL. */
	const char *call;
	uint32_t argument;
	enum node_form statement;
};

/* Is it counted: may others be so much more? */
static inline bool hole_is_counted(char kind)
{
	return kind == HOLE_SITE || kind == HOLE_QUEUE || kind == HOLE_VISIT;
}

/* Zero-initialised is empty. */
struct holes {
	struct hole *each;
	uint32_t count, capacity;
};

/* loops: around a statement, in its function. */
uint64_t shape_hash(const struct tree_node *n, int64_t loops);
bool shape_same(const struct tree_node *a, int64_t loops_of_a, const struct tree_node *b, int64_t loops_of_b);
/* Adds the holes of a statement, in order. Returns 0, or -1: no memory. */
int shape_holes(const struct tree_node *n, struct holes *h);
/* What stands in the hole of a number. */
typedef const struct tree_node *shape_filled(void *context, struct tree *t, uint32_t number);
/* A statement with something else in its holes, which have numbers from *next on. outer: loops that are not around it
 * any more. */
const struct tree_node *shape_fill(struct tree *t, const struct tree_node *n, int64_t outer, shape_filled *filled,
                                   void *context, uint32_t *next);

#endif
