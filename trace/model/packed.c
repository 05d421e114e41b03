/* SPDX-License-Identifier: BSD-3-Clause
 * packed - a trace whose sites are bytes but for the one that is being worked at
 *
 * Visits, columns (trace/model/packed_column.h), times.
 *
 * Invariant: what is unpacked is what was packed. The bytes are never anybody's but those of processes of one job, so
 * that readers check nothing but memory.
 */
#include "trace/model/packed.h"

#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/varint.h"
#include "trace/model/classes.h"
#include "trace/model/counts.h"
#include "trace/model/packed_column.h"
#include "trace/model/packed_histogram.h"

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
	packed_column_put(w, &c->column, visits);
	packed_map_put(w, &c->mean, visits);
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
	return packed_column_get(r, &c->column, visits, REFERENCE_CLASS) != 0
	               ? -1
	               : packed_map_get(r, &c->mean, visits, false);
}

static void pack_times(struct writer *w, const struct trace_site *s)
{
	histogram_pack(w, &s->communicate);
	pack_counts(w, s->counts);
	writer_uint(w, s->least);
	writer_uint(w, s->most);
	writer_uint(w, s->least_rank);
	writer_uint(w, s->most_rank);
	writer_uint(w, (uint64_t)s->means.step << 1 | s->means.finished);
	packed_map_put(w, &s->means.map, &s->visits);
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
	uint64_t how = reader_uint(r);
	s->means.step = (unsigned)(how >> 1);
	s->means.finished = how & 1;
	if (packed_map_get(r, &s->means.map, &s->visits, false) != 0)
		return -1;
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
	int rv = p->bytes ? packed_nodes_get(&r, &s->visits) : 0;
	if (parts & COLUMNS) {
		s->columns = budget_calloc(schema->count + 2, sizeof *s->columns);
		s->column_count = s->columns ? (uint32_t)schema->count + 1 : 0;
		rv = s->columns ? rv : -1;
	} else if (p->bytes) {
		r.at = p->bytes + p->times;
	}
	for (uint32_t k = 0; rv == 0 && p->bytes && k < s->column_count; k++)
		rv = packed_column_get(&r, &s->columns[k], &s->visits, schema_reference(schema, k));
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
	return !t->packed[i].bytes || packed_nodes_get(&r, room) == 0 ? room : NULL;
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

unsigned packed_column_traits(const struct trace_column *c)
{
	unsigned traits = c->count > 1 ? PACKED_SPLIT : 0;
	for (uint32_t g = 0; g < c->count; g++)
		traits |= c->groups[g].lossy ? PACKED_UNORDERED : 0;
	return traits;
}

static unsigned traits_of(const struct trace_site *s)
{
	unsigned traits = rankmap_empty(&s->means.map) ? 0 : PACKED_CLASSES;
	for (uint32_t k = 0; k < s->column_count; k++)
		traits |= packed_column_traits(&s->columns[k]);
	for (uint32_t k = 0; k < s->edge_count; k++)
		traits |= s->edges[k].classes ? PACKED_CLASSES : 0;
	return traits;
}

bool packed_has(const struct trace *t, uint32_t i, unsigned traits)
{
	return ((t->packing ? t->packed[i].traits : traits_of(&t->sites[i])) & traits) != 0;
}

/* Visits and columns: n bytes (NULL: those of s), with these traits. */
static int pack_again(struct trace *t, uint32_t i, struct trace_site *s, const uint8_t *columns, size_t n,
                      unsigned traits)
{
	struct trace_packed *p = &t->packed[i];
	struct writer *w = &t->packing_room;
	assert(!t->borrowed);
	w->size = 0;
	if (!columns)
		packed_nodes_put(w, &s->visits);
	for (uint32_t k = 0; !columns && k < s->column_count; k++)
		packed_column_put(w, &s->columns[k], &s->visits);
	p->times = (uint32_t)(columns ? n : w->size);
	p->traits = (traits_of(s) | (columns ? traits & OF_COLUMNS : 0)) & 7;
	pack_times(w, s);
	uint8_t *bytes = w->failed || n + w->size >= UINT32_C(1) << 29 ? NULL : budget_malloc(n + w->size);
	if (bytes && n)
		memcpy(bytes, columns, n);
	if (bytes)
		memcpy(bytes + n, w->data, w->size);
	budget_free(p->bytes);
	p->bytes = bytes;
	p->size = (n + w->size) & ((UINT32_C(1) << 29) - 1);
	trace_site_free(s);
	return bytes ? 0 : -1;
}

int packed_close(struct trace *t, uint32_t i, struct trace_site *s)
{
	return t->packing ? pack_again(t, i, s, NULL, 0, 0) : 0;
}

int packed_close_times(struct trace *t, uint32_t i, struct trace_site *s)
{
	struct trace_packed *p = t->packing ? &t->packed[i] : NULL;
	return p ? pack_again(t, i, s, p->bytes, p->bytes ? p->times : 0, p->traits) : 0;
}

int packed_close_columns(struct trace *t, uint32_t i, struct trace_site *s, const struct writer *columns,
                         unsigned traits)
{
	struct reader r = reader_of(columns->data, columns->size);
	rankmap_free(&s->visits); /* classes are packed as those of the new ones */
	if (!columns->failed && packed_nodes_get(&r, &s->visits) == 0)
		return pack_again(t, i, s, columns->data, columns->size, traits);
	trace_site_free(s);
	return -1;
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
	if (!t->borrowed)
		budget_free(t->packed[i].bytes);
	t->packed[i].bytes = NULL;
}

/* Messages. */

#define FORM 3 /* of the bytes: there may be two releases of spoor in one job */

void packed_put(struct writer *w, const struct trace *t)
{
	writer_uint(w, FORM);
	writer_uint(w, t->site_count);
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_packed *p = &t->packed[i];
		assert(p->bytes || !p->size);
		writer_uint(w, p->function);
		writer_uint(w, p->node);
		writer_uint(w, (uint64_t)p->size << 3 | p->traits);
		writer_uint(w, p->times);
	}
}

