/* SPDX-License-Identifier: BSD-3-Clause
 * widen - a map that says more than it has to, where that makes it simpler
 */
#include "trace/file/widen.h"

#include <string.h>

#include "trace/base/index.h"

enum verdict { DIFFERENT, SAME_CONSTANTS, SAME_PLAIN }; /* alike; the second: and there is no plain value */

struct comparing {
	struct widening *widening; /* a pair that finds its place taken is compared anew */
	const struct rank_loom *loom;
	const struct rankmap *m;
};

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The node that an edge leads to, if it has two sides. */
static const struct rank_node *inner(const struct rank_node *nodes, uint32_t to)
{
	return to >= RANK_NODE && nodes[to - RANK_NODE].low != RANK_LEAF ? &nodes[to - RANK_NODE] : NULL;
}

/* Does what is below `to` in the loom say what is below `in` says in the map? */
static enum verdict compare(struct comparing *x, uint32_t to, uint32_t in, int64_t *offset)
{
	*offset = 0;
	if (in == RANK_ABSENT)
		return SAME_CONSTANTS;
	if (to == RANK_ABSENT)
		return DIFFERENT;
	const struct rank_node *a = inner(x->loom->nodes, to), *b = inner(x->m->nodes, in);
	if (!a && !b) {
		if (to == RANK_PLAIN || in == RANK_PLAIN)
			return to == in ? SAME_PLAIN : DIFFERENT;
		return x->loom->nodes[to - RANK_NODE].delta == x->m->nodes[in - RANK_NODE].delta ? SAME_CONSTANTS
		                                                                                 : DIFFERENT;
	}
	struct widen_pair *k = &x->widening->kept[hash_mix(to, in) % WIDEN_KEPT];
	if (k->turn == x->widening->turn && k->to == to && k->in == in) {
		*offset = k->offset;
		return (enum verdict)k->verdict;
	}
	int64_t low_offset, high_offset;
	enum verdict low = compare(x, a ? a->low : to, b ? b->low : in, &low_offset), high = DIFFERENT;
	if (low != DIFFERENT)
		high = compare(x, a ? a->high : to, b ? b->high : in, &high_offset);
	enum verdict verdict = low == DIFFERENT || high == DIFFERENT ? DIFFERENT : low > high ? low : high;
	if (verdict == SAME_PLAIN) {
		if (high == SAME_PLAIN)
			high_offset = minus(plus(high_offset, b ? b->delta : 0), a ? a->delta : 0);
		*offset = low == SAME_PLAIN ? low_offset : high_offset;
		if (low == high && low_offset != high_offset)
			verdict = DIFFERENT;
	}
	*k = (struct widen_pair){x->widening->turn, to, in, (int)verdict, *offset};
	return verdict;
}

/* Looks at the map from one of its nodes on. */
static enum verdict covers(struct widening *w, const struct rank_loom *l, uint32_t to, const struct rankmap *m,
                           uint32_t in, int64_t *offset)
{
	struct comparing x = {.widening = w, .loom = l, .m = m};
	w->turn++;
	return compare(&x, to, in, offset);
}

bool widen_covers(struct widening *w, const struct rank_loom *l, uint32_t to, uint32_t level, const struct rankmap *m,
                  int64_t *offset)
{
	for (const struct rank_node *n; level > m->level && (n = inner(l->nodes, to)); level--)
		to = n->low;
	enum verdict verdict = level < m->level ? DIFFERENT : covers(w, l, to, m, m->root, offset);
	if (verdict == SAME_PLAIN)
		*offset = plus(*offset, m->base);
	return verdict != DIFFERENT;
}

bool widen_has_holes(const struct rankmap *m, uint32_t level)
{
	for (uint32_t i = 0; i < m->node_count; i++)
		if (m->nodes[i].low == RANK_ABSENT || (m->nodes[i].low != RANK_LEAF && m->nodes[i].high == RANK_ABSENT))
			return true;
	return m->level < level;
}

/* `side` in place of what the map says below `in`, if it covers that. */
static bool substitute(struct widening *w, const struct rank_loom *l, struct rank_edge side, const struct rankmap *m,
                       uint32_t in, int64_t delta, struct rank_edge *out)
{
	int64_t offset;
	enum verdict verdict = side.to == RANK_ABSENT ? DIFFERENT : covers(w, l, side.to, m, in, &offset);
	if (verdict == DIFFERENT)
		return false;
	*out = side;
	if (verdict == SAME_PLAIN)
		out->base = plus(offset, delta);
	return true;
}

struct rank_edge widen(struct widening *w, struct rank_loom *l, const struct rankmap *m, uint32_t level)
{
	struct rank_edge wide[WIDEN_NODES + RANK_NODE] = {{RANK_ABSENT, 0}, {RANK_PLAIN, 0}}, root = wide[RANK_ABSENT];
	if (m->node_count > WIDEN_NODES || level < m->level)
		return root;
	for (uint32_t i = 0; i < m->node_count; i++) {
		const struct rank_node *n = &m->nodes[i];
		if (n->low == RANK_LEAF) {
			wide[i + RANK_NODE] = rank_edge_leaf(l, n->delta);
			continue;
		}
		struct rank_edge low = wide[n->low], high = wide[n->high];
		high.base = plus(high.base, n->delta);
		if (!substitute(w, l, low, m, n->high, n->delta, &high))
			substitute(w, l, high, m, n->low, 0, &low);
		wide[i + RANK_NODE] = rank_edge_make(l, low, high);
	}
	root = wide[m->root];
	root.base = plus(root.base, m->base);
	for (uint32_t i = m->level; i < level; i++)
		root = rank_edge_make(l, root, root);
	return root;
}
