/* SPDX-License-Identifier: BSD-3-Clause
 * diagram - a decision diagram that is being made: every node once, found by its content
 *
 * Edges are 0 (no rank), 1 (all ranks, with the number that was added up), or a node. Ranks 0 .. 3 with 5 5 9 9:
 *
 *     node 0: low edge 1, high edge 1, delta 4        the map: root node 0, level 2, base 5
 *
 * The halves 5 5 and 9 9 have no nodes: each is edge 1, with the base 5 or 9.
 *
 * Invariants: a node stands behind those that it refers to; no two nodes have the same content; delta is 0 unless both
 * halves have numbers; two equal halves without delta that are uniform are no node. So equal maps have equal nodes.
 */
#include "trace/model/diagram.h"

#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/rankmap.h"

static void free_arrays(struct diagram *l)
{
	if (l->lent)
		return;
	budget_free(l->nodes);
	budget_free(l->plain);
	budget_free(l->slots);
	budget_free(l->scratch);
}

void diagram_free(struct diagram *l)
{
	free_arrays(l);
	*l = (struct diagram){0};
}

void diagram_begin(struct diagram *l, struct diagram_room *room)
{
	memset(room->slots, 0, sizeof room->slots);
	memset(room->scratch, 0, sizeof room->scratch);
	*l = (struct diagram){.nodes = room->nodes,
	                      .plain = room->plain,
	                      .slots = room->slots,
	                      .scratch = room->scratch,
	                      .capacity = DIAGRAM_ROOM,
	                      .mask = 2 * DIAGRAM_ROOM - 1,
	                      .lent = true};
}

static uint32_t hash_node(const struct diagram_node *n)
{
	return (uint32_t)(hash_mix(hash_mix(n->low, n->high), (uint64_t)n->delta) >> 7);
}

