/* SPDX-License-Identifier: BSD-3-Clause
 * passage - statements that stand in several places, but for their holes; a function for them
 */
#ifndef SPOOR_PROXY_PASSAGE_H
#define SPOOR_PROXY_PASSAGE_H

#include "proxy/shape.h"

#define GIVEN_MOST 8 /* parameters of a function, besides variables */

/* Where it stands: statements one behind the other. */
struct passage_place {
	const struct tree_node *const *each; /* the statements */
	int64_t loops;                       /* around them */
	bool last;                           /* nothing stands behind them in their block */
	struct holes holes;
};

struct passage {
	struct passage_place *places;
	uint32_t count, length;          /* length: statements in each */
	const struct routines *known[2]; /* functions whose parameters say what something is called */
	/* Found by passage_find_given. */
	uint32_t given[GIVEN_MOST]; /* holes that are parameters */
	const char *names[GIVEN_MOST];
	uint32_t given_count;
	/* Loops around, whose variables a function is given: a bit for each, by how far it is. */
	uint64_t loops;
	bool visit; /* it is given the number of the visit */
};

/* What a function for them is given. Names are of the tree's room. Returns 1; 0: they cannot be one; -1: no memory. */
int passage_find_given(struct passage *p, struct tree *t);
/* Adds the function. */
void passage_function(const struct passage *p, struct tree *t, const char *name, struct routines *out);
/* Its call in a place. */
const struct tree_node *passage_call(const struct passage *p, struct tree *t, uint32_t place, const char *name);
/* Forgets the holes. */
void passage_end(struct passage *p);

#endif
