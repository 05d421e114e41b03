/* SPDX-License-Identifier: BSD-3-Clause
 * skeleton_choose - the part of a skeleton that fits into some lines
 *
 * Nodes are taken in the order of their calls, parents before children, as many as fit. What is left out between two
 * that are taken is one more line. For example, 4 lines of
 *
 *     A            1 call         A            ->  ... 1 site, 1 call
 *     loop 9 x     27 calls                        loop 9 x
 *       B x 2      18 calls                          B x 2
 *       C           9 calls                          ... 1 site, 9 calls
 *     D            1 call                          ... 1 site, 1 call       5 lines: B is left out as well
 */
#include <stdlib.h>

#include "trace/base/budget.h"
#include "trace/read/skeleton.h"

struct heavy {
	uint64_t calls;
	uint32_t node, depth;
};

static int compare_heavy(const void *a, const void *b)
{
	const struct heavy *l = a, *r = b;
	if (l->calls != r->calls)
		return l->calls < r->calls ? 1 : -1;
	if (l->depth != r->depth)
		return l->depth < r->depth ? -1 : 1;
	return (l->node > r->node) - (l->node < r->node);
}

/* Lines of the nodes that are shown, and of the gaps between them. */
static uint64_t count_lines(const struct skeleton *s, const bool *shown)
{
	uint64_t lines = 0;
	for (uint32_t i = 0; i < s->nest.count; i++) {
		bool gap = false;
		lines += shown[i] && i != s->nest.sites;
		for (uint32_t c = shown[i] ? s->nest.nodes[i].first : NEST_NONE; c != NEST_NONE;
		     c = s->nest.nodes[c].next) {
			lines += !shown[c] && !gap;
			gap = !shown[c];
		}
	}
	return lines;
}

static void show_heaviest(const struct skeleton *s, const struct heavy *order, uint32_t count, bool *shown)
{
	for (uint32_t i = 0; i < s->nest.count; i++)
		shown[order[i].node] = i < count;
}

/* Inner nodes have larger numbers than those around them, but for the whole, which has no parent. */
static void count_calls(const struct skeleton *s, struct heavy *order)
{
	for (uint32_t i = 0; i < s->nest.count; i++)
		order[i] = (struct heavy){i < s->nest.sites ? s->ranges[i].total : 0, i, s->nest.nodes[i].depth};
	for (uint32_t i = 0; i < s->nest.sites; i++)
		order[s->nest.nodes[i].parent].calls += order[i].calls;
	for (uint32_t i = s->nest.count - 1; i > s->nest.sites; i--)
		order[s->nest.nodes[i].parent].calls += order[i].calls;
}

int skeleton_choose(const struct skeleton *s, uint64_t lines, bool *shown, uint64_t *calls)
{
	uint32_t count = s->nest.count, low = 1, high = count;
	struct heavy *order = budget_calloc(count, sizeof *order);
	if (!order)
		return -1;
	count_calls(s, order);
	for (uint32_t i = 0; calls && i < count; i++)
		calls[i] = order[i].calls;
	qsort(order, count, sizeof *order, compare_heavy);
	if (lines == 0 || count - 1 <= lines)
		low = count;
	while (low < high) { /* `low` fits, or is the whole alone; `high` and more do not, or are not known to */
		uint32_t middle = low + (high - low) / 2;
		if (middle == low)
			break;
		show_heaviest(s, order, middle, shown);
		if (count_lines(s, shown) <= lines)
			low = middle;
		else
			high = middle;
	}
	show_heaviest(s, order, low, shown);
	budget_free(order);
	return 0;
}
