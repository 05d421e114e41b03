/* SPDX-License-Identifier: BSD-3-Clause
 * passes - how often nodes of a loop nest are passed in a turn of their parent
 */
#include "proxy/passes.h"

#include <string.h>

bool passes_once(const struct structure *s, uint32_t node)
{
	for (uint32_t r = 0; r < s->ranks; r++) {
		const struct runs *x = structure_runs(s, s->times[node], r);
		for (int64_t i = 0; x && i < x->count; i++)
			if (x->each[i].stride != 0 || x->each[i].start > 1)
				return false;
	}
	return true;
}

bool passes_plain(const struct structure *s, uint32_t node)
{
	for (uint32_t r = 0; r < s->ranks; r++) {
		const struct runs *x = structure_runs(s, s->times[node], r);
		if (x && (x->count > 1 || x->each[0].stride != 0 || x->each[0].start > 1))
			return false;
	}
	return true;
}

bool passes_always(const struct structure *s, uint32_t node)
{
	for (uint32_t r = 0; r < s->ranks; r++) {
		const struct runs *x = structure_runs(s, s->times[node], r);
		if (x && (x->count > 1 || x->each[0].stride != 0 || x->each[0].start != 1))
			return false;
	}
	return true;
}

bool passes_together(const struct structure *s, uint32_t node, uint32_t first, uint32_t end)
{
	const uint32_t *of_rank = s->columns[s->times[node]].of_rank;
	for (uint32_t c = first; c != end && c != NEST_NONE; c = s->nest.nodes[c].next)
		if (c == 0 || s->nest.nodes[c].any_order ||
		    memcmp(s->columns[s->times[c]].of_rank, of_rank, s->ranks * sizeof *of_rank) != 0)
			return false;
	return true;
}

uint32_t passes_count(const struct structure *s, uint32_t first, uint32_t end)
{
	uint32_t count = 0;
	for (uint32_t c = first; c != end && c != NEST_NONE; c = s->nest.nodes[c].next)
		count++;
	return count;
}
