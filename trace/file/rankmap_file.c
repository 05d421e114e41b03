/* SPDX-License-Identifier: BSD-3-Clause
 * rankmap_file - the stored form of rank maps and rank sets
 *
 * A map is what takes the fewest bytes: one value, a list of the values, or an edge into the diagrams of the trace. On
 * four ranks:
 *
 *     7 7 7 7     00 1c            all have 7
 *     9 1 4 2     01 24 04 10 08   a list
 *     5 5 9 9     02 02 0a         node 0 of the example in diagram_file.c, with the base 5
 *
 * Invariant: what is appended does not depend on anything but the maps that were written before, so that equal traces
 * have equal bytes; and nodes that only a form had that was not taken are taken out of the table again.
 */
#include "trace/file/rankmap_file.h"

#include <assert.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

enum map_form { MAP_SAME, MAP_LIST, MAP_DIAGRAM };
_Static_assert(MAP_DIAGRAM + 1 == RANKMAP_FILE_FORMS, "forms");
enum ranks_form { RANKS_ALL, RANKS_DIAGRAM, RANKS_FORMS };

/* Larger maps are not written out as lists to see whether that is shorter: it takes as long as there are ranks. */
#define MAX_LISTED 4096

/* Adds the nodes of a map. Returns the edge to its root. */
static struct diagram_edge add_nodes(struct diagram_file *d, const struct rankmap *m)
{
	struct diagram_edge *edge = rankmap_add_nodes(&d->diagram, m), root = {DIAGRAM_ABSENT, 0};
	if (!edge) {
		d->diagram.failed = true;
		return root;
	}
	root = edge[m->root];
	root.base = (int64_t)((uint64_t)root.base + (uint64_t)m->base);
	budget_free(edge);
	return root;
}

static void put_list(struct writer *w, const struct rankmap *m)
{
	int64_t value;
	writer_uint(w, MAP_LIST);
	for (uint64_t rank = 0; rankmap_next(m, &rank, &value); rank++)
		value_put(w, value);
}

static void put_diagram(struct writer *w, struct diagram_file *d, const struct rankmap *m)
{
	struct diagram_edge root = add_nodes(d, m);
	writer_uint(w, MAP_DIAGRAM);
	writer_uint(w, root.to);
	if (diagram_has_number(&d->diagram, root.to))
		writer_int(w, root.base);
}

void rankmap_file_put(struct writer *w, struct diagram_file *d, const struct rankmap *m)
{
	int64_t value;
	struct writer list = {0}, diagram = {0};
	uint32_t before = d->diagram.count;
	if (rankmap_constant(m, &value)) {
		writer_uint(w, MAP_SAME);
		value_put(w, value);
		return;
	}
	bool listed = rankmap_size(m) <= MAX_LISTED;
	if (listed)
		put_list(&list, m);
	put_diagram(&diagram, d, m);
	listed = listed && list.size < diagram.size + diagram_file_bytes(d, before);
	if (listed)
		diagram_rollback(&d->diagram, before);
	const struct writer *best = listed ? &list : &diagram;
	writer_bytes(w, best->data, best->size);
	w->failed |= list.failed || diagram.failed;
	writer_free(&list);
	writer_free(&diagram);
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

static bool edge_fits(const struct diagram_file *d, uint64_t to, uint64_t level)
{
	return level <= DIAGRAM_LEVELS &&
	       (to < DIAGRAM_NODE || (to - DIAGRAM_NODE < d->diagram.count && d->height[to - DIAGRAM_NODE] <= level));
}

static int get_diagram(struct reader *r, const struct diagram_file *d, struct rankmap *m, uint32_t level)
{
	uint64_t to = reader_uint(r);
	if (r->bad || !edge_fits(d, to, level))
		return -1;
	int64_t base = diagram_has_number(&d->diagram, (uint32_t)to) ? reader_int(r) : 0;
	return r->bad ? -1 : diagram_map(&d->diagram, (struct diagram_edge){(uint32_t)to, base}, level, m);
}

int rankmap_file_get(struct reader *r, const struct diagram_file *d, struct rankmap *m, const struct rankmap *domain,
                     bool references)
{
	uint64_t form = reader_uint(r);
	if (r->bad || form >= RANKMAP_FILE_FORMS)
		return -1;
	if (form == MAP_LIST)
		return get_list(r, m, domain, references);
	if (form == MAP_DIAGRAM)
		return get_diagram(r, d, m, domain->level);
	int64_t value = value_get(r);
	return r->bad ? -1 : rankmap_fill(m, domain, value, references);
}

void rankmap_file_put_ranks(struct writer *w, struct diagram_file *d, const struct rankmap *m,
                            const struct rankmap *domain)
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
	struct diagram_edge root = add_nodes(d, &set);
	assert(root.base == 0);
	writer_uint(w, RANKS_DIAGRAM);
	writer_uint(w, root.to);
	writer_uint(w, set.level);
	rankmap_free(&set);
}

int rankmap_file_get_ranks(struct reader *r, const struct diagram_file *d, struct rankmap *m,
                           const struct rankmap *domain)
{
	uint64_t form = reader_uint(r);
	int64_t value;
	if (r->bad || form >= RANKS_FORMS)
		return -1;
	if (form == RANKS_ALL)
		return rankmap_fill(m, domain, 0, false);
	uint64_t to = reader_uint(r), level = reader_uint(r);
	if (r->bad || !edge_fits(d, to, level) ||
	    diagram_map(&d->diagram, (struct diagram_edge){(uint32_t)to, 0}, (uint32_t)level, m) != 0)
		return -1;
	return rankmap_constant(m, &value) && value == 0 ? 0 : -1;
}
