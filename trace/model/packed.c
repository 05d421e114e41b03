/* SPDX-License-Identifier: BSD-3-Clause
 * packed - a trace whose sites are bytes but for the one that is being worked at
 *
 * A column that is constant, and the same in all ranks of its site, is a 0 and the value: two bytes mostly. A map is
 * written as one value if it is constant, else node by node:
 *
 *     0 14           all ranks have 7 (doubled, as value_put has it)
 *     3 4 2 10 ...   two nodes (+ 1), root 4, level 2, base 5, the nodes
 *
 * Invariant: what is unpacked is what was packed. The bytes are never anybody's but this process', so that readers
 * check nothing but memory.
 */
#include "trace/model/packed.h"

#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/varint.h"
#include "trace/model/classes.h"
#include "trace/model/counts.h"
#include "trace/model/packed_histogram.h"

/* Maps. */

static void pack_nodes(struct writer *w, const struct rankmap *m)
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

/* domain: the ranks that a reader expects. */
static void pack_map(struct writer *w, const struct rankmap *m, const struct rankmap *domain)
{
	int64_t value;
	if (rankmap_constant(m, &value) && rankmap_same_ranks(m, domain)) {
		writer_uint(w, 0);
		value_put(w, value);
	} else {
		pack_nodes(w, m);
	}
}

/* n: what is written first. */
static int unpack_nodes(struct reader *r, struct rankmap *m, uint64_t n)
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

static int unpack_map(struct reader *r, struct rankmap *m, const struct rankmap *domain, bool references)
{
	uint64_t n = reader_uint(r);
	return n == 0 ? rankmap_fill(m, domain, value_get(r), references) : unpack_nodes(r, m, n);
}

/* Columns. */

static void pack_column(struct writer *w, const struct trace_column *c, const struct rankmap *visits);
static int unpack_column(struct reader *r, struct trace_column *c, const struct rankmap *ranks, enum reference kind);

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
	pack_column(w, &l->prefix, ranks);
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
	return unpack_column(r, &l->prefix, ranks, reference);
}

static void pack_stretch(struct writer *w, const struct trace_stretch *s, const struct rankmap *ranks)
{
	assert(s->count > 0);
	writer_uint(w, s->count << 1 | s->vector);
	if (!s->vector)
		pack_map(w, &s->start, ranks);
	if (!s->vector && s->count > 1)
		pack_map(w, &s->stride, ranks);
	if (s->vector)
		writer_uint(w, s->width);
	for (uint32_t i = 0; i < s->width; i++)
		pack_map(w, &s->elements[i], ranks);
}

static int unpack_stretch(struct reader *r, struct trace_stretch *s, const struct rankmap *ranks,
                          enum reference reference)
{
	uint64_t head = reader_uint(r);
	s->count = head >> 1;
	s->vector = head & 1;
	if (!s->vector)
		return unpack_map(r, &s->start, ranks, reference != REFERENCE_NONE) != 0 ||
		                       (s->count > 1 && unpack_map(r, &s->stride, ranks, false) != 0)
		               ? -1
		               : 0;
	uint64_t width = reader_uint(r);
	s->elements = budget_calloc(width + 1, sizeof *s->elements);
	if (!s->elements || rankmap_fill(&s->start, ranks, 0, false) != 0)
		return -1;
	for (; s->width < width; s->width++)
		if (unpack_map(r, &s->elements[s->width], ranks, false) != 0)
			return -1;
	return 0;
}

enum { GROUP_LOSSY = 1, GROUP_SOME = 2, GROUP_BITS = 2 }; /* the rest of the number is the pattern */

