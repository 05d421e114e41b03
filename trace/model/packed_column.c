/* SPDX-License-Identifier: BSD-3-Clause
 * packed_column - rank maps and columns as bytes
 *
 * A column that is constant, and the same in all ranks of its site, is a 0 and the value: two bytes mostly. Others have
 * their length in front, so that who does not need them reads over them. A map is written as one value if it is
 * constant, else node by node:
 *
 *     0 14           all ranks have 7 (doubled, as value_put has it)
 *     3 4 2 10 ...   two nodes (+ 1), root 4, level 2, base 5, the nodes
 *
 * Invariant: what is unpacked is what was packed. The bytes are never anybody's but those of processes of one job, so
 * that readers check nothing but memory.
 */
#include "trace/model/packed_column.h"

#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"

/* Maps. */

void packed_nodes_put(struct writer *w, const struct rankmap *m)
{
	writer_uint(w, m->node_count + UINT64_C(1));
	writer_uint(w, m->root);
	writer_uint(w, m->level);
	writer_int(w, m->base);
	for (uint32_t i = 0; i < m->node_count; i++) {
		writer_uint(w, (uint32_t)(m->nodes[i].low + 1)); /* DIAGRAM_LEAF: 0 */
		writer_uint(w, m->nodes[i].high);
		value_put(w, m->nodes[i].delta);
	}
}

void packed_map_put(struct writer *w, const struct rankmap *m, const struct rankmap *domain)
{
	int64_t value;
	if (rankmap_constant(m, &value) && rankmap_same_ranks(m, domain)) {
		writer_uint(w, 0);
		value_put(w, value);
	} else {
		packed_nodes_put(w, m);
	}
}

/* n: what is written first. */
static int nodes_get(struct reader *r, struct rankmap *m, uint64_t n)
{
	*m = (struct rankmap){.root = (uint32_t)reader_uint(r)};
	m->level = (uint32_t)reader_uint(r);
	m->base = reader_int(r);
	if (n > 1 && !(m->nodes = budget_malloc((n - 1) * sizeof *m->nodes))) {
		*m = (struct rankmap){0};
		return -1;
	}
	for (; m->node_count < n - 1; m->node_count++) {
		struct diagram_node *node = &m->nodes[m->node_count];
		node->low = (uint32_t)reader_uint(r) - 1;
		node->high = (uint32_t)reader_uint(r);
		node->delta = value_get(r);
	}
	return 0;
}

int packed_nodes_get(struct reader *r, struct rankmap *m)
{
	return nodes_get(r, m, reader_uint(r));
}

struct reader packed_nodes_span(struct reader *r)
{
	const uint8_t *begin = r->at;
	uint64_t n = reader_uint(r);
	for (int i = 0; i < 3; i++) /* root, level, base */
		(void)reader_uint(r);
	for (; n > 1; n--) {
		(void)reader_uint(r);
		(void)reader_uint(r);
		(void)value_get(r);
	}
	return reader_of(begin, (size_t)(r->at - begin));
}

int packed_map_get(struct reader *r, struct rankmap *m, const struct rankmap *domain, bool references)
{
	uint64_t n = reader_uint(r);
	return n == 0 ? rankmap_fill(m, domain, value_get(r), references) : nodes_get(r, m, n);
}

/* Columns. */

static void pack_lossy(struct writer *w, const struct trace_lossy *l, const struct rankmap *ranks)
{
	writer_uint(w, l->why);
	writer_uint(w, l->since);
	tally_put(w, &l->values);
	tally_put(w, &l->elements);
	writer_uint(w, l->next_count);
	for (uint32_t i = 0; i < l->next_count; i++) {
		writer_uint(w, l->next[i].to);
		tally_put(w, &l->next[i].runs);
	}
	packed_column_put(w, &l->prefix, ranks);
}

static int unpack_lossy(struct reader *r, struct trace_lossy *l, const struct rankmap *ranks, enum reference reference)
{
	l->why = (uint32_t)reader_uint(r);
	l->since = reader_uint(r);
	if (tally_get(r, &l->values) != 0 || tally_get(r, &l->elements) != 0)
		return -1;
	for (uint64_t n = reader_uint(r); n > 0; n--) {
		struct tally *runs = trace_next(l, (uint32_t)reader_uint(r));
		if (!runs || tally_get(r, runs) != 0)
			return -1;
	}
	return packed_column_get(r, &l->prefix, ranks, reference);
}

