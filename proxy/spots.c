/* SPDX-License-Identifier: BSD-3-Clause
 * spots - the statements of a program in one list, each in front of those in it
 */
#include "proxy/spots.h"

#include "proxy/shape.h"
#include "trace/base/budget.h"

struct facts_key {
	const struct spots *x;
	const struct tree_node *of;
	int64_t loops;
};

static bool is_of_statement(const void *context, uint32_t i)
{
	const struct facts_key *k = context;
	return k->x->facts[i].of == k->of && k->x->facts[i].loops == k->loops;
}

/* Returns the number of its facts; INDEX_NONE: no memory. */
static uint32_t facts_of(struct spots *x, const struct tree_node *n, int64_t loops)
{
	struct facts_key key = {x, n, loops};
	uint64_t hash = hash_mix((uint64_t)(uintptr_t)n, (uint64_t)loops);
	uint32_t i = index_find(&x->by_statement, hash, is_of_statement, &key);
	if (i != INDEX_NONE)
		return i;
	struct printer p = {.out = NULL};
	print_statement(&p, node_1(&x->scratch, NODE_SEQUENCE, n), 0); /* a block has braces there */
	if (!budget_grow(&x->facts, x->facts_count, &x->facts_capacity, sizeof *x->facts) ||
	    index_add(&x->by_statement, hash, x->facts_count) != 0)
		return INDEX_NONE;
	x->facts[x->facts_count] = (struct statement_facts){n, loops, shape_hash(n, loops), (uint32_t)p.size, p.lines};
	return x->facts_count++;
}

uint32_t spots_lists(const struct tree_node *n)
{
	switch (n->form) {
	case NODE_IF:
	case NODE_FOR:
	case NODE_FOR_END:
	case NODE_FOR_DOWN:
	case NODE_BLOCK:
		return 1;
	case NODE_SWITCH:
		return n->count - 1;
	default:
		return 0;
	}
}

const struct tree_node *const *spots_list(const struct tree_node *n, uint32_t i, uint32_t *count)
{
	const struct tree_node *const *child = &n->at[n->form == NODE_BLOCK ? 0 : n->form == NODE_SWITCH ? i + 1 : 1];
	const struct tree_node *list = n->form == NODE_BLOCK ? n : n->form == NODE_SWITCH ? (*child)->at[0] : *child;
	bool bare = list->form != NODE_BLOCK && list->form != NODE_SEQUENCE;
	*count = bare ? 1 : list->count;
	return bare ? child : list->at;
}

static int add_spots(struct spots *x, const struct tree_node *const *each, uint32_t count, int64_t loops, int indent)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t own = x->count, inside;
		if (!budget_grow(&x->each, x->count, &x->capacity, sizeof *x->each))
			return -1;
		x->each[x->count++] = (struct spot){.each = each + i,
		                                    .left = count - i,
		                                    .facts = facts_of(x, each[i], loops),
		                                    .loops = loops,
		                                    .indent = indent};
		if (x->each[own].facts == INDEX_NONE)
			return -1;
		for (uint32_t k = 0; k < spots_lists(each[i]); k++) {
			const struct tree_node *const *list = spots_list(each[i], k, &inside);
			if (add_spots(x, list, inside, loops + node_is_loop(each[i]), indent + 1) != 0)
				return -1;
		}
		x->each[own].span = x->count - own;
	}
	return 0;
}

static bool has_shape(const void *context, uint32_t i)
{
	const struct facts_key *k = context;
	return spots_facts(k->x, i)->shape == (uint64_t)k->loops;
}

int spots_find_alike(struct spots *x)
{
	index_free(&x->by_shape);
	uint32_t *first = budget_malloc((x->count + UINT64_C(1)) * sizeof *first);
	int rv = first ? 0 : -1;
	for (uint32_t i = x->count; i-- > 0 && rv == 0;) {
		struct facts_key key = {x, NULL, (int64_t)spots_facts(x, i)->shape};
		uint32_t last = index_find(&x->by_shape, spots_facts(x, i)->shape, has_shape, &key);
		x->each[i].alike = SPOT_NONE;
		if (last == INDEX_NONE) {
			rv = index_add(&x->by_shape, spots_facts(x, i)->shape, i);
			x->each[i].same = 1;
		} else {
			x->each[i].alike = first[last];
			x->each[i].same = ++x->each[last].same;
		}
		first[last == INDEX_NONE ? i : last] = i;
	}
	budget_free(first);
	return rv;
}

void spots_begin(struct spots *s)
{
	s->count = 0;
	tree_free(&s->scratch);
}

int spots_add(struct spots *s, const struct tree_node *body)
{
	return add_spots(s, body->at, body->count, 0, 1);
}

void spots_free(struct spots *s)
{
	budget_free(s->each);
	budget_free(s->facts);
	index_free(&s->by_statement);
	index_free(&s->by_shape);
	tree_free(&s->scratch);
}
