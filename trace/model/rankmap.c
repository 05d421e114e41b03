/* SPDX-License-Identifier: BSD-3-Clause
 * rankmap - a value for each rank of a set of ranks, as a decision diagram over the bits of the rank
 */
#include "trace/model/rankmap.h"

#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

static const struct diagram_edge absent = {DIAGRAM_ABSENT, 0};

/* Gives what was made to the caller and empties the diagram. */
static int diagram_take(struct diagram *l, struct diagram_edge root, uint32_t level, struct rankmap *out)
{
	int rv = diagram_map(l, root, level, out);
	diagram_free(l);
	return rv;
}

/* Building rank by rank. The ranks below `next` are aligned blocks, one for each bit of next that is set. */

static void push(struct rankmap_builder *b, uint32_t level, struct diagram_edge e)
{
	uint64_t at = b->next;
	assert(level <= DIAGRAM_LEVELS && at % (UINT64_C(1) << level) == 0);
	b->next += UINT64_C(1) << level;
	for (; at >> level & 1; level++)
		e = diagram_node_of(&b->diagram, b->edge[level], e);
	b->edge[level] = e;
}

/* n ranks that are all alike. */
static void push_run(struct rankmap_builder *b, uint64_t n, struct diagram_edge e)
{
	while (n > 0) {
		uint32_t level = 63 - (uint32_t)__builtin_clzll(n),
			 aligned = b->next ? (uint32_t)__builtin_ctzll(b->next) : level;
		if (aligned < level)
			level = aligned;
		push(b, level, e);
		n -= UINT64_C(1) << level;
	}
}

void rankmap_add(struct rankmap_builder *b, struct rank_piece p)
{
	if (p.count == 0)
		return;
	if (p.first < b->next || (uint64_t)p.first + (uint64_t)(p.count - 1) * p.step > UINT32_MAX ||
	    (p.count > 1 && p.step == 0)) {
		b->failed = true;
		return;
	}
	bool alike = p.slope == 0 && (p.step == 1 || p.count == 1);
	for (uint32_t i = 0; i < (alike ? 1 : p.count); i++) {
		if (!budget_step(1)) {
			b->failed = true;
			return;
		}
		int64_t value = base_plus(p.value, (int64_t)((uint64_t)p.slope * i));
		struct diagram_edge e = {DIAGRAM_PLAIN, value};
		if (b->references || value_is_constant(value))
			e = diagram_leaf(&b->diagram, value);
		push_run(b, p.first + (uint64_t)i * p.step - b->next, absent);
		push_run(b, alike ? p.count : 1, e);
	}
}

int rankmap_take(struct rankmap_builder *b, struct rankmap *out)
{
	*out = (struct rankmap){0};
	int rv = 0;
	bool references = b->references;
	if (b->failed || b->diagram.failed) {
		diagram_free(&b->diagram);
		rv = -1;
	} else if (b->next > 0) {
		/* fill up to a power of two */
		while (b->next & (b->next - 1))
			push(b, (uint32_t)__builtin_ctzll(b->next), absent);
		uint32_t level = (uint32_t)__builtin_ctzll(b->next);
		rv = diagram_take(&b->diagram, b->edge[level], level, out);
	}
	*b = (struct rankmap_builder){.references = references};
	return rv;
}

/* A node for each bit of the rank, lowest first, behind the leaf if there is one. */
int rankmap_single(struct rankmap *m, uint32_t rank, int64_t value, bool reference)
{
	bool leaf = reference || value_is_constant(value);
	uint32_t level = rank ? 32 - (uint32_t)__builtin_clz(rank) : 0, to = leaf ? DIAGRAM_NODE : DIAGRAM_PLAIN, n = 0;
	*m = (struct rankmap){0};
	struct diagram_node *nodes = leaf + level ? budget_malloc((leaf + level) * sizeof *nodes) : NULL;
	if (leaf + level && !nodes)
		return -1;
	if (leaf)
		nodes[n++] = (struct diagram_node){.low = DIAGRAM_LEAF, .delta = value};
	for (uint32_t bit = 0; bit < level; bit++, to = DIAGRAM_NODE + n - 1)
		nodes[n++] = rank >> bit & 1 ? (struct diagram_node){.low = DIAGRAM_ABSENT, .high = to}
		                             : (struct diagram_node){.low = to, .high = DIAGRAM_ABSENT};
	*m = (struct rankmap){.nodes = nodes, .node_count = n, .root = to, .level = level, .base = leaf ? 0 : value};
	return 0;
}

