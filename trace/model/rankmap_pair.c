/* SPDX-License-Identifier: BSD-3-Clause
 * rankmap_pair - what is made of two rank maps: their union, a part of one, a sum
 *
 * Both diagrams are gone through at once, from the root of a common level. Pairs of nodes that were met before are
 * remembered: a diagram has far more ways through it than nodes.
 */
#include "trace/model/rankmap.h"

#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"

static const struct diagram_edge absent = {DIAGRAM_ABSENT, 0};

struct pair {
	uint32_t a, b;  /* a == 0: free */
	int64_t offset; /* base of b relative to that of a */
	struct diagram_edge edge;
};

#define PAIRS       32
#define RAISED_ROOM (DIAGRAM_ROOM + DIAGRAM_LEVELS)

struct pairing {
	struct diagram diagram;
	const struct rankmap *a, *b;
	struct diagram_edge *edges_a, *edges_b; /* what the nodes are in the diagram */
	struct pair *pairs, room[PAIRS];        /* `room` at first */
	size_t mask, count;
	uint64_t times;
	bool overlap, failed;
};

static void pairs_free(struct pairing *x)
{
	if (x->pairs != x->room)
		budget_free(x->pairs);
}

static struct pair *pair_find(struct pairing *x, uint32_t a, uint32_t b, int64_t offset)
{
	if (2 * (x->count + 1) > x->mask) {
		size_t size = (x->mask + 1) * 2;
		struct pair *pairs = budget_calloc(size, sizeof *pairs);
		if (!pairs) {
			x->failed = true;
			return NULL;
		}
		for (size_t i = 0; i <= x->mask; i++) {
			const struct pair *p = &x->pairs[i];
			if (!p->a)
				continue;
			size_t at = hash_mix(hash_mix(p->a, p->b), (uint64_t)p->offset) & (size - 1);
			while (pairs[at].a)
				at = (at + 1) & (size - 1);
			pairs[at] = *p;
		}
		pairs_free(x);
		x->pairs = pairs;
		x->mask = size - 1;
	}
	size_t at = hash_mix(hash_mix(a, b), (uint64_t)offset) & x->mask;
	while (x->pairs[at].a && (x->pairs[at].a != a || x->pairs[at].b != b || x->pairs[at].offset != offset))
		at = (at + 1) & x->mask;
	return &x->pairs[at];
}

static void pair_keep(struct pairing *x, uint32_t a, uint32_t b, int64_t offset, struct diagram_edge made)
{
	struct pair *p = pair_find(x, a, b, offset);
	if (!p)
		return;
	x->count += p->a == 0;
	*p = (struct pair){a, b, offset, made};
}

/* The base of the result is relative to that of a; `offset` is the base of b likewise. */
static struct diagram_edge unite(struct pairing *x, uint32_t a, uint32_t b, int64_t offset)
{
	if (b == DIAGRAM_ABSENT)
		return x->edges_a[a];
	if (a == DIAGRAM_ABSENT)
		return (struct diagram_edge){x->edges_b[b].to, base_plus(x->edges_b[b].base, offset)};
	const struct diagram_node *na = rankmap_inner(x->a, a), *nb = rankmap_inner(x->b, b);
	if (!na || !nb) {
		x->overlap = true;
		return absent;
	}
	struct pair *known = pair_find(x, a, b, offset);
	if (!known || x->overlap)
		return absent;
	if (known->a)
		return known->edge;
	struct diagram_edge low = unite(x, na->low, nb->low, offset);
	struct diagram_edge high = unite(x, na->high, nb->high, base_minus(base_plus(offset, nb->delta), na->delta));
	high.base = base_plus(high.base, na->delta);
	struct diagram_edge made = diagram_node_of(&x->diagram, low, high);
	pair_keep(x, a, b, offset, made);
	return made;
}

/* What a says of the ranks of b. */
static struct diagram_edge restrict_to(struct pairing *x, uint32_t a, uint32_t b)
{
	if (a == DIAGRAM_ABSENT || b == DIAGRAM_ABSENT)
		return absent;
	const struct diagram_node *na = rankmap_inner(x->a, a), *nb = rankmap_inner(x->b, b);
	if (!nb)
		return x->edges_a[a];
	struct pair *known = pair_find(x, a, b, 0);
	if (!known)
		return absent;
	if (known->a)
		return known->edge;
	struct diagram_edge low = restrict_to(x, na ? na->low : a, nb->low),
			    high = restrict_to(x, na ? na->high : a, nb->high);
	high.base = base_plus(high.base, na ? na->delta : 0);
	struct diagram_edge made = diagram_node_of(&x->diagram, low, high);
	pair_keep(x, a, b, 0, made);
	return made;
}

