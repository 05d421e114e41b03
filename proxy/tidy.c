/* SPDX-License-Identifier: BSD-3-Clause
 * tidy - statements of a program without what they do not need
 */
#include "proxy/tidy.h"

/* One statement of one line, which may stand without a block. */
static bool is_single(const struct tree_node *block)
{
	return block->form == NODE_BLOCK && block->count == 1 && block->at[0]->form == NODE_STATEMENT;
}

static bool declares_variable(const struct tree_node *block)
{
	for (uint32_t i = 0; i < block->count; i++)
		if (block->at[i]->form == NODE_DECLARE)
			return true;
	return false;
}

/* The block of a loop or condition. */
static const struct tree_node *bare_block(struct tree *t, const struct tree_node *block)
{
	block = tidy_statements(t, block);
	return is_single(block) ? block->at[0] : block;
}

static const struct tree_node *tidy_for(struct tree *t, const struct tree_node *n)
{
	const struct tree_node *block = bare_block(t, n->at[1]);
	bool counts = n->form == NODE_FOR_END && node_count(block, NODE_LOOP, n->number) == 0 &&
	              node_count(block, NODE_LOOP_END, n->number) == 0;
	return node_new(t, counts ? NODE_FOR_DOWN : n->form, n, NODES(n->at[0], block));
}

/* A sequence in a list is part of it. */
static const struct tree_node *tidy_list(struct tree *t, const struct tree_node *n)
{
	struct nodes all = {0};
	for (uint32_t i = 0; i < n->count; i++) {
		const struct tree_node *one = tidy_statements(t, n->at[i]);
		for (uint32_t k = 0; one->form == NODE_SEQUENCE && k < one->count; k++)
			nodes_add(t, &all, one->at[k]);
		if (one->form != NODE_SEQUENCE)
			nodes_add(t, &all, one);
	}
	return nodes_end(t, n->form, &all);
}

static const struct tree_node *change(void *context, struct tree *t, const struct tree_node *n)
{
	(void)context;
	switch (n->form) {
	case NODE_IF:
		return node_2(t, NODE_IF, n->at[0], bare_block(t, n->at[1]));
	case NODE_FOR:
	case NODE_FOR_END:
	case NODE_FOR_DOWN:
		return tidy_for(t, n);
	case NODE_CASE: {
		const struct tree_node *block = tidy_statements(t, n->at[0]);
		return block->form == NODE_BLOCK && !declares_variable(block)
		               ? node_1(t, NODE_CASE, node_new(t, NODE_SEQUENCE, NULL, block->at, block->count))
		               : node_1(t, NODE_CASE, block);
	}
	case NODE_BLOCK:
	case NODE_SEQUENCE:
		return tidy_list(t, n);
	case NODE_STATEMENT:
	case NODE_DECLARE:
		return n;
	default:
		return NULL;
	}
}

const struct tree_node *tidy_statements(struct tree *t, const struct tree_node *n)
{
	return node_replace(t, n, change, NULL);
}