static void pack_stretch(struct writer *w, const struct trace_stretch *s, const struct rankmap *ranks)
{
	assert(s->count > 0);
	writer_uint(w, s->count << 1 | s->vector);
	if (!s->vector)
		packed_map_put(w, &s->start, ranks);
	if (!s->vector && s->count > 1)
		packed_map_put(w, &s->stride, ranks);
	if (s->vector)
		writer_uint(w, s->width);
	for (uint32_t i = 0; i < s->width; i++)
		packed_map_put(w, &s->elements[i], ranks);
}

static int unpack_stretch(struct reader *r, struct trace_stretch *s, const struct rankmap *ranks,
                          enum reference reference)
{
	uint64_t head = reader_uint(r);
	s->count = head >> 1;
	s->vector = head & 1;
	if (!s->vector)
		return packed_map_get(r, &s->start, ranks, reference != REFERENCE_NONE) != 0 ||
		                       (s->count > 1 && packed_map_get(r, &s->stride, ranks, false) != 0)
		               ? -1
		               : 0;
	uint64_t width = reader_uint(r);
	s->elements = budget_calloc(width + 1, sizeof *s->elements);
	if (!s->elements || rankmap_fill(&s->start, ranks, 0, false) != 0)
		return -1;
	for (; s->width < width; s->width++)
		if (packed_map_get(r, &s->elements[s->width], ranks, false) != 0)
			return -1;
	return 0;
}

enum { GROUP_LOSSY = 1, GROUP_SOME = 2, GROUP_EDITS = 4, GROUP_BITS = 3 }; /* the rest of the number is the pattern */

static void pack_group(struct writer *w, const struct trace_group *g, const struct rankmap *visits)
{
	bool all = rankmap_same_ranks(trace_group_ranks(g), visits);
	writer_uint(w, (uint64_t)g->pattern << GROUP_BITS | (all ? 0 : GROUP_SOME) | (g->lossy ? GROUP_LOSSY : 0) |
	                       (g->edits ? GROUP_EDITS : 0));
	if (!all) {
		struct rankmap set;
		w->failed |= rankmap_fill(&set, trace_group_ranks(g), 0, false) != 0;
		packed_nodes_put(w, &set);
		rankmap_free(&set);
	}
	if (g->lossy) {
		pack_lossy(w, g->lossy, trace_group_ranks(g));
		return;
	}
	writer_uint(w, g->count);
	for (uint32_t i = 0; i < g->count; i++)
		pack_stretch(w, &g->dict[i], trace_group_ranks(g));
}

static int unpack_group(struct reader *r, struct trace_group *g, const struct rankmap *visits, enum reference reference)
{
	int rv = -1;
	uint64_t head = reader_uint(r);
	struct rankmap set = {0};
	if (head & GROUP_SOME && packed_map_get(r, &set, visits, false) != 0)
		return -1;
	const struct rankmap *ranks = head & GROUP_SOME ? &set : visits;
	if (head & GROUP_LOSSY) {
		rv = trace_group_lossy(g, ranks) == 0 ? unpack_lossy(r, g->lossy, ranks, reference) : -1;
		goto done;
	}
	g->pattern = (uint32_t)(head >> GROUP_BITS);
	g->edits = head & GROUP_EDITS;
	uint64_t count = reader_uint(r);
	g->dict = budget_calloc(count, sizeof *g->dict);
	if (!g->dict)
		goto done;
	while (g->count < count)
		if (unpack_stretch(r, &g->dict[g->count++], ranks, reference) != 0)
			goto done;
	rv = 0;
done:
	rankmap_free(&set);
	return rv;
}

/* By far the most common: one value, the same for all visits of all ranks. */
static bool is_plain(const struct trace_column *c, const struct rankmap *visits, int64_t *value)
{
	const struct trace_group *g = c->groups;
	return c->count == 1 && g->pattern == 0 && !g->lossy && !g->edits && !g->dict[0].vector &&
	       rankmap_constant(&g->dict[0].start, value) && rankmap_same_ranks(&g->dict[0].start, visits);
}

