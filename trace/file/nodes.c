/* SPDX-License-Identifier: BSD-3-Clause
 * nodes - the stored form of the nodes of all diagrams of a trace
 */
#include "trace/file/nodes.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/base/entropy.h"
#include "trace/model/pieces.h"

/* Contexts. Grids have few distances between ranks, and rows of nodes that are the same for both halves. */
enum {
	AT_LOW,
	AT_CONSTANT = AT_LOW + 2,
	AT_NAME,
	AT_VALUE,
	AT_TWIN,
	AT_HIGH = AT_TWIN + 3,
	AT_ZERO = AT_HIGH + 3,
	AT_RECENT = AT_ZERO + 2,
	AT_DELTA,
	AT_END
};
_Static_assert(AT_END <= ENTROPY_CONTEXTS, "contexts");

#define RECENT      15 /* distances that are numbered; the last number says that it is another one */
#define RECENT_BITS 4
#define DIGITS      63

/* What is known when a node is coded. */
struct model {
	int64_t recent[RECENT]; /* the last ones first; at the beginning all 0 */
	bool twin;              /* are the halves of the node before the same? */
};

/* An edge from node i: 0 absent, 1 plain, 2 the node before, ... */
static uint64_t edge_number(uint32_t i, uint32_t to)
{
	return to < RANK_NODE ? to : 1 + (uint64_t)i - (to - RANK_NODE);
}

/* False if there is no such node. */
static bool edge_of(uint64_t u, uint32_t i, uint32_t *to)
{
	*to = u < RANK_NODE ? (uint32_t)u : (uint32_t)(i - (u - 1) + RANK_NODE);
	return u < RANK_NODE || u - 1 <= i;
}

/* Which of three contexts: what the low half is. */
static unsigned sort_of(uint64_t edge)
{
	return edge < RANK_NODE ? (unsigned)edge : RANK_NODE;
}

/* Makes it the first one. */
static void remember(struct model *m, unsigned place, int64_t delta)
{
	memmove(&m->recent[1], m->recent, (place < RECENT ? place : RECENT - 1) * sizeof *m->recent);
	m->recent[0] = delta;
}

static bool has_delta(const struct rank_loom *l, const struct rank_node *n)
{
	return rank_loom_plain(l, n->low) && rank_loom_plain(l, n->high);
}

static void put_bytes(struct writer *w, const struct rank_loom *l, uint32_t i)
{
	const struct rank_node *n = &l->nodes[i];
	if (n->low == RANK_LEAF) {
		writer_uint(w, 0);
		value_put(w, n->delta);
		return;
	}
	writer_uint(w, 1 + edge_number(i, n->low));
	writer_uint(w, edge_number(i, n->high));
	if (has_delta(l, n))
		writer_int(w, n->delta);
}

static void put_delta(struct entropy_writer *e, struct model *m, bool twin, int64_t delta)
{
	unsigned place = 0;
	entropy_put_symbol(e, AT_ZERO + twin, 1, delta != 0);
	if (delta == 0)
		return;
	while (place < RECENT && m->recent[place] != delta)
		place++;
	entropy_put_symbol(e, AT_RECENT, RECENT_BITS, place);
	if (place == RECENT)
		entropy_put_number(e, AT_DELTA, DIGITS, zigzag(delta));
	remember(m, place, delta);
}

static void put_coded(struct entropy_writer *e, struct model *m, const struct rank_loom *l, uint32_t i)
{
	const struct rank_node *n = &l->nodes[i];
	uint64_t low = n->low == RANK_LEAF ? 0 : edge_number(i, n->low);
	entropy_put_number(e, AT_LOW + m->twin, DIGITS, n->low == RANK_LEAF ? 0 : 1 + low);
	m->twin = n->low != RANK_LEAF && n->low == n->high;
	if (n->low == RANK_LEAF) {
		bool name = value_is_constant(n->delta);
		entropy_put_symbol(e, AT_CONSTANT, 1, name);
		entropy_put_number(e, name ? AT_NAME : AT_VALUE, DIGITS,
		                   name ? (uint64_t)n->delta - (uint64_t)VALUE_CONSTANT : zigzag(n->delta));
		return;
	}
	entropy_put_symbol(e, AT_TWIN + sort_of(low), 1, m->twin);
	if (!m->twin)
		entropy_put_number(e, AT_HIGH + sort_of(low), DIGITS, edge_number(i, n->high));
	if (has_delta(l, n))
		put_delta(e, m, m->twin, n->delta);
}

void nodes_put(struct writer *w, const struct rank_loom *l, bool coded)
{
	struct model m = {.twin = false};
	struct entropy_writer *e = coded ? budget_malloc(sizeof *e) : NULL;
	writer_uint(w, l->count);
	w->failed |= l->failed || (coded && !e);
	if (e)
		entropy_begin(e, w);
	for (uint32_t i = 0; i < l->count; i++) {
		if (e)
			put_coded(e, &m, l, i);
		else
			put_bytes(w, l, i);
	}
	if (e)
		entropy_end(e);
	budget_free(e);
}

