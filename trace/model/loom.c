/* SPDX-License-Identifier: BSD-3-Clause
 * loom - a decision diagram that is being made: every node once, found by its content
 */
#include "trace/model/loom.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/rankmap.h"

void rank_loom_free(struct rank_loom *l)
{
	budget_free(l->nodes);
	budget_free(l->plain);
	budget_free(l->slots);
	budget_free(l->scratch);
	*l = (struct rank_loom){0};
}

static uint32_t hash_node(const struct rank_node *n)
{
	return (uint32_t)(hash_mix(hash_mix(n->low, n->high), (uint64_t)n->delta) >> 7);
}

static bool loom_grow(struct rank_loom *l)
{
	uint32_t capacity = l->capacity ? l->capacity * 2 : 32;
	struct rank_node *nodes = budget_realloc(l->nodes, capacity * sizeof *nodes);
	if (nodes)
		l->nodes = nodes;
	bool *plain = nodes ? budget_realloc(l->plain, capacity * sizeof *plain) : NULL;
	if (plain)
		l->plain = plain;
	uint32_t *slots = plain ? budget_calloc(capacity, 2 * sizeof *slots) : NULL,
		 *scratch = slots ? budget_calloc(capacity, 2 * sizeof *scratch) : NULL;
	if (!scratch || capacity > UINT32_C(1) << 30) {
		budget_free(slots);
		budget_free(scratch);
		l->failed = true;
		return false;
	}
	budget_free(l->slots);
	budget_free(l->scratch);
	l->slots = slots;
	l->scratch = scratch;
	l->capacity = capacity;
	l->mask = 2 * capacity - 1;
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t at = hash_node(&l->nodes[i]) & l->mask;
		while (slots[at])
			at = (at + 1) & l->mask;
		slots[at] = i + 1;
	}
	return true;
}

bool rank_loom_plain(const struct rank_loom *l, uint32_t to)
{
	return to == RANK_PLAIN || (to >= RANK_NODE && l->plain[to - RANK_NODE]);
}

static uint32_t loom_intern(struct rank_loom *l, struct rank_node n)
{
	if (l->count == l->capacity && !loom_grow(l))
		return RANK_ABSENT;
	uint32_t at = hash_node(&n) & l->mask;
	for (; l->slots[at]; at = (at + 1) & l->mask) {
		const struct rank_node *known = &l->nodes[l->slots[at] - 1];
		if (known->low == n.low && known->high == n.high && known->delta == n.delta)
			return l->slots[at] - 1 + RANK_NODE;
	}
	l->nodes[l->count] = n;
	l->plain[l->count] = n.low != RANK_LEAF && (rank_loom_plain(l, n.low) || rank_loom_plain(l, n.high));
	l->slots[at] = ++l->count;
	return l->count - 1 + RANK_NODE;
}

struct rank_edge rank_edge_leaf(struct rank_loom *l, int64_t value)
{
	return (struct rank_edge){loom_intern(l, (struct rank_node){.low = RANK_LEAF, .delta = value}), 0};
}

struct rank_edge rank_edge_make(struct rank_loom *l, struct rank_edge low, struct rank_edge high)
{
	if (low.to == RANK_ABSENT && high.to == RANK_ABSENT)
		return (struct rank_edge){RANK_ABSENT, 0};
	bool low_plain = rank_loom_plain(l, low.to), high_plain = rank_loom_plain(l, high.to);
	struct rank_node n = {.low = low.to,
	                      .high = high.to,
	                      .delta = low_plain && high_plain ? (int64_t)((uint64_t)high.base - (uint64_t)low.base)
	                                                       : 0};
	struct rank_edge made = {.base = low_plain ? low.base : high_plain ? high.base : 0};
	bool uniform = low.to == RANK_PLAIN || (low.to >= RANK_NODE && l->nodes[low.to - RANK_NODE].low == RANK_LEAF);
	made.to = low.to == high.to && n.delta == 0 && uniform ? low.to : loom_intern(l, n);
	return made;
}

void rank_loom_rollback(struct rank_loom *l, uint32_t count)
{
	/* in reverse order: no node's search goes past the place of one that came later */
	while (l->count > count) {
		uint32_t at = hash_node(&l->nodes[--l->count]) & l->mask;
		while (l->slots[at] != l->count + 1)
			at = (at + 1) & l->mask;
		l->slots[at] = 0;
	}
}

/* Numbers the nodes below `to` in the order of a walk (low side first, nodes after their sides): the canonical order.
 * number[i]: of node i, + RANK_NODE. */
static void collect(const struct rank_loom *l, uint32_t to, uint32_t *number, uint32_t *order, uint32_t *count)
{
	if (to < RANK_NODE || number[to - RANK_NODE])
		return;
	const struct rank_node *n = &l->nodes[to - RANK_NODE];
	if (n->low != RANK_LEAF) {
		collect(l, n->low, number, order, count);
		collect(l, n->high, number, order, count);
	}
	order[*count] = to - RANK_NODE;
	number[to - RANK_NODE] = (*count)++ + RANK_NODE;
}

int rank_loom_map(const struct rank_loom *l, struct rank_edge root, uint32_t level, struct rankmap *out)
{
	*out = (struct rankmap){0};
	if (l->failed)
		return -1;
	while (root.to >= RANK_NODE && l->nodes[root.to - RANK_NODE].low != RANK_LEAF &&
	       l->nodes[root.to - RANK_NODE].high == RANK_ABSENT) {
		root.to = l->nodes[root.to - RANK_NODE].low;
		level--;
	}
	if (root.to == RANK_ABSENT)
		return 0;
	uint32_t count = 0, *number = l->scratch, *order = number ? number + l->capacity : NULL;
	collect(l, root.to, number, order, &count);
	struct rank_node *nodes = count ? budget_malloc(count * sizeof *nodes) : NULL;
	*out = (struct rankmap){.nodes = nodes,
	                        .node_count = count,
	                        .level = level,
	                        .base = rank_loom_plain(l, root.to) ? root.base : 0};
	out->root = root.to < RANK_NODE ? root.to : number[root.to - RANK_NODE];
	for (uint32_t i = 0; nodes && i < count; i++) {
		struct rank_node n = l->nodes[order[i]];
		if (n.low != RANK_LEAF) {
			n.low = n.low < RANK_NODE ? n.low : number[n.low - RANK_NODE];
			n.high = n.high < RANK_NODE ? n.high : number[n.high - RANK_NODE];
		}
		nodes[i] = n;
	}
	for (uint32_t i = 0; i < count; i++)
		number[order[i]] = 0;
	if (!nodes && count > 0)
		*out = (struct rankmap){0};
	return nodes || count == 0 ? 0 : -1;
}
