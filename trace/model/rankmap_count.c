/* SPDX-License-Identifier: BSD-3-Clause
 * rankmap_count - how many ranks a rank map has, how many with a value, and their sum
 *
 * Each is found from the leaves of the diagram upwards, once for each node, whatever number of ranks it stands for.
 */
#include "trace/model/rankmap.h"

uint64_t *rankmap_shares(const struct rankmap *m)
{
	uint64_t *share = budget_malloc(((size_t)m->node_count + DIAGRAM_NODE) * sizeof *share);
	if (!share)
		return NULL;
	share[DIAGRAM_ABSENT] = 0;
	share[DIAGRAM_PLAIN] = UINT64_C(1) << DIAGRAM_LEVELS;
	for (uint32_t i = 0; i < m->node_count; i++)
		share[i + DIAGRAM_NODE] = m->nodes[i].low == DIAGRAM_LEAF
		                                  ? UINT64_C(1) << DIAGRAM_LEVELS
		                                  : (share[m->nodes[i].low] + share[m->nodes[i].high]) / 2;
	return share;
}

uint64_t rankmap_size(const struct rankmap *m)
{
	uint64_t *share = rankmap_shares(m);
	uint64_t n = share ? share[m->root] >> (DIAGRAM_LEVELS - m->level) : 0;
	budget_free(share);
	return n;
}

typedef __int128 wide;

/* Of a subtree: its ranks with a leaf that is 0, and its plain ones, as shares; the least and the most of those. */
struct content {
	uint64_t zeros, plain;
	wide least, most;
};

static struct content *contents_of(const struct rankmap *m)
{
	struct content *x = budget_calloc((size_t)m->node_count + DIAGRAM_NODE, sizeof *x);
	if (!x)
		return NULL;
	x[DIAGRAM_PLAIN].plain = UINT64_C(1) << DIAGRAM_LEVELS;
	for (uint32_t i = 0; i < m->node_count; i++) {
		const struct diagram_node *n = &m->nodes[i];
		struct content *to = &x[i + DIAGRAM_NODE];
		if (n->low == DIAGRAM_LEAF) {
			to->zeros = n->delta ? 0 : UINT64_C(1) << DIAGRAM_LEVELS;
			continue;
		}
		const struct content *low = &x[n->low], *high = &x[n->high];
		wide least = high->least + n->delta, most = high->most + n->delta;
		to->zeros = (low->zeros + high->zeros) / 2;
		to->plain = (low->plain + high->plain) / 2;
		to->least = !high->plain || (low->plain && low->least < least) ? low->least : least;
		to->most = !high->plain || (low->plain && low->most > most) ? low->most : most;
	}
	return x;
}

/* Looks only into subtrees in which some plain values may be 0, and others not. */
static uint64_t zeros_in(const struct rankmap *m, const struct content *x, uint32_t to, uint32_t level, wide base)
{
	const struct diagram_node *n = rankmap_inner(m, to);
	bool some = x[to].plain && base + x[to].least <= 0 && base + x[to].most >= 0;
	if (!n || !some || x[to].least == x[to].most)
		return (x[to].zeros + (some ? x[to].plain : 0)) >> (DIAGRAM_LEVELS - level);
	return budget_step(1)
	               ? zeros_in(m, x, n->low, level - 1, base) + zeros_in(m, x, n->high, level - 1, base + n->delta)
	               : 0;
}

uint64_t rankmap_size_not_zero(const struct rankmap *m)
{
	struct content *x = contents_of(m);
	uint64_t zeros = x ? zeros_in(m, x, m->root, m->level, m->base) : 0;
	budget_free(x);
	return rankmap_size(m) - zeros;
}

int64_t rankmap_sum(const struct rankmap *m)
{
	/* of plain values: their number and their sum, scaled likewise */
	struct {
		wide count, sum;
	} *x = budget_malloc(((size_t)m->node_count + DIAGRAM_NODE) * sizeof *x);
	if (!x)
		return 0;
	x[DIAGRAM_ABSENT].count = x[DIAGRAM_ABSENT].sum = x[DIAGRAM_PLAIN].sum = 0;
	x[DIAGRAM_PLAIN].count = (wide)1 << DIAGRAM_LEVELS;
	for (uint32_t i = 0; i < m->node_count; i++) {
		const struct diagram_node *n = &m->nodes[i];
		bool leaf = n->low == DIAGRAM_LEAF;
		x[i + DIAGRAM_NODE].count = leaf ? 0 : (x[n->low].count + x[n->high].count) / 2;
		x[i + DIAGRAM_NODE].sum = leaf ? 0 : (x[n->low].sum + x[n->high].sum + x[n->high].count * n->delta) / 2;
	}
	wide sum = (x[m->root].sum + x[m->root].count * m->base) / ((wide)1 << (DIAGRAM_LEVELS - m->level));
	budget_free(x);
	return (int64_t)sum;
}