int rankmap_copy(struct rankmap *m, const struct rankmap *from)
{
	*m = *from;
	m->nodes = from->node_count ? budget_malloc(from->node_count * sizeof *m->nodes) : NULL;
	if (from->node_count && !m->nodes) {
		*m = (struct rankmap){0};
		return -1;
	}
	if (from->node_count)
		memcpy(m->nodes, from->nodes, from->node_count * sizeof *m->nodes);
	return 0;
}

/* A diagram of the same form with other leaves. */
struct rewriting {
	int64_t (*translate)(void *context, int64_t value); /* NULL: all ranks get `uniform`, and lose their values */
	void *context;
	struct diagram_edge uniform;
};

/* Edges to the nodes of a map, and to ABSENT and PLAIN: in `room` as long as they are few. */
struct edges {
	struct diagram_edge *edge, room[DIAGRAM_ROOM + DIAGRAM_NODE];
};

static struct diagram_edge *edges_begin(struct edges *e, const struct rankmap *m)
{
	e->edge = m->node_count <= DIAGRAM_ROOM
	                  ? e->room
	                  : budget_malloc(((size_t)m->node_count + DIAGRAM_NODE) * sizeof *e->edge);
	return e->edge;
}

static void edges_end(struct edges *e)
{
	if (e->edge != e->room)
		budget_free(e->edge);
}

/* Nodes of m, as edges of a diagram, which are relative to a base of 0. */
static void add_nodes_of(struct diagram *l, const struct rankmap *m, const struct rewriting *x,
                         struct diagram_edge *edge)
{
	bool plain = !x || x->translate;
	edge[DIAGRAM_ABSENT] = absent;
	edge[DIAGRAM_PLAIN] = plain ? (struct diagram_edge){DIAGRAM_PLAIN, 0} : x->uniform;
	for (uint32_t i = 0; i < m->node_count; i++) {
		const struct diagram_node *n = &m->nodes[i];
		if (n->low == DIAGRAM_LEAF) {
			edge[i + DIAGRAM_NODE] =
				plain ? diagram_leaf(l, x ? x->translate(x->context, n->delta) : n->delta) : x->uniform;
		} else {
			struct diagram_edge high = edge[n->high];
			high.base = base_plus(high.base, plain ? n->delta : 0);
			edge[i + DIAGRAM_NODE] = diagram_node_of(l, edge[n->low], high);
		}
	}
}

struct diagram_edge *rankmap_add_nodes(struct diagram *l, const struct rankmap *m)
{
	struct diagram_edge *edge = budget_malloc(((size_t)m->node_count + DIAGRAM_NODE) * sizeof *edge);
	if (edge)
		add_nodes_of(l, m, NULL, edge);
	return edge;
}

static int rewrite(struct rankmap *out, const struct rankmap *m, struct diagram *l, const struct rewriting *x)
{
	int rv = -1;
	struct edges edges;
	struct diagram_edge *edge = edges_begin(&edges, m);
	struct rankmap made = {0};
	if (edge) {
		add_nodes_of(l, m, x, edge);
		struct diagram_edge root = edge[m->root];
		root.base = base_plus(root.base, x->translate ? m->base : 0);
		rv = diagram_map(l, root, m->level, &made);
	}
	edges_end(&edges);
	diagram_free(l);
	if (rv == 0) {
		if (out == m)
			rankmap_free(out);
		*out = made;
	}
	return rv;
}

/* Of a set, whose nodes say nothing but which ranks there are: they stay as they are. With a leaf that is the first
 * node, for a walk comes to it before it has been through any other. */
