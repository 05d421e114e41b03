/* SPDX-License-Identifier: BSD-3-Clause
 * rankorder - the ranks of a map by number
 */
#include "trace/model/rankorder.h"

#include <stdlib.h>

/* NULL: all ranks below are alike. */
static const struct diagram_node *inner(const struct rankmap *m, uint32_t to)
{
	return to < DIAGRAM_NODE || m->nodes[to - DIAGRAM_NODE].low == DIAGRAM_LEAF ? NULL
	                                                                            : &m->nodes[to - DIAGRAM_NODE];
}

int rank_order_init(struct rank_order *o, const struct rankmap *m)
{
	*o = (struct rank_order){m, rankmap_shares(m)};
	return o->share ? 0 : -1;
}

void rank_order_free(struct rank_order *o)
{
	free(o->share);
	o->share = NULL;
}

uint64_t rank_order_number(const struct rank_order *o, uint32_t rank)
{
	uint64_t number = 0;
	uint32_t at = o->map->root, level = o->map->level;
	if (level < DIAGRAM_LEVELS && rank >> level)
		return o->share[at] >> (DIAGRAM_LEVELS - level);
	for (const struct diagram_node *n; (n = inner(o->map, at));) {
		level--;
		bool high = rank >> level & 1;
		number += high ? o->share[n->low] >> (DIAGRAM_LEVELS - level) : 0;
		at = high ? n->high : n->low;
	}
	return at == DIAGRAM_ABSENT ? number : number + (rank & ((UINT64_C(1) << level) - 1));
}

uint32_t rank_order_rank(const struct rank_order *o, uint64_t number)
{
	uint32_t rank = 0, at = o->map->root, level = o->map->level;
	if (number >= o->share[at] >> (DIAGRAM_LEVELS - level))
		return UINT32_MAX;
	for (const struct diagram_node *n; (n = inner(o->map, at));) {
		uint64_t low = o->share[n->low] >> (DIAGRAM_LEVELS - --level);
		bool high = number >= low;
		number -= high ? low : 0;
		rank |= high ? UINT32_C(1) << level : 0;
		at = high ? n->high : n->low;
	}
	return rank + (uint32_t)number;
}