static int get_packed(struct reader *r, struct trace *t)
{
	uint64_t function = reader_uint(r), node = reader_uint(r), head = reader_uint(r), times = reader_uint(r),
		 size = head >> 3;
	if (r->bad || function >= t->function_count || node >= t->node_count || times > size || size >> 29)
		return -1;
	uint32_t i = trace_site(t, (uint32_t)function, (uint32_t)node, false);
	if (i == UINT32_MAX)
		return -1;
	struct trace_packed *p = &t->packed[i];
	p->times = (uint32_t)times;
	p->size = (uint32_t)size & ((UINT32_C(1) << 29) - 1);
	p->traits = head & 7;
	return 0;
}

int packed_get(struct reader *r, struct trace *t)
{
	if (!t->packing || reader_uint(r) != FORM)
		return -1;
	t->borrowed = true;
	for (size_t n = reader_count(r); n > 0; n--)
		if (get_packed(r, t) != 0)
			return -1;
	return r->bad || r->at != r->end ? -1 : 0;
}

uint32_t packed_piece(const struct trace *t, uint32_t first, size_t *size)
{
	*size = 0;
	while (first < t->site_count && (*size == 0 || *size + t->packed[first].size <= PACKED_PIECE))
		*size += t->packed[first++].size;
	return first;
}

void packed_piece_take(struct trace *t, uint32_t first, uint32_t end, uint8_t *to)
{
	for (; first < end; first++) {
		const struct trace_packed *p = &t->packed[first];
		if (p->size)
			memcpy(to, p->bytes, p->size);
		to += p->size;
		packed_drop(t, first);
	}
}

void packed_piece_lend(struct trace *t, uint32_t first, uint32_t end, const uint8_t *bytes)
{
	assert(t->borrowed);
	for (; first < end; first++) {
		struct trace_packed *p = &t->packed[first];
		p->bytes = p->size ? (uint8_t *)(uintptr_t)bytes : NULL;
		bytes += p->size;
	}
}