/* Both have the same ranks: a whole subtree here may be nodes there. */
static struct diagram_edge pairing_add(struct pairing *x, uint32_t a, uint32_t b)
{
	const struct diagram_node *na = rankmap_inner(x->a, a), *nb = rankmap_inner(x->b, b);
	if (a == DIAGRAM_ABSENT || b == DIAGRAM_ABSENT || (!na && !nb)) {
		x->overlap |= a != b;
		return a == DIAGRAM_PLAIN ? (struct diagram_edge){DIAGRAM_PLAIN, 0} : absent;
	}
	struct pair *known = pair_find(x, a, b, 0);
	if (!known || x->overlap)
		return absent;
	if (known->a)
		return known->edge;
	struct diagram_edge low = pairing_add(x, na ? na->low : a, nb ? nb->low : b),
			    high = pairing_add(x, na ? na->high : a, nb ? nb->high : b);
	high.base = base_plus(high.base,
	                      base_plus(na ? na->delta : 0, (int64_t)(x->times * (uint64_t)(nb ? nb->delta : 0))));
	struct diagram_edge made = diagram_node_of(&x->diagram, low, high);
	pair_keep(x, a, b, 0, made);
	return made;
}

/* The map seen from a higher level; its nodes are a copy, in `room` (of RAISED_ROOM) if they are few; NULL on no
 * memory. */
static struct rankmap raised(const struct rankmap *m, uint32_t level, struct diagram_node *room)
{
	struct rankmap high = *m;
	high.nodes = m->node_count <= DIAGRAM_ROOM
	                     ? room
	                     : budget_malloc(((size_t)m->node_count + DIAGRAM_LEVELS) * sizeof *high.nodes);
	if (high.nodes && m->node_count)
		memcpy(high.nodes, m->nodes, m->node_count * sizeof *high.nodes);
	for (; high.nodes && high.root != DIAGRAM_ABSENT && high.level < level; high.level++) {
		high.nodes[high.node_count] = (struct diagram_node){.low = high.root, .high = DIAGRAM_ABSENT};
		high.root = high.node_count++ + DIAGRAM_NODE;
	}
	return high;
}

enum operation { UNITE, RESTRICT, ADD };

static int both(struct rankmap *out, const struct rankmap *a, const struct rankmap *b, enum operation operation,
                uint64_t times)
{
	int rv = -1;
	uint32_t level = a->level > b->level ? a->level : b->level;
	struct diagram_node room_a[RAISED_ROOM], room_b[RAISED_ROOM];
	struct diagram_room room;
	struct rankmap high_a = raised(a, level, room_a), high_b = raised(b, level, room_b), made = {0};
	struct pairing x = {.a = &high_a, .b = &high_b, .times = times, .mask = PAIRS - 1};
	x.pairs = x.room;
	diagram_begin(&x.diagram, &room);
	if (high_a.nodes && high_b.nodes) {
		x.edges_a = rankmap_add_nodes(&x.diagram, &high_a);
		x.edges_b = rankmap_add_nodes(&x.diagram, &high_b);
	}
	if (x.edges_a && x.edges_b) {
		struct diagram_edge root = operation == UNITE
		                                   ? unite(&x, high_a.root, high_b.root, base_minus(b->base, a->base))
		                           : operation == RESTRICT ? restrict_to(&x, high_a.root, high_b.root)
		                                                   : pairing_add(&x, high_a.root, high_b.root);
		root.base = base_plus(root.base,
		                      base_plus(a->base, operation == ADD ? (int64_t)(times * (uint64_t)b->base) : 0));
		rv = x.overlap || x.failed ? -1 : diagram_map(&x.diagram, root, level, &made);
	}
	diagram_free(&x.diagram);
	budget_free(x.edges_a);
	budget_free(x.edges_b);
	pairs_free(&x);
	if (high_a.nodes != room_a)
		budget_free(high_a.nodes);
	if (high_b.nodes != room_b)
		budget_free(high_b.nodes);
	if (rv == 0) {
		assert(operation != UNITE || rankmap_empty(&made) == (rankmap_empty(a) && rankmap_empty(b)));
		if (out == a || out == b)
			rankmap_free(out);
		*out = made;
	}
	return rv;
}

int rankmap_union(struct rankmap *out, const struct rankmap *a, const struct rankmap *b)
{
	return both(out, a, b, UNITE, 0);
}

int rankmap_restrict(struct rankmap *out, const struct rankmap *m, const struct rankmap *set)
{
	return both(out, m, set, RESTRICT, 0);
}

int rankmap_sum_of(struct rankmap *out, const struct rankmap *a, const struct rankmap *b, uint64_t times)
{
	return both(out, a, b, ADD, times);
}