size_t nodes_bytes(const struct rank_loom *l, uint32_t from)
{
	struct writer w = {0};
	for (uint32_t i = from; i < l->count; i++)
		put_bytes(&w, l, i);
	size_t n = w.size;
	writer_free(&w);
	return n;
}

/* A node as it is in the chunk. */
struct stored {
	bool leaf;
	int64_t value; /* of a leaf */
	uint32_t low, high;
};

/* Returns 0 or -1. */
static int get_bytes(struct reader *r, uint32_t i, struct stored *s)
{
	uint64_t u = reader_uint(r);
	s->leaf = u == 0;
	if (s->leaf) {
		s->value = value_get(r);
		return 0;
	}
	return edge_of(u - 1, i, &s->low) && edge_of(reader_uint(r), i, &s->high) ? 0 : -1;
}

static int get_coded(struct entropy_reader *e, struct model *m, uint32_t i, struct stored *s)
{
	uint64_t u = entropy_number(e, AT_LOW + m->twin, DIGITS);
	s->leaf = u == 0;
	if (s->leaf) {
		bool name = entropy_symbol(e, AT_CONSTANT, 1);
		u = entropy_number(e, name ? AT_NAME : AT_VALUE, DIGITS);
		s->value = name ? (int64_t)((uint64_t)VALUE_CONSTANT + u) : unzigzag(u);
		m->twin = false;
		return name ? (u > UINT32_MAX ? -1 : 0) : value_is_constant(s->value) ? -1 : 0;
	}
	if (!edge_of(u - 1, i, &s->low))
		return -1;
	m->twin = entropy_symbol(e, AT_TWIN + sort_of(u - 1), 1);
	s->high = s->low;
	return m->twin || edge_of(entropy_number(e, AT_HIGH + sort_of(u - 1), DIGITS), i, &s->high) ? 0 : -1;
}

static int64_t get_delta(struct entropy_reader *e, struct model *m)
{
	if (!entropy_symbol(e, AT_ZERO + m->twin, 1))
		return 0;
	unsigned place = entropy_symbol(e, AT_RECENT, RECENT_BITS);
	int64_t delta = place < RECENT ? m->recent[place] : unzigzag(entropy_number(e, AT_DELTA, DIGITS));
	remember(m, place, delta);
	return delta;
}

static uint8_t height_of(const uint8_t *height, uint32_t to)
{
	return to < RANK_NODE ? 0 : height[to - RANK_NODE];
}

static int get_node(struct reader *r, struct entropy_reader *e, struct model *m, struct rank_loom *l, uint8_t *height,
                    uint32_t i)
{
	struct rank_edge made;
	struct stored s;
	if ((e ? get_coded(e, m, i, &s) : get_bytes(r, i, &s)) != 0 || r->bad)
		return -1;
	if (s.leaf) {
		made = rank_edge_leaf(l, s.value);
	} else {
		int64_t delta = 0;
		if (rank_loom_plain(l, s.low) && rank_loom_plain(l, s.high))
			delta = e ? get_delta(e, m) : reader_int(r);
		made = rank_edge_make(l, (struct rank_edge){s.low, 0}, (struct rank_edge){s.high, delta});
		uint8_t a = height_of(height, s.low), b = height_of(height, s.high);
		height[i] = (uint8_t)(1 + (a > b ? a : b));
	}
	/* each node is there once, and none that would be another one's short form */
	return r->bad || l->failed || made.to != i + RANK_NODE || height[i] > RANK_LEVELS ? -1 : 0;
}

int nodes_get(struct reader *r, struct rank_loom *l, uint8_t **height, bool coded)
{
	int rv = 0;
	struct model m = {.twin = false};
	uint64_t n = reader_uint(r);
	/* a node takes a byte, or if it is coded a small part of a bit */
	if (r->bad || n > UINT32_C(1) << 30 || (!coded && n > (uint64_t)(r->end - r->at)))
		return -1;
	struct entropy_reader *e = coded ? budget_malloc(sizeof *e) : NULL;
	if (e)
		entropy_open(e, r, false);
	size_t room = 0;
	for (uint32_t i = 0; rv == 0 && i < n; i++) {
		if (i == room) { /* only as much as there are nodes, whatever n says */
			uint8_t *more = budget_realloc(*height, room += room / 2 + 64);
			if (!more) {
				rv = -1;
				break;
			}
			*height = more;
		}
		(*height)[i] = 0;
		rv = get_node(r, e, &m, l, *height, i);
	}
	if (e)
		entropy_close(e);
	budget_free(e);
	return rv != 0 || (coded && !e) || r->at != r->end ? -1 : 0;
}
