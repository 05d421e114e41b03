/* SPDX-License-Identifier: BSD-3-Clause
 * grammar_order - the rules of a grammar, children before parents: how they are written, and checked on the way
 *
 *     S -> R^3 c, R -> a Q, Q -> b^2 d        Q, R, S
 */
#ifndef SPOOR_GRAMMAR_ORDER_H
#define SPOOR_GRAMMAR_ORDER_H

#include "trace/record/grammar.h"

/* Zero-initialised is empty. */
struct grammar_order {
	const struct grammar_index *g;
	ref *rules; /* the guards; the start rule is the last one */
	size_t count, capacity;
	/* open addressing from a rule to its number + 1, which is UINT32_MAX while the rule is under way */
	struct {
		ref rule;
		uint32_t number, uses;
	} * map;
	size_t mask, used;
};

/* Walks all rules below start depth first, and checks every reference: the arena may be damaged, or made up. Returns 0,
 * or -1: it is damaged (a ring that is not closed, a rule inside itself, one with more uses than it counts), or there
 * is no memory. To be freed in any case. */
int grammar_order_make(struct grammar_order *o, const struct grammar_index *g, ref start);
void grammar_order_free(struct grammar_order *o);

#endif
