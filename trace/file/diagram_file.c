/* SPDX-License-Identifier: BSD-3-Clause
 * diagram_file - the stored form of the nodes of all diagrams of a trace
 *
 * A node is its two edges, as distances back in the list, and the difference of the high half's values. Ranks 0 .. 3
 * with 5 5 9 9 are one node whose halves are both "all ranks, plain" and which adds 4 to the high one; with its base of
 * 5 in the map that refers to it:
 *
 *     02 01 08     low: edge 1 (as u - 1), high: edge 1, delta 4 (zigzag)
 *
 * Invariant: nodes stand behind what they refer to, each once, and none that a shorter form stands for. A reader makes
 * each node anew and refuses the chunk if that gives another number.
 */
#include "trace/file/diagram_file.h"

#include <assert.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

/* An edge from node i: 0 absent, 1 plain, 2 the node before, ... */
static uint64_t edge_number(uint32_t i, uint32_t to)
{
	assert(to < DIAGRAM_NODE || to - DIAGRAM_NODE < i);
	return to < DIAGRAM_NODE ? to : 1 + (uint64_t)i - (to - DIAGRAM_NODE);
}

/* False if there is no such node. */
static bool edge_of(uint64_t u, uint32_t i, uint32_t *to)
{
	*to = u < DIAGRAM_NODE ? (uint32_t)u : (uint32_t)(i - (u - 1) + DIAGRAM_NODE);
	return u < DIAGRAM_NODE || u - 1 <= i;
}

static void put_node(struct writer *w, const struct diagram *l, uint32_t i)
{
	const struct diagram_node *n = &l->nodes[i];
	if (n->low == DIAGRAM_LEAF) {
		writer_uint(w, 0);
		value_put(w, n->delta);
		return;
	}
	writer_uint(w, 1 + edge_number(i, n->low));
	writer_uint(w, edge_number(i, n->high));
	if (diagram_has_number(l, n->low) && diagram_has_number(l, n->high))
		writer_int(w, n->delta);
}

void diagram_file_put(struct writer *w, const struct diagram_file *d)
{
	writer_uint(w, d->diagram.count);
	w->failed |= d->diagram.failed;
	for (uint32_t i = 0; i < d->diagram.count; i++)
		put_node(w, &d->diagram, i);
}

size_t diagram_file_bytes(const struct diagram_file *d, uint32_t from)
{
	struct writer w = {0};
	for (uint32_t i = from; i < d->diagram.count; i++)
		put_node(&w, &d->diagram, i);
	size_t n = w.size;
	writer_free(&w);
	return n;
}

static uint8_t height_of(const struct diagram_file *d, uint32_t to)
{
	return to < DIAGRAM_NODE ? 0 : d->height[to - DIAGRAM_NODE];
}

static int get_node(struct reader *r, struct diagram_file *d, uint32_t i)
{
	struct diagram *l = &d->diagram;
	struct diagram_edge made;
	uint32_t low, high;
	uint64_t u = reader_uint(r);
	d->height[i] = 0;
	if (u == 0) {
		made = diagram_leaf(l, value_get(r));
	} else {
		if (!edge_of(u - 1, i, &low) || !edge_of(reader_uint(r), i, &high))
			return -1;
		int64_t delta = diagram_has_number(l, low) && diagram_has_number(l, high) ? reader_int(r) : 0;
		made = diagram_node_of(l, (struct diagram_edge){low, 0}, (struct diagram_edge){high, delta});
		uint8_t a = height_of(d, low), b = height_of(d, high);
		d->height[i] = (uint8_t)(1 + (a > b ? a : b));
	}
	return r->bad || l->failed || made.to != i + DIAGRAM_NODE || d->height[i] > DIAGRAM_LEVELS ? -1 : 0;
}

int diagram_file_get(struct reader *r, struct diagram_file *d)
{
	size_t n = reader_count(r);
	assert(d->diagram.count == 0 && !d->height);
	if (r->bad || n > UINT32_C(1) << 30)
		return -1;
	d->height = budget_malloc(n + 1);
	for (uint32_t i = 0; d->height && i < n; i++)
		if (get_node(r, d, i) != 0)
			return -1;
	return !d->height || r->at != r->end ? -1 : 0;
}

void diagram_file_free(struct diagram_file *d)
{
	diagram_free(&d->diagram);
	budget_free(d->height);
	d->height = NULL;
}
