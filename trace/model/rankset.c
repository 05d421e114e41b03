/* SPDX-License-Identifier: BSD-3-Clause
 * rankset - sets of ranks by the values that a map has for them
 */
#include "trace/model/rankset.h"

#include "trace/base/budget.h"
#include "trace/base/index.h"

/* What is known of a node when a certain value is meant: relative to its first plain one. */
struct fact {
	uint32_t node; /* + 1; 0: free */
	int64_t value;
	struct diagram_edge edge;
};

struct facts {
	const struct rankmap *map;
	struct diagram diagram;
	struct fact *slots;
	size_t mask, count;
	int64_t *values;
	unsigned found, limit;
	bool failed, too_many;
};

static struct fact *fact_find(struct facts *x, uint32_t to, int64_t value)
{
	if (2 * (x->count + 1) > (x->slots ? x->mask + 1 : 0)) {
		size_t size = x->slots ? 2 * (x->mask + 1) : 64;
		struct fact *slots = budget_calloc(size, sizeof *slots);
		if (!slots) {
			x->failed = true;
			return NULL;
		}
		for (size_t i = 0; x->slots && i <= x->mask; i++) {
			if (!x->slots[i].node)
				continue;
			size_t at = hash_mix(x->slots[i].node, (uint64_t)x->slots[i].value) & (size - 1);
			while (slots[at].node)
				at = (at + 1) & (size - 1);
			slots[at] = x->slots[i];
		}
		budget_free(x->slots);
		x->slots = slots;
		x->mask = size - 1;
	}
	size_t at = hash_mix(to, (uint64_t)value) & x->mask;
	while (x->slots[at].node && (x->slots[at].node != to || x->slots[at].value != value))
		at = (at + 1) & x->mask;
	return &x->slots[at];
}

static void value_found(struct facts *x, int64_t value)
{
	unsigned at = 0;
	while (at < x->found && x->values[at] < value)
		at++;
	if (at < x->found && x->values[at] == value)
		return;
	if (x->found == x->limit) {
		x->too_many = true;
		return;
	}
	for (unsigned i = x->found++; i > at; i--)
		x->values[i] = x->values[i - 1];
	x->values[at] = value;
}

static void walk_values(struct facts *x, uint32_t to, int64_t base)
{
	if (to == DIAGRAM_ABSENT || x->too_many || x->failed)
		return;
	if (to == DIAGRAM_PLAIN) {
		value_found(x, base);
		return;
	}
	struct fact *known = fact_find(x, to, base);
	if (!known || known->node)
		return;
	*known = (struct fact){.node = to, .value = base};
	x->count++;
	const struct diagram_node *n = &x->map->nodes[to - DIAGRAM_NODE];
	if (n->low == DIAGRAM_LEAF) {
		x->too_many = true;
		return;
	}
	walk_values(x, n->low, base);
	walk_values(x, n->high, (int64_t)((uint64_t)base + (uint64_t)n->delta));
}

int rankset_values(const struct rankmap *m, int64_t *values, unsigned limit)
{
	struct facts x = {.map = m, .values = values, .limit = limit};
	walk_values(&x, m->root, m->base);
	budget_free(x.slots);
	return x.failed ? -1 : x.too_many ? 0 : (int)x.found;
}

/* `value` is relative to the first plain value below. */
static struct diagram_edge walk_where(struct facts *x, uint32_t to, int64_t value)
{
	struct diagram_edge none = {DIAGRAM_ABSENT, 0}, all = {DIAGRAM_PLAIN, 0};
	if (to < DIAGRAM_NODE)
		return to == DIAGRAM_PLAIN && value == 0 ? all : none;
	const struct diagram_node *n = &x->map->nodes[to - DIAGRAM_NODE];
	struct fact *known = n->low == DIAGRAM_LEAF ? NULL : fact_find(x, to, value);
	if (!known)
		return none;
	if (known->node)
		return known->edge;
	struct diagram_edge low = walk_where(x, n->low, value),
			    high = walk_where(x, n->high, (int64_t)((uint64_t)value - (uint64_t)n->delta));
	struct diagram_edge made = diagram_node_of(&x->diagram, low, high);
	known = fact_find(x, to, value); /* it may have moved */
	if (known && !known->node) {
		*known = (struct fact){.node = to, .value = value, .edge = made};
		x->count++;
	}
	return made;
}

int rankset_where(struct rankmap *out, const struct rankmap *m, int64_t value)
{
	struct facts x = {.map = m};
	struct diagram_edge root = walk_where(&x, m->root, (int64_t)((uint64_t)value - (uint64_t)m->base));
	int rv = x.failed ? -1 : diagram_map(&x.diagram, root, m->level, out);
	if (x.failed)
		*out = (struct rankmap){0};
	diagram_free(&x.diagram);
	budget_free(x.slots);
	return rv;
}

int rankset_without(struct rankmap *out, const struct rankmap *set, const struct rankmap *other)
{
	int rv = -1;
	struct diagram diagram = {0};
	struct rankmap rest = {0};
	struct diagram_edge none = {DIAGRAM_ABSENT, 0}, all = {DIAGRAM_PLAIN, 0};
	/* all but the other one, up to the level of the higher one */
	struct diagram_edge *edge = budget_malloc(((size_t)other->node_count + DIAGRAM_NODE) * sizeof *edge);
	*out = (struct rankmap){0};
	if (!edge)
		return -1;
	edge[DIAGRAM_ABSENT] = all;
	edge[DIAGRAM_PLAIN] = none;
	for (uint32_t i = 0; i < other->node_count; i++) {
		const struct diagram_node *n = &other->nodes[i];
		edge[i + DIAGRAM_NODE] =
			n->low == DIAGRAM_LEAF ? none : diagram_node_of(&diagram, edge[n->low], edge[n->high]);
	}
	struct diagram_edge root = edge[other->root];
	uint32_t level = other->level;
	for (; level < set->level; level++)
		root = diagram_node_of(&diagram, root, all);
	if (diagram_map(&diagram, root, level, &rest) == 0)
		rv = rankmap_restrict(out, set, &rest);
	budget_free(edge);
	diagram_free(&diagram);
	rankmap_free(&rest);
	return rv;
}
