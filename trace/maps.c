/* SPDX-License-Identifier: BSD-3-Clause
 * maps - the stored form of rank maps and rank sets
 */
#include "trace/maps.h"

#include <stdlib.h>
#include <string.h>

#include "trace/column.h"
#include "trace/pieces.h"

enum { MAP_SAME, MAP_SLOPE, MAP_PIECES, MAP_NODES, MAP_LIST };
enum { RANKS_ALL, RANKS_PIECES, RANKS_NODES };

/* Larger maps are not written out as pieces to see whether that is shorter: it takes as long as there are ranks. */
#define MAX_PIECED 4096

void map_table_free(struct map_table *t)
{
	rank_loom_free(&t->loom);
	free(t->height);
	t->height = NULL;
}

/* Nodes. */

static void put_edge(struct writer *w, uint32_t node, uint32_t to)
{
	writer_uint(w, to < RANK_NODE ? to : 1 + (uint64_t)node - (to - RANK_NODE));
}

static void put_node(struct writer *w, const struct rank_loom *l, uint32_t i)
{
	const struct rank_node *n = &l->nodes[i];
	if (n->low == RANK_LEAF) {
		writer_uint(w, 0);
		value_put(w, n->delta);
		return;
	}
	writer_uint(w, n->low < RANK_NODE ? n->low + UINT64_C(1) : 2 + (uint64_t)i - (n->low - RANK_NODE));
	put_edge(w, i, n->high);
	if (rank_loom_plain(l, n->low) && rank_loom_plain(l, n->high))
		writer_int(w, n->delta);
}

void map_table_put(struct writer *w, const struct map_table *t)
{
	writer_uint(w, t->loom.count);
	for (uint32_t i = 0; i < t->loom.count; i++)
		put_node(w, &t->loom, i);
	w->failed |= t->loom.failed;
}

/* Reads what an edge leads to; false if there is no such node. */
static bool get_edge(uint64_t u, uint32_t node, uint32_t *to)
{
	*to = u < RANK_NODE ? (uint32_t)u : (uint32_t)(node - (u - 1) + RANK_NODE);
	return u < RANK_NODE || u - 1 <= node;
}

int map_table_get(struct reader *r, struct map_table *t)
{
	size_t n = reader_count(r);
	if (r->bad || n > UINT32_C(1) << 30 || !(t->height = calloc(n + 1, 1)))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t u = reader_uint(r);
		struct rank_edge made;
		if (r->bad)
			return -1;
		if (u == 0) {
			made = rank_edge_leaf(&t->loom, value_get(r));
		} else {
			struct rank_edge low = {0, 0}, high = {0, 0};
			if (!get_edge(u - 1, i, &low.to) || !get_edge(reader_uint(r), i, &high.to))
				return -1;
			if (rank_loom_plain(&t->loom, low.to) && rank_loom_plain(&t->loom, high.to))
				high.base = reader_int(r);
			made = rank_edge_make(&t->loom, low, high);
			uint8_t a = low.to < RANK_NODE ? 0 : t->height[low.to - RANK_NODE], b = high.to < RANK_NODE ? 0 : t->height[high.to - RANK_NODE];
			t->height[i] = (uint8_t)(1 + (a > b ? a : b));
		}
		/* each node is there once, and none that would be another one's short form */
		if (r->bad || t->loom.failed || made.to != i + RANK_NODE || t->height[i] > RANK_LEVELS)
			return -1;
	}
	return r->at != r->end ? -1 : 0;
}

/* Adds the nodes of a map. Returns the edge to its root. */
static struct rank_edge weave_map(struct map_table *t, const struct rankmap *m)
{
	struct rank_edge *edge = rankmap_weave(&t->loom, m), root = {RANK_ABSENT, 0};
	if (!edge) {
		t->loom.failed = true;
		return root;
	}
	root = edge[m->root];
	root.base = (int64_t)((uint64_t)root.base + (uint64_t)m->base);
	free(edge);
	return root;
}

size_t map_table_bytes(const struct map_table *t, uint32_t from)
{
	struct writer w = {0};
	for (uint32_t i = from; i < t->loom.count; i++)
		put_node(&w, &t->loom, i);
	size_t n = w.size;
	writer_free(&w);
	return n;
}

/* The values of a map, one for each rank. */
static void put_list(struct writer *w, const struct rankmap *m)
{
	int64_t value;
	writer_uint(w, MAP_LIST);
	for (uint64_t rank = 0; rankmap_next(m, &rank, &value); rank++)
		value_put(w, value);
}

static int get_list(struct reader *r, struct rankmap *m, const struct rankmap *domain, bool references)
{
	struct rankmap_builder b = {.references = references};
	int64_t unused;
	for (uint64_t rank = 0; !r->bad && rankmap_next(domain, &rank, &unused); rank++)
		rankmap_add(&b, (struct rank_piece){.first = (uint32_t)rank, .count = 1, .step = 1, .value = value_get(r)});
	return rankmap_take(&b, m) != 0 || r->bad ? -1 : 0;
}

/* Appends the shorter one: the pieces, or the reference to nodes, which are taken out of the table again if they are not used. */
static void put_shorter(struct writer *w, struct map_table *t, uint32_t nodes_before, struct writer *pieces, struct writer *nodes)
{
	bool as_pieces = pieces->size && pieces->size < nodes->size + map_table_bytes(t, nodes_before);
	const struct writer *best = as_pieces ? pieces : nodes;
	if (as_pieces)
		rank_loom_rollback(&t->loom, nodes_before);
	writer_bytes(w, best->data, best->size);
	w->failed |= pieces->failed || nodes->failed;
	writer_free(pieces);
	writer_free(nodes);
}