static int fill_set(struct rankmap *out, const struct rankmap *set, int64_t value, bool leaf)
{
	struct rankmap made = {
		.node_count = set->node_count + leaf, .root = set->root, .level = set->level, .base = leaf ? 0 : value};
	if (made.node_count && !(made.nodes = budget_malloc(made.node_count * sizeof *made.nodes)))
		return -1;
	if (!leaf && made.node_count)
		memcpy(made.nodes, set->nodes, made.node_count * sizeof *made.nodes);
	if (leaf) {
		uint32_t plus_leaf[] = {DIAGRAM_ABSENT, DIAGRAM_NODE};
		made.nodes[0] = (struct diagram_node){.low = DIAGRAM_LEAF, .delta = value};
		made.root = set->root < DIAGRAM_NODE ? plus_leaf[set->root] : set->root + 1;
		for (uint32_t i = 0; i < set->node_count; i++) {
			const struct diagram_node *n = &set->nodes[i];
			made.nodes[i + 1] =
				(struct diagram_node){n->low < DIAGRAM_NODE ? plus_leaf[n->low] : n->low + 1,
			                              n->high < DIAGRAM_NODE ? plus_leaf[n->high] : n->high + 1, 0};
		}
	}
	if (out == set)
		rankmap_free(out);
	*out = made;
	return 0;
}

static bool is_set(const struct rankmap *m)
{
	for (uint32_t i = 0; i < m->node_count; i++)
		if (m->nodes[i].low == DIAGRAM_LEAF || m->nodes[i].delta)
			return false;
	return !rankmap_empty(m);
}

int rankmap_fill(struct rankmap *out, const struct rankmap *domain, int64_t value, bool reference)
{
	struct diagram l;
	struct diagram_room room;
	struct rewriting x = {.uniform = {DIAGRAM_PLAIN, value}};
	bool leaf = reference || value_is_constant(value);
	if (out != domain)
		*out = (struct rankmap){0};
	if (is_set(domain))
		return fill_set(out, domain, value, leaf);
	diagram_begin(&l, &room);
	if (leaf)
		x.uniform = diagram_leaf(&l, value);
	return rewrite(out, domain, &l, &x);
}

int rankmap_translate(struct rankmap *out, const struct rankmap *m, int64_t (*translate)(void *context, int64_t value),
                      void *context)
{
	struct diagram l;
	struct diagram_room room;
	uint32_t leaves = 0, leaf = 0;
	for (uint32_t i = 0; i < m->node_count; i++)
		if (m->nodes[i].low == DIAGRAM_LEAF) {
			leaves++;
			leaf = i;
		}
	if (leaves < 2) { /* the form stays */
		if (out != m && rankmap_copy(out, m) != 0)
			return -1;
		if (leaves)
			out->nodes[leaf].delta = translate(context, out->nodes[leaf].delta);
		return 0;
	}
	if (out != m)
		*out = (struct rankmap){0};
	diagram_begin(&l, &room);
	return rewrite(out, m, &l, &(struct rewriting){.translate = translate, .context = context});
}

/* Questions. */

bool rankmap_get(const struct rankmap *m, uint32_t rank, int64_t *value)
{
	uint32_t to = m->root, level = m->level;
	int64_t sum = m->base;
	if (level < 32 && rank >> level)
		return false;
	while (to >= DIAGRAM_NODE) {
		const struct diagram_node *n = &m->nodes[to - DIAGRAM_NODE];
		if (n->low == DIAGRAM_LEAF) {
			*value = n->delta;
			return true;
		}
		level--;
		if (rank >> level & 1) {
			to = n->high;
			sum = base_plus(sum, n->delta);
		} else {
			to = n->low;
		}
	}
	*value = sum;
	return to == DIAGRAM_PLAIN;
}

/* The lowest rank of a subtree that is not below `from` (relative to the subtree). */
static bool next_in(const struct rankmap *m, uint32_t to, uint32_t level, uint64_t from, int64_t base, uint64_t *rank,
                    int64_t *value)
{
	if (to == DIAGRAM_ABSENT || from >> level)
		return false;
	const struct diagram_node *n = rankmap_inner(m, to);
	if (!n) {
		*rank = from;
		*value = to == DIAGRAM_PLAIN ? base : m->nodes[to - DIAGRAM_NODE].delta;
		return true;
	}
	uint64_t half = UINT64_C(1) << (level - 1);
	if (from < half && next_in(m, n->low, level - 1, from, base, rank, value))
		return true;
	if (!next_in(m, n->high, level - 1, from < half ? 0 : from - half, base_plus(base, n->delta), rank, value))
		return false;
	*rank += half;
	return true;
}

bool rankmap_next(const struct rankmap *m, uint64_t *rank, int64_t *value)
{
	return budget_step(1) && next_in(m, m->root, m->level, *rank, m->base, rank, value);
}