static void pack_group(struct writer *w, const struct trace_group *g, const struct rankmap *visits)
{
	bool all = rankmap_same_ranks(trace_group_ranks(g), visits);
	writer_uint(w, (uint64_t)g->pattern << GROUP_BITS | (all ? 0 : GROUP_SOME) | (g->lossy ? GROUP_LOSSY : 0));
	if (!all) {
		struct rankmap set;
		w->failed |= rankmap_fill(&set, trace_group_ranks(g), 0, false) != 0;
		pack_nodes(w, &set);
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
	if (head & GROUP_SOME && unpack_map(r, &set, visits, false) != 0)
		return -1;
	const struct rankmap *ranks = head & GROUP_SOME ? &set : visits;
	if (head & GROUP_LOSSY) {
		rv = trace_group_lossy(g, ranks) == 0 ? unpack_lossy(r, g->lossy, ranks, reference) : -1;
		goto done;
	}
	g->pattern = (uint32_t)(head >> GROUP_BITS);
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
	return c->count == 1 && g->pattern == 0 && !g->lossy && !g->dict[0].vector &&
	       rankmap_constant(&g->dict[0].start, value) && rankmap_same_ranks(&g->dict[0].start, visits);
}

static void pack_column(struct writer *w, const struct trace_column *c, const struct rankmap *visits)
{
	int64_t value;
	if (is_plain(c, visits, &value)) {
		writer_uint(w, 0);
		value_put(w, value);
		return;
	}
	writer_uint(w, c->count + UINT64_C(1));
	for (uint32_t i = 0; i < c->count; i++)
		pack_group(w, &c->groups[i], visits);
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

static int unpack_column(struct reader *r, struct trace_column *c, const struct rankmap *visits,
                         enum reference reference)
{
	uint64_t n = reader_uint(r);
	if (n == 1)
		return 0;
	c->groups = budget_calloc(n ? n - 1 : 1, sizeof *c->groups);
	if (!c->groups)
		return -1;
	if (n == 0)
		return unpack_plain(r, &c->groups[c->count++], visits, reference);
	while (c->count < n - 1)
		if (unpack_group(r, &c->groups[c->count++], visits, reference) != 0)
			return -1;
	return 0;
}

/* Times. */

static void pack_counts(struct writer *w, const struct histogram *counts)
{
	writer_uint(w, counts != NULL);
	for (unsigned i = 0; counts && i < TRACE_COUNTERS; i++)
		histogram_pack(w, &counts[i]);
}

static int unpack_counts(struct reader *r, struct histogram **counts)
{
	if (reader_uint(r) == 0)
		return 0;
	if (!counts_make(counts))
		return -1;
	for (unsigned i = 0; i < TRACE_COUNTERS; i++)
		if (histogram_unpack(r, &(*counts)[i]) != 0)
			return -1;
	return 0;
}

static void pack_classes(struct writer *w, const struct trace_classes *c, const struct rankmap *visits)
{
	writer_uint(w, c ? c->count + UINT64_C(1) : 0);
	if (!c)
		return;
	writer_uint(w, c->finished);
	for (uint32_t i = 0; i < c->count; i++) {
		writer_uint(w, c->each[i].key);
		histogram_pack(w, &c->each[i].compute);
		pack_counts(w, c->each[i].counts);
	}
	pack_column(w, &c->column, visits);
	pack_map(w, &c->mean, visits);
}

static int unpack_classes(struct reader *r, struct trace_edge *e, const struct rankmap *visits)
{
	uint64_t n = reader_uint(r);
	if (n == 0)
		return 0;
	struct trace_classes *c = classes_make(e);
	if (!c)
		return -1;
	c->finished = reader_uint(r);
	for (; n > 1; n--) {
		struct trace_class *k = classes_add(c, (uint32_t)reader_uint(r));
		if (!k || histogram_unpack(r, &k->compute) != 0 || unpack_counts(r, &k->counts) != 0)
			return -1;
	}
	return unpack_column(r, &c->column, visits, REFERENCE_CLASS) != 0 ? -1 : unpack_map(r, &c->mean, visits, false);
}

static void pack_times(struct writer *w, const struct trace_site *s)
{
	histogram_pack(w, &s->communicate);
	pack_counts(w, s->counts);
	writer_uint(w, s->least);
	writer_uint(w, s->most);
	writer_uint(w, s->least_rank);
	writer_uint(w, s->most_rank);
	writer_uint(w, s->edge_count);
	for (uint32_t i = 0; i < s->edge_count; i++) {
		writer_uint(w, s->edges[i].to);
		histogram_pack(w, &s->edges[i].compute);
		pack_counts(w, s->edges[i].counts);
		pack_classes(w, s->edges[i].classes, &s->visits);
	}
}

static int unpack_times(struct reader *r, struct trace_site *s)
{
	if (histogram_unpack(r, &s->communicate) != 0 || unpack_counts(r, &s->counts) != 0)
		return -1;
	s->least = reader_uint(r);
	s->most = reader_uint(r);
	s->least_rank = (uint32_t)reader_uint(r);
	s->most_rank = (uint32_t)reader_uint(r);
	uint64_t n = reader_uint(r);
	if (n == 0)
		return 0;
	s->edges = budget_calloc(n, sizeof *s->edges);
	if (!s->edges)
		return -1;
	s->edge_capacity = (uint32_t)n;
	while (s->edge_count < n) {
		struct trace_edge *e = &s->edges[s->edge_count++];
		e->to = (uint32_t)reader_uint(r);
		if (histogram_unpack(r, &e->compute) != 0 || unpack_counts(r, &e->counts) != 0 ||
		    unpack_classes(r, e, &s->visits) != 0)
			return -1;
	}
	return 0;
}

/* Sites. */

enum { COLUMNS = 1, TIMES = 2 };

static int unpack_parts(const struct trace *t, uint32_t i, unsigned parts, struct trace_site *s)
{
	const struct trace_packed *p = &t->packed[i];
	const struct schema *schema = &t->functions[p->function].schema;
	struct reader r = reader_of(p->bytes, p->size);
	*s = (struct trace_site){.function = p->function, .node = p->node};
	int rv = p->bytes ? unpack_nodes(&r, &s->visits, reader_uint(&r)) : 0;
	if (parts & COLUMNS) {
		s->columns = budget_calloc(schema->count + 2, sizeof *s->columns);
		s->column_count = s->columns ? (uint32_t)schema->count + 1 : 0;
		rv = s->columns ? rv : -1;
	} else {
		r.at = p->bytes + p->times;
	}
	for (uint32_t k = 0; rv == 0 && p->bytes && k < s->column_count; k++)
		rv = unpack_column(&r, &s->columns[k], &s->visits, schema_reference(schema, k));
	assert(rv != 0 || !p->bytes || r.at == p->bytes + p->times);
	if (rv == 0 && p->bytes && parts & TIMES)
		rv = unpack_times(&r, s);
	assert(rv != 0 || (!r.bad && (r.at == r.end || !(parts & TIMES))));
	if (rv != 0)
		trace_site_free(s);
	return rv;
}

void packed_key(const struct trace *t, uint32_t i, uint32_t *function, uint32_t *node)
{
	*function = t->packing ? t->packed[i].function : t->sites[i].function;
	*node = t->packing ? t->packed[i].node : t->sites[i].node;
}

const struct rankmap *packed_visits(const struct trace *t, uint32_t i, struct rankmap *room)
{
	*room = (struct rankmap){0};
	if (!t->packing)
		return &t->sites[i].visits;
	struct reader r = reader_of(t->packed[i].bytes, t->packed[i].size);
	return !t->packed[i].bytes || unpack_nodes(&r, room, reader_uint(&r)) == 0 ? room : NULL;
}

static struct trace_site *unpacked(const struct trace *t, uint32_t i, unsigned parts, struct trace_site *room)
{
	if (!t->packing)
		return &t->sites[i];
	return unpack_parts(t, i, parts, room) == 0 ? room : NULL;
}

const struct trace_site *packed_look(const struct trace *t, uint32_t i, struct trace_site *room)
{
	return unpacked(t, i, COLUMNS | TIMES, room);
}

const struct trace_site *packed_look_columns(const struct trace *t, uint32_t i, struct trace_site *room)
{
	return unpacked(t, i, COLUMNS, room);
}

const struct trace_site *packed_look_times(const struct trace *t, uint32_t i, struct trace_site *room)
{
	return unpacked(t, i, TIMES, room);
}

void packed_leave(const struct trace *t, struct trace_site *room)
{
	if (t->packing)
		trace_site_free(room);
}

struct trace_site *packed_open(struct trace *t, uint32_t i, struct trace_site *room)
{
	return unpacked(t, i, COLUMNS | TIMES, room);
}

struct trace_site *packed_open_times(struct trace *t, uint32_t i, struct trace_site *room)
{
	return unpacked(t, i, t->packing && t->packed[i].bytes ? TIMES : COLUMNS | TIMES, room);
}

enum { OF_COLUMNS = PACKED_SPLIT | PACKED_UNORDERED };

static unsigned traits_of(const struct trace_site *s)
{
	unsigned traits = 0;
	for (uint32_t k = 0; k < s->column_count; k++) {
		traits |= s->columns[k].count > 1 ? PACKED_SPLIT : 0;
		for (uint32_t g = 0; g < s->columns[k].count; g++)
			traits |= s->columns[k].groups[g].lossy ? PACKED_UNORDERED : 0;
	}
	for (uint32_t k = 0; k < s->edge_count; k++)
		traits |= s->edges[k].classes ? PACKED_CLASSES : 0;
	return traits;
}

bool packed_has(const struct trace *t, uint32_t i, unsigned traits)
{
	return ((t->packing ? t->packed[i].traits : traits_of(&t->sites[i])) & traits) != 0;
}

/* all: the columns, too; else their bytes stay. */
static int pack_again(struct trace *t, uint32_t i, struct trace_site *s, bool all)
{
	struct trace_packed *p = &t->packed[i];
	struct writer *w = &t->packing_room;
	w->size = 0;
	if (all)
		pack_nodes(w, &s->visits);
	for (uint32_t k = 0; all && k < s->column_count; k++)
		pack_column(w, &s->columns[k], &s->visits);
	size_t kept = all ? 0 : p->times;
	p->times = (uint32_t)(all ? w->size : kept);
	p->traits = (traits_of(s) | (all ? 0 : p->traits & OF_COLUMNS)) & 7;
	pack_times(w, s);
	uint8_t *bytes = w->failed || kept + w->size >= UINT32_C(1) << 29 ? NULL : budget_malloc(kept + w->size);
	if (bytes && kept)
		memcpy(bytes, p->bytes, kept);
	if (bytes)
		memcpy(bytes + kept, w->data, w->size);
	budget_free(p->bytes);
	p->bytes = bytes;
	p->size = (kept + w->size) & ((UINT32_C(1) << 29) - 1);
	trace_site_free(s);
	return bytes ? 0 : -1;
}

int packed_close(struct trace *t, uint32_t i, struct trace_site *s)
{
	return t->packing ? pack_again(t, i, s, true) : 0;
}

int packed_close_times(struct trace *t, uint32_t i, struct trace_site *s)
{
	return t->packing ? pack_again(t, i, s, !t->packed[i].bytes) : 0;
}

static int change_site(struct trace *t, uint32_t i, int (*change)(struct trace *t, struct trace_site *s))
{
	struct trace_site room, *s = packed_open(t, i, &room);
	int rv = s ? change(t, s) : -1;
	return s && packed_close(t, i, s) != 0 ? -1 : rv;
}

int packed_change(struct trace *t, unsigned traits, int (*change)(struct trace *t, struct trace_site *s))
{
	int changed = 0;
	for (uint32_t i = 0; i < t->site_count; i++) {
		int rv = !traits || packed_has(t, i, traits) ? change_site(t, i, change) : 0;
		if (rv < 0)
			return -1;
		changed += rv;
	}
	return changed;
}

void packed_drop(struct trace *t, uint32_t i)
{
	if (!t->packing) {
		trace_site_free(&t->sites[i]);
		return;
	}
	budget_free(t->packed[i].bytes);
	t->packed[i].bytes = NULL;
}