/* What was written from `at` on gets its length in front. */
static void put_length(struct writer *w, size_t at)
{
	struct writer length = {.data = (uint8_t[10]){0}, .capacity = 10};
	size_t n = w->size - at;
	writer_uint(&length, n);
	if (w->failed || !writer_reserve(w, length.size))
		return;
	memmove(w->data + at + length.size, w->data + at, n);
	memcpy(w->data + at, length.data, length.size);
}

void packed_column_put(struct writer *w, const struct trace_column *c, const struct rankmap *visits)
{
	int64_t value;
	if (is_plain(c, visits, &value)) {
		writer_uint(w, 0);
		value_put(w, value);
		return;
	}
	size_t at = w->size;
	writer_uint(w, c->count);
	for (uint32_t i = 0; i < c->count; i++)
		pack_group(w, &c->groups[i], visits);
	put_length(w, at);
}

static int unpack_plain(struct reader *r, struct trace_group *g, const struct rankmap *visits, enum reference reference)
{
	g->dict = budget_calloc(1, sizeof *g->dict);
	if (!g->dict)
		return -1;
	g->count = 1;
	g->dict[0].count = 1;
	return rankmap_fill(&g->dict[0].start, visits, value_get(r), reference != REFERENCE_NONE);
}

int packed_column_get(struct reader *r, struct trace_column *c, const struct rankmap *visits, enum reference reference)
{
	bool plain = reader_uint(r) == 0;
	uint64_t n = plain ? 1 : reader_uint(r);
	c->groups = budget_calloc(n ? n : 1, sizeof *c->groups);
	if (!c->groups)
		return -1;
	if (plain)
		return unpack_plain(r, &c->groups[c->count++], visits, reference);
	while (c->count < n)
		if (unpack_group(r, &c->groups[c->count++], visits, reference) != 0)
			return -1;
	return 0;
}

struct reader packed_column_span(struct reader *r)
{
	const uint8_t *begin = r->at;
	uint64_t n = reader_uint(r);
	if (n)
		reader_bytes(r, n);
	else
		value_get(r);
	return reader_of(begin, (size_t)(r->at - begin));
}

/* Columns that are the same in all ranks. */

static bool translate_value_of(struct reader *r, struct writer *w, const struct packed_translation *x,
                               enum reference reference)
{
	int64_t value = value_get(r);
	if (reference == REFERENCE_VECTOR && !value_is_constant(value)) /* whoever merges vectors has more to do */
		return false;
	value_put(w, x->value(x->context, value, reference));
	return true;
}

static bool translate_uniform(struct reader *r, struct writer *w, const struct packed_translation *x,
                              enum reference reference)
{
	if (reader_uint(r) != 0)
		return false;
	writer_uint(w, 0);
	return translate_value_of(r, w, x, reference);
}

static bool translate_stretch(struct reader *r, struct writer *w, const struct packed_translation *x,
                              enum reference reference)
{
	uint64_t head = reader_uint(r), maps = head >> 1 > 1 ? 2 : 1;
	writer_uint(w, head);
	if (head & 1)
		writer_uint(w, maps = reader_uint(r));
	for (uint64_t i = 0; i < maps; i++)
		if (!translate_uniform(r, w, x, i == 0 && !(head & 1) ? reference : REFERENCE_NONE))
			return false;
	return true;
}

bool packed_column_translate(struct reader r, struct writer *w, const struct packed_translation *x,
                             enum reference reference)
{
	if (reader_uint(&r) == 0) {
		writer_uint(w, 0);
		return translate_value_of(&r, w, x, reference);
	}
	if (reader_uint(&r) != 1)
		return false;
	size_t at = w->size;
	writer_uint(w, 1);
	uint64_t head = reader_uint(&r);
	if (head & (GROUP_SOME | GROUP_LOSSY | GROUP_EDITS))
		return false;
	uint32_t pattern = (uint32_t)(head >> GROUP_BITS);
	if (pattern && (pattern = x->pattern(x->context, pattern - 1) + 1) == 0)
		w->failed = true;
	writer_uint(w, (uint64_t)pattern << GROUP_BITS);
	uint64_t count = reader_uint(&r);
	writer_uint(w, count);
	for (; count > 0; count--)
		if (!translate_stretch(&r, w, x, reference))
			return false;
	put_length(w, at);
	return true;
}