uint32_t rankmap_first(const struct rankmap *m)
{
	assert(!rankmap_empty(m));
	uint32_t rank = 0, level = m->level;
	for (const struct diagram_node *n = rankmap_inner(m, m->root); n;) {
		level--;
		bool high = n->low == DIAGRAM_ABSENT;
		rank |= high ? UINT32_C(1) << level : 0;
		n = rankmap_inner(m, high ? n->high : n->low);
	}
	return rank;
}

uint32_t rankmap_last(const struct rankmap *m)
{
	assert(!rankmap_empty(m));
	uint32_t rank = 0, level = m->level;
	for (const struct diagram_node *n = rankmap_inner(m, m->root); n;) {
		level--;
		bool high = n->high != DIAGRAM_ABSENT;
		rank |= high ? UINT32_C(1) << level : 0;
		n = rankmap_inner(m, high ? n->high : n->low);
	}
	return rank | (uint32_t)((UINT64_C(1) << level) - 1);
}

bool rankmap_has_plain(const struct rankmap *m)
{
	bool plain = m->root == DIAGRAM_PLAIN;
	for (uint32_t i = 0; i < m->node_count && !plain; i++)
		plain = m->nodes[i].low != DIAGRAM_LEAF &&
		        (m->nodes[i].low == DIAGRAM_PLAIN || m->nodes[i].high == DIAGRAM_PLAIN);
	return plain;
}

bool rankmap_constant(const struct rankmap *m, int64_t *value)
{
	const struct diagram_node *leaf = NULL;
	bool plain = m->root == DIAGRAM_PLAIN;
	for (uint32_t i = 0; i < m->node_count; i++) {
		const struct diagram_node *n = &m->nodes[i];
		if (n->low == DIAGRAM_LEAF) {
			if (leaf)
				return false;
			leaf = n;
		} else {
			if (n->delta)
				return false;
			plain |= n->low == DIAGRAM_PLAIN || n->high == DIAGRAM_PLAIN;
		}
	}
	if (rankmap_empty(m) || (leaf && plain))
		return false;
	if (value)
		*value = leaf ? leaf->delta : m->base;
	return true;
}

bool rankmap_equal(const struct rankmap *a, const struct rankmap *b)
{
	if (a->node_count != b->node_count || a->root != b->root || a->level != b->level || a->base != b->base)
		return false;
	for (uint32_t i = 0; i < a->node_count; i++)
		if (a->nodes[i].low != b->nodes[i].low || a->nodes[i].high != b->nodes[i].high ||
		    a->nodes[i].delta != b->nodes[i].delta)
			return false;
	return true;
}

/* Have two subtrees the same ranks? 1, 0; -1: it takes more steps than are left. A subtree that has them all needs not
 * be looked into. */
static int same_in(const struct rankmap *a, uint32_t to_a, const struct rankmap *b, uint32_t to_b, int *steps)
{
	const struct diagram_node *x = rankmap_inner(a, to_a), *y = rankmap_inner(b, to_b);
	if (to_a == DIAGRAM_ABSENT || to_b == DIAGRAM_ABSENT)
		return to_a == to_b;
	if (!x && !y)
		return 1;
	if ((*steps)-- <= 0)
		return -1;
	uint32_t low_a = x ? x->low : to_a, low_b = y ? y->low : to_b, high_a = x ? x->high : to_a,
		 high_b = y ? y->high : to_b;
	int same = same_in(a, low_a, b, low_b, steps);
	return same != 1 || (low_a == high_a && low_b == high_b) ? same : same_in(a, high_a, b, high_b, steps);
}

#define STEPS 512 /* ways through two diagrams; there may be far more of them than nodes */

bool rankmap_same_ranks(const struct rankmap *a, const struct rankmap *b)
{
	struct rankmap x = {0}, y = {0};
	int steps = STEPS, same = a->level == b->level ? same_in(a, a->root, b, b->root, &steps) : 0;
	if (same < 0)
		same = rankmap_fill(&x, a, 0, false) == 0 && rankmap_fill(&y, b, 0, false) == 0 &&
		       rankmap_equal(&x, &y);
	rankmap_free(&x);
	rankmap_free(&y);
	return same;
}