void map_put(struct writer *w, struct map_table *t, const struct rankmap *m)
{
	int64_t value;
	if (rankmap_constant(m, &value)) {
		writer_uint(w, MAP_SAME);
		value_put(w, value);
		return;
	}
	struct writer pieces = {0}, nodes = {0};
	if (rankmap_size(m) <= MAX_PIECED) {
		struct rank_piece *piece;
		size_t count;
		if (rankmap_pieces(m, &piece, &count) != 0) {
			w->failed = true;
			return;
		}
		if (count == 1) { /* so the domain, which has the same ranks, is one piece as well */
			writer_uint(&pieces, MAP_SLOPE);
			value_put(&pieces, piece[0].value);
			writer_int(&pieces, piece[0].slope);
		} else {
			struct writer list = {0};
			writer_uint(&pieces, MAP_PIECES);
			pieces_put(&pieces, m, true);
			put_list(&list, m);
			if (list.size < pieces.size) {
				struct writer swap = pieces;
				pieces = list;
				list = swap;
			}
			pieces.failed |= list.failed;
			writer_free(&list);
		}
		free(piece);
	}
	uint32_t before = t->loom.count;
	struct rank_edge root = weave_map(t, m);
	writer_uint(&nodes, MAP_NODES);
	writer_uint(&nodes, root.to);
	if (rank_loom_plain(&t->loom, root.to))
		writer_int(&nodes, root.base);
	put_shorter(w, t, before, &pieces, &nodes);
}

/* The ranks of a domain that is one piece, with values that differ by `slope`. */
static int get_slope(struct rankmap *m, const struct rankmap *domain, int64_t value, int64_t slope, bool references)
{
	int rv = -1;
	struct rankmap_builder b = {.references = references};
	struct rank_piece *pieces;
	size_t count;
	if (rankmap_pieces(domain, &pieces, &count) != 0)
		return -1;
	if (count == 1 && (slope == 0 || !(references || value_is_constant(value)))) {
		pieces[0].value = value;
		pieces[0].slope = slope;
		rankmap_add(&b, pieces[0]);
		rv = rankmap_take(&b, m);
	}
	free(pieces);
	return rv;
}

static bool node_fits(const struct map_table *t, uint64_t to, uint64_t level)
{
	return level <= RANK_LEVELS && (to < RANK_NODE || (to - RANK_NODE < t->loom.count && t->height[to - RANK_NODE] <= level));
}

int map_get(struct reader *r, const struct map_table *t, struct rankmap *m, const struct rankmap *domain, bool references)
{
	uint64_t tag = reader_uint(r);
	if (r->bad || tag > MAP_LIST)
		return -1;
	if (tag == MAP_PIECES)
		return pieces_get(r, m, true, references);
	if (tag == MAP_LIST)
		return get_list(r, m, domain, references);
	if (tag == MAP_NODES) {
		uint64_t to = reader_uint(r);
		if (r->bad || !node_fits(t, to, domain->level))
			return -1;
		int64_t base = rank_loom_plain(&t->loom, (uint32_t)to) ? reader_int(r) : 0;
		return r->bad ? -1 : rank_loom_map(&t->loom, (struct rank_edge){(uint32_t)to, base}, domain->level, m);
	}
	int64_t value = value_get(r), slope = tag == MAP_SLOPE ? reader_int(r) : 0;
	if (r->bad)
		return -1;
	return tag == MAP_SAME ? rankmap_fill(m, domain, value, references) : get_slope(m, domain, value, slope, references);
}

void map_put_ranks(struct writer *w, struct map_table *t, const struct rankmap *m, const struct rankmap *domain)
{
	struct rankmap set;
	if (rankmap_same_ranks(m, domain)) {
		writer_uint(w, RANKS_ALL);
		return;
	}
	if (rankmap_fill(&set, m, 0, false) != 0) {
		w->failed = true;
		return;
	}
	struct writer pieces = {0}, nodes = {0};
	if (rankmap_size(m) <= MAX_PIECED) {
		writer_uint(&pieces, RANKS_PIECES);
		pieces_put(&pieces, &set, false);
	}
	uint32_t before = t->loom.count;
	struct rank_edge root = weave_map(t, &set);
	writer_uint(&nodes, RANKS_NODES);
	writer_uint(&nodes, root.to);
	writer_uint(&nodes, set.level);
	put_shorter(w, t, before, &pieces, &nodes);
	rankmap_free(&set);
}

int map_get_ranks(struct reader *r, const struct map_table *t, struct rankmap *m, const struct rankmap *domain)
{
	uint64_t kind = reader_uint(r);
	if (r->bad || kind > RANKS_NODES)
		return -1;
	if (kind == RANKS_ALL)
		return rankmap_fill(m, domain, 0, false);
	if (kind == RANKS_PIECES)
		return pieces_get(r, m, false, false);
	uint64_t to = reader_uint(r), level = reader_uint(r);
	if (r->bad || !node_fits(t, to, level) || rank_loom_map(&t->loom, (struct rank_edge){(uint32_t)to, 0}, (uint32_t)level, m) != 0)
		return -1;
	int64_t value;
	return rankmap_constant(m, &value) && value == 0 ? 0 : -1;
}

void map_put_diagram(struct writer *w, struct map_table *t, const struct rankmap *m)
{
	struct rank_edge root = weave_map(t, m);
	writer_uint(w, root.to);
	writer_uint(w, m->level);
	writer_int(w, root.base);
}

int map_get_diagram(struct reader *r, const struct map_table *t, struct rankmap *m)
{
	uint64_t to = reader_uint(r), level = reader_uint(r);
	int64_t base = reader_int(r);
	return r->bad || !node_fits(t, to, level) ? -1 : rank_loom_map(&t->loom, (struct rank_edge){(uint32_t)to, base}, (uint32_t)level, m);
}