static bool diagram_grow(struct diagram *l)
{
	uint32_t capacity = l->capacity ? l->capacity * 2 : 32;
	struct diagram_node *nodes = budget_malloc(capacity * sizeof *nodes);
	bool *plain = budget_malloc(capacity * sizeof *plain);
	uint32_t *slots = budget_calloc(capacity, 2 * sizeof *slots),
		 *scratch = budget_calloc(capacity, 2 * sizeof *scratch);
	if (!nodes || !plain || !slots || !scratch || capacity > UINT32_C(1) << 30) {
		budget_free(nodes);
		budget_free(plain);
		budget_free(slots);
		budget_free(scratch);
		l->failed = true;
		return false;
	}
	if (l->count) {
		memcpy(nodes, l->nodes, l->count * sizeof *nodes);
		memcpy(plain, l->plain, l->count * sizeof *plain);
	}
	free_arrays(l);
	l->lent = false;
	l->nodes = nodes;
	l->plain = plain;
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

bool diagram_has_number(const struct diagram *l, uint32_t to)
{
	return to == DIAGRAM_PLAIN || (to >= DIAGRAM_NODE && l->plain[to - DIAGRAM_NODE]);
}

static uint32_t diagram_intern(struct diagram *l, struct diagram_node n)
{
	assert(n.low == DIAGRAM_LEAF || (n.low < l->count + DIAGRAM_NODE && n.high < l->count + DIAGRAM_NODE));
	assert(n.low == DIAGRAM_LEAF || n.delta == 0 ||
	       (diagram_has_number(l, n.low) && diagram_has_number(l, n.high)));
	if (l->count == l->capacity && !diagram_grow(l))
		return DIAGRAM_ABSENT;
	uint32_t at = hash_node(&n) & l->mask;
	for (; l->slots[at]; at = (at + 1) & l->mask) {
		const struct diagram_node *known = &l->nodes[l->slots[at] - 1];
		if (known->low == n.low && known->high == n.high && known->delta == n.delta)
			return l->slots[at] - 1 + DIAGRAM_NODE;
	}
	assert(n.low == DIAGRAM_LEAF || (n.low < l->count + DIAGRAM_NODE && n.high < l->count + DIAGRAM_NODE));
	l->nodes[l->count] = n;
	l->plain[l->count] = n.low != DIAGRAM_LEAF && (diagram_has_number(l, n.low) || diagram_has_number(l, n.high));
	l->slots[at] = ++l->count;
	return l->count - 1 + DIAGRAM_NODE;
}

struct diagram_edge diagram_leaf(struct diagram *l, int64_t value)
{
	return (struct diagram_edge){diagram_intern(l, (struct diagram_node){.low = DIAGRAM_LEAF, .delta = value}), 0};
}

struct diagram_edge diagram_node_of(struct diagram *l, struct diagram_edge low, struct diagram_edge high)
{
	if (low.to == DIAGRAM_ABSENT && high.to == DIAGRAM_ABSENT)
		return (struct diagram_edge){DIAGRAM_ABSENT, 0};
	bool low_plain = diagram_has_number(l, low.to), high_plain = diagram_has_number(l, high.to);
	struct diagram_node n = {.low = low.to,
	                         .high = high.to,
	                         .delta = low_plain && high_plain ? (int64_t)((uint64_t)high.base - (uint64_t)low.base)
	                                                          : 0};
	struct diagram_edge made = {.base = low_plain ? low.base : high_plain ? high.base : 0};
	bool uniform = low.to == DIAGRAM_PLAIN ||
	               (low.to >= DIAGRAM_NODE && l->nodes[low.to - DIAGRAM_NODE].low == DIAGRAM_LEAF);
	made.to = low.to == high.to && n.delta == 0 && uniform ? low.to : diagram_intern(l, n);
	return made;
}

void diagram_rollback(struct diagram *l, uint32_t count)
{
	assert(count <= l->count);
	/* in reverse order: no node's search goes past the place of one that came later */
	while (l->count > count) {
		uint32_t at = hash_node(&l->nodes[--l->count]) & l->mask;
		while (l->slots[at] != l->count + 1)
			at = (at + 1) & l->mask;
		l->slots[at] = 0;
	}
}

/* Numbers the nodes below `to` in the order of a walk (low side first, nodes after their sides): the canonical order.
 * number[i]: of node i, + DIAGRAM_NODE. */
static void collect(const struct diagram *l, uint32_t to, uint32_t *number, uint32_t *order, uint32_t *count)
{
	if (to < DIAGRAM_NODE || number[to - DIAGRAM_NODE])
		return;
	const struct diagram_node *n = &l->nodes[to - DIAGRAM_NODE];
	if (n->low != DIAGRAM_LEAF) {
		collect(l, n->low, number, order, count);
		collect(l, n->high, number, order, count);
	}
	assert(number && order && *count < l->count);
	order[*count] = to - DIAGRAM_NODE;
	number[to - DIAGRAM_NODE] = (*count)++ + DIAGRAM_NODE;
}

int diagram_map(const struct diagram *l, struct diagram_edge root, uint32_t level, struct rankmap *out)
{
	*out = (struct rankmap){0};
	if (l->failed)
		return -1;
	while (root.to >= DIAGRAM_NODE && l->nodes[root.to - DIAGRAM_NODE].low != DIAGRAM_LEAF &&
	       l->nodes[root.to - DIAGRAM_NODE].high == DIAGRAM_ABSENT) {
		root.to = l->nodes[root.to - DIAGRAM_NODE].low;
		level--;
	}
	if (root.to == DIAGRAM_ABSENT)
		return 0;
	uint32_t count = 0, *number = l->scratch, *order = number ? number + l->capacity : NULL;
	collect(l, root.to, number, order, &count);
	struct diagram_node *nodes = count ? budget_malloc(count * sizeof *nodes) : NULL;
	*out = (struct rankmap){.nodes = nodes,
	                        .node_count = count,
	                        .level = level,
	                        .base = diagram_has_number(l, root.to) ? root.base : 0};
	out->root = root.to < DIAGRAM_NODE ? root.to : number[root.to - DIAGRAM_NODE];
	for (uint32_t i = 0; nodes && i < count; i++) {
		struct diagram_node n = l->nodes[order[i]];
		if (n.low != DIAGRAM_LEAF) {
			assert(n.low < DIAGRAM_NODE ||
			       number[n.low - DIAGRAM_NODE] < i + DIAGRAM_NODE); /* after its sides */
			n.low = n.low < DIAGRAM_NODE ? n.low : number[n.low - DIAGRAM_NODE];
			n.high = n.high < DIAGRAM_NODE ? n.high : number[n.high - DIAGRAM_NODE];
		}
		nodes[i] = n;
	}
	for (uint32_t i = 0; i < count; i++)
		number[order[i]] = 0;
	if (!nodes && count > 0)
		*out = (struct rankmap){0};
	return nodes || count == 0 ? 0 : -1;
}
