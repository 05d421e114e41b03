/* SPDX-License-Identifier: BSD-3-Clause
 * shape - what statements are but for a few values: their holes
 */
#include "proxy/shape.h"

#include <string.h>

#include "proxy/node_same.h"
#include "trace/base/budget.h"

static bool is_among(const char *name, const char *const *names, size_t count)
{
	size_t i = 0;
	while (i < count && strcmp(name, names[i]) != 0)
		i++;
	return i < count;
}

/* The kind of hole that a name goes into; 0: none. */
static char kind_of_name(const struct tree_node *n)
{
	static const char *const ours[] = {"rank", "size", "KEPT"}, *const numbers[] = {"MPI_ANY_SOURCE", "MPI_ANY_TAG",
	                                                                                "MPI_PROC_NULL",
	                                                                                "MPI_UNDEFINED"};
	if (n->number)
		return (char)n->number;
	bool number = n->form == NODE_NAME ? is_among(n->name, ours, sizeof ours / sizeof *ours)
	                                   : is_among(n->name, numbers, sizeof numbers / sizeof *numbers);
	return number ? HOLE_NUMBER : 0;
}

/* Is it a function of the rank, without tables? */
static bool is_of_rank(const struct tree_node *n)
{
	if (n->form == NODE_NUMBER)
		return true;
	if (n->form == NODE_NAME || n->form == NODE_CONSTANT)
		return kind_of_name(n) == HOLE_NUMBER;
	bool operation = n->form == NODE_NEGATED || (n->form >= NODE_TIMES && n->form <= NODE_IN_BRACKETS);
	for (uint32_t i = 0; i < n->count && operation; i++)
		operation = is_of_rank(n->at[i]);
	return operation;
}

static bool is_table(const struct definition *d)
{
	return d->sides == 1 && !d->hexadecimal && d->number != DEFINITION_ALONE;
}

static char hole_of(const struct tree_node *n)
{
	switch (n->form) {
	case NODE_SITE:
		return HOLE_SITE;
	case NODE_QUEUE:
		return HOLE_QUEUE;
	case NODE_COUNTER:
		return HOLE_VISIT;
	case NODE_USE:
		return is_table(definition_shared(n->of)) ? HOLE_TABLE : 0;
	case NODE_NAME:
	case NODE_CONSTANT:
		return kind_of_name(n);
	default:
		return is_of_rank(n) ? HOLE_NUMBER : 0;
	}
}

/* What the number of a node says, but for the place it is in. */
static int64_t number_in(const struct tree_node *n, int64_t loops)
{
	return node_is_loop(n) || n->form == NODE_LOOP || n->form == NODE_LOOP_END ? n->number - loops : n->number;
}

/* Numbers of loops are counted from that in which all statements are: it does not change in a statement. */
uint64_t shape_hash(const struct tree_node *n, int64_t loops)
{
	char kind = hole_of(n);
	if (kind)
		return hash_mix(11, (uint64_t)kind);
	uint64_t hash = hash_mix((uint64_t)n->form * 64 + n->count, (uint64_t)number_in(n, loops));
	if (n->name)
		hash = hash_mix(hash, hash_bytes(n->name, strlen(n->name)));
	if (n->of)
		hash = hash_mix(hash, (uint64_t)(uintptr_t)definition_shared(n->of));
	for (uint32_t i = 0; i < n->count; i++)
		hash = hash_mix(hash, shape_hash(n->at[i], loops));
	return hash;
}

bool shape_same(const struct tree_node *a, int64_t loops_of_a, const struct tree_node *b, int64_t loops_of_b)
{
	char kind = hole_of(a);
	if (kind != hole_of(b))
		return false;
	if (kind)
		return true;
	if (a->form != b->form || a->count != b->count || number_in(a, loops_of_a) != number_in(b, loops_of_b) ||
	    !a->name != !b->name || (a->name && strcmp(a->name, b->name) != 0) || !a->of != !b->of ||
	    (a->of && definition_shared(a->of) != definition_shared(b->of)))
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!shape_same(a->at[i], loops_of_a, b->at[i], loops_of_b))
			return false;
	return true;
}

/* ---- holes ---- */

static int add_holes(const struct tree_node *n, struct hole place, struct holes *h)
{
	place.kind = hole_of(n);
	if (place.kind) {
		if (!budget_grow(&h->each, h->count, &h->capacity, sizeof *h->each))
			return -1;
		place.of = n;
		h->each[h->count++] = place;
		return 0;
	}
	if (n->form == NODE_IF || n->form == NODE_STATEMENT || n->form == NODE_DECLARE || node_is_loop(n))
		place = (struct hole){.statement = n->form};
	for (uint32_t i = 0; i < n->count; i++) {
		if (n->form == NODE_CALL || n->form == NODE_AT) {
			place.call = n->form == NODE_CALL ? n->name : n->at[0]->name;
			place.argument = i;
			place.statement = n->form;
		}
		if (add_holes(n->at[i], place, h) != 0)
			return -1;
	}
	return 0;
}

int shape_holes(const struct tree_node *n, struct holes *h)
{
	return add_holes(n, (struct hole){.statement = n->form}, h);
}

const struct tree_node *shape_fill(struct tree *t, const struct tree_node *n, int64_t outer, shape_filled *filled,
                                   void *context, uint32_t *next)
{
	if (hole_of(n)) {
		const struct tree_node *other = filled(context, t, (*next)++);
		return other ? other : n;
	}
	struct nodes all = {0};
	for (uint32_t i = 0; i < n->count; i++)
		nodes_add(t, &all, shape_fill(t, n->at[i], outer, filled, context, next));
	bool moves = outer && (node_is_loop(n) || n->form == NODE_LOOP || n->form == NODE_LOOP_END);
	const struct tree_node *made = n;
	if (moves) {
		struct tree_node like = {.name = n->name, .of = n->of, .number = n->number - outer};
		made = node_new(t, n->form, &like, all.each, all.count);
	} else if (n->count) {
		made = node_with(t, n, all.each);
	}
	budget_free(all.each);
	return made;
}
