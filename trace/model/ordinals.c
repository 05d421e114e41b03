/* SPDX-License-Identifier: BSD-3-Clause
 * ordinals - the ranks of a map by number: 0 is the lowest one
 */
#include "trace/model/ordinals.h"

#include "trace/base/budget.h"

int ordinals_init(struct ordinals *o, const struct rankmap *m)
{
	*o = (struct ordinals){m, rankmap_shares(m)};
	return o->share ? 0 : -1;
}

void ordinals_free(struct ordinals *o)
{
	budget_free(o->share);
	o->share = NULL;
}

uint64_t ordinals_number(const struct ordinals *o, uint32_t rank)
{
	uint64_t number = 0;
	uint32_t at = o->map->root, level = o->map->level;
	if (level < DIAGRAM_LEVELS && rank >> level)
		return o->share[at] >> (DIAGRAM_LEVELS - level);
	for (const struct diagram_node *n; (n = rankmap_inner(o->map, at));) {
		level--;
		bool high = rank >> level & 1;
		number += high ? o->share[n->low] >> (DIAGRAM_LEVELS - level) : 0;
		at = high ? n->high : n->low;
	}
	return at == DIAGRAM_ABSENT ? number : number + (rank & ((UINT64_C(1) << level) - 1));
}

uint32_t ordinals_rank(const struct ordinals *o, uint64_t number)
{
	uint32_t rank = 0, at = o->map->root, level = o->map->level;
	if (number >= o->share[at] >> (DIAGRAM_LEVELS - level))
		return UINT32_MAX;
	for (const struct diagram_node *n; (n = rankmap_inner(o->map, at));) {
		uint64_t low = o->share[n->low] >> (DIAGRAM_LEVELS - --level);
		bool high = number >= low;
		number -= high ? low : 0;
		rank |= high ? UINT32_C(1) << level : 0;
		at = high ? n->high : n->low;
	}
	return rank + (uint32_t)number;
}
