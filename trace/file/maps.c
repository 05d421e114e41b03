/* SPDX-License-Identifier: BSD-3-Clause
 * maps - the stored form of rank maps and rank sets
 */
#include "trace/file/maps.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/file/nodes.h"
#include "trace/model/pieces.h"
#include "trace/file/widen.h"

enum { MAP_SAME, MAP_SLOPE, MAP_PIECES, MAP_NODES, MAP_LIST, MAP_ARRAY_MARK, MAP_WIDE };
enum { RANKS_ALL, RANKS_PIECES, RANKS_NODES };

/* Larger maps are not written out as pieces to see whether that is shorter: it takes as long as there are ranks. */
#define MAX_PIECED 4096

void map_table_free(struct map_table *t)
{
	rank_loom_free(&t->loom);
	budget_free(t->height);
	budget_free(t->widening);
	t->height = NULL;
	t->widening = NULL;
}

void map_table_level(struct map_table *t, uint32_t level, bool write)
{
	t->level = level;
	if (write && !t->widening)
		t->widening = budget_calloc(1, sizeof *t->widening);
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
	budget_free(edge);
	return root;
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
		rankmap_add(&b,
		            (struct rank_piece){.first = (uint32_t)rank, .count = 1, .step = 1, .value = value_get(r)});
	return rankmap_take(&b, m) != 0 || r->bad ? -1 : 0;
}

/* Appends the shorter one: the pieces, or the reference to nodes, which are taken out of the table again if they are
 * not used. */
static void put_shorter(struct writer *w, struct map_table *t, uint32_t nodes_before, struct writer *pieces,
                        struct writer *nodes)
{
	bool as_pieces = pieces->size && pieces->size < nodes->size + nodes_bytes(&t->loom, nodes_before);
	const struct writer *best = as_pieces ? pieces : nodes;
	if (as_pieces)
		rank_loom_rollback(&t->loom, nodes_before);
	writer_bytes(w, best->data, best->size);
	w->failed |= pieces->failed || nodes->failed;
	writer_free(pieces);
	writer_free(nodes);
}

static void put_nodes(struct writer *w, const struct map_table *t, uint64_t tag, struct rank_edge root)
{
	writer_uint(w, tag);
	writer_uint(w, root.to);
	if (rank_loom_plain(&t->loom, root.to))
		writer_int(w, root.base);
}

/* A wide diagram that covers the map: a known one, or its nodes are added. */
static struct rank_edge wide_of(struct map_table *t, const struct rankmap *m)
{
	int64_t base;
	for (uint32_t n = t->known_count; n > 0 && n + MAPS_KNOWN > t->known_count; n--) {
		uint32_t to = t->known[(n - 1) % MAPS_KNOWN];
		if (to - RANK_NODE < t->loom.count && widen_covers(t->widening, &t->loom, to, t->level, m, &base))
			return (struct rank_edge){to, base};
	}
	return widen(t->widening, &t->loom, m, t->level);
}

void map_put(struct writer *w, struct map_table *t, const struct rankmap *m)
{
	int64_t value;
	if (rankmap_constant(m, &value)) {
		writer_uint(w, MAP_SAME);
		value_put(w, value);
		return;
	}
	struct writer pieces = {0}, nodes = {0}, wide = {0};
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
		budget_free(piece);
	}
	uint32_t before = t->loom.count;
	bool widened =
		t->widening && m->node_count <= WIDEN_NODES && t->level >= m->level && widen_has_holes(m, t->level);
	size_t wide_size = 0;
	if (widened) {
		put_nodes(&wide, t, MAP_WIDE, wide_of(t, m));
		wide_size = wide.size + nodes_bytes(&t->loom, before);
		rank_loom_rollback(&t->loom, before);
	}
	struct rank_edge root = weave_map(t, m);
	put_nodes(&nodes, t, MAP_NODES, root);
	widened = widened && wide_size <= nodes.size + nodes_bytes(&t->loom, before) &&
	          (!pieces.size || wide_size <= pieces.size);
	if (widened) {
		rank_loom_rollback(&t->loom, before);
		root = wide_of(t, m);
		writer_free(&nodes);
		writer_free(&pieces);
		put_shorter(w, t, before, &pieces, &wide);
	} else {
		writer_free(&wide);
		put_shorter(w, t, before, &pieces, &nodes);
	}
	if (t->widening && (widened || m->level == t->level) && root.to >= RANK_NODE &&
	    root.to - RANK_NODE < t->loom.count)
		t->known[t->known_count++ % MAPS_KNOWN] = root.to;
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
	budget_free(pieces);
	return rv;
}

static bool node_fits(const struct map_table *t, uint64_t to, uint64_t level)
{
	return level <= RANK_LEVELS && (to < RANK_NODE || (to - RANK_NODE < t->loom.count &&
	                                                   (!t->height || t->height[to - RANK_NODE] <= level)));
}

/* Leaves only the ranks of the domain, all of which have to be there. */
static int narrow(struct rankmap *m, const struct rankmap *domain)
{
	struct rankmap wide = *m;
	int rv = rankmap_restrict(m, &wide, domain);
	rankmap_free(&wide);
	return rv;
}

int map_get(struct reader *r, const struct map_table *t, struct rankmap *m, const struct rankmap *domain,
            bool references)
{
	uint64_t tag = reader_uint(r);
	if (r->bad || tag > MAP_WIDE || tag == MAP_ARRAY_MARK)
		return -1;
	if (tag == MAP_PIECES)
		return pieces_get(r, m, true, references);
	if (tag == MAP_LIST)
		return get_list(r, m, domain, references);
	if (tag == MAP_NODES || tag == MAP_WIDE) {
		uint64_t to = reader_uint(r);
		uint32_t level = tag == MAP_NODES ? domain->level : t->level;
		if (r->bad || !node_fits(t, to, level))
			return -1;
		int64_t base = rank_loom_plain(&t->loom, (uint32_t)to) ? reader_int(r) : 0;
		if (r->bad || rank_loom_map(&t->loom, (struct rank_edge){(uint32_t)to, base}, level, m) != 0)
			return -1;
		return tag == MAP_NODES ? 0 : narrow(m, domain);
	}
	int64_t value = value_get(r), slope = tag == MAP_SLOPE ? reader_int(r) : 0;
	if (r->bad)
		return -1;
	return tag == MAP_SAME ? rankmap_fill(m, domain, value, references)
	                       : get_slope(m, domain, value, slope, references);
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
	if (r->bad || !node_fits(t, to, level) ||
	    rank_loom_map(&t->loom, (struct rank_edge){(uint32_t)to, 0}, (uint32_t)level, m) != 0)
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
	return r->bad || !node_fits(t, to, level)
	               ? -1
	               : rank_loom_map(&t->loom, (struct rank_edge){(uint32_t)to, base}, (uint32_t)level, m);
}
