/* SPDX-License-Identifier: BSD-3-Clause
 * derive - columns that follow from another column of the same site
 *
 *     MPI_Alltoallv      sendcounts 3 1 4      senddispls 0 3 4: the prefix sums of sendcounts, 2 bytes in the file
 *
 * Writing: the group that would follow is made by derive_make, and compared with what is there. Reading calls the same
 * function. So what comes back is what was written, whatever derive_make does.
 *
 * Invariant: what a group follows from is in a column before its own, and has all of its ranks.
 */
#include "trace/file/derive.h"

#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/packed.h"
#include "trace/model/value.h"

/* Columns of more groups than this are not searched for the one that has the ranks of another column's group: it is
 * that with the same number, or none. */
#define MAX_SEARCHED 64

struct derive_making {
	struct pool *add;        /* NULL: vectors are only looked for, */
	const struct pool *pool; /* here */
	enum derive_kind kind;
	bool impossible, failed;
};

/* Looks for an array, or adds it. */
static uint32_t number_of(struct derive_making *m, const int64_t *values, size_t n)
{
	uint32_t number = m->add ? pool_intern(m->add, values, n * sizeof *values)
	                         : pool_find(m->pool, values, n * sizeof *values);
	if (number == UINT32_MAX)
		*(m->add ? &m->failed : &m->impossible) = true;
	return number;
}

/* The number of a vector that follows from another one. */
static int64_t vector_of(void *context, int64_t v)
{
	struct derive_making *m = context;
	if (value_is_constant(v) || m->kind == DERIVE_SAME || m->impossible || m->failed)
		return v;
	if ((uint64_t)v >= m->pool->count) {
		m->impossible = true;
		return v;
	}
	const struct pool_item *item = &m->pool->items[v];
	size_t n = item->size / sizeof(int64_t);
	int64_t *sums = budget_malloc((n + 1) * sizeof *sums);
	int64_t number = v;
	uint64_t sum = 0;
	for (size_t i = 0; sums && i < n; i++) {
		int64_t value;
		memcpy(&value, item->bytes + i * sizeof value, sizeof value);
		sums[i] = (int64_t)sum;
		sum += (uint64_t)value;
		m->impossible |= value_is_constant(value) || value_is_constant(sums[i]);
	}
	if (!sums)
		m->failed = true;
	else if (!m->impossible)
		number = number_of(m, sums, n);
	budget_free(sums);
	return number;
}

/* Arrays of ranks 0 .. n - 1 of n elements each as a matrix, of which the result has the columns. */
static int transpose_of(struct derive_making *m, struct rankmap *to, const struct rankmap *from,
                        const struct rankmap *ranks)
{
	uint64_t n = rankmap_size(ranks);
	struct rankmap_builder b = {.references = true};
	if (n < 2 || rankmap_last(ranks) != n - 1 || !rankmap_same_ranks(from, ranks))
		return 1;
	int64_t *values = budget_malloc(n * sizeof *values), number;
	const uint8_t **rows = budget_malloc(n * sizeof *rows);
	m->failed = !values || !rows;
	for (uint32_t r = 0; !m->failed && !m->impossible && r < n; r++) {
		m->impossible = !rankmap_get(from, r, &number) || value_is_constant(number) ||
		                (uint64_t)number >= m->pool->count || m->pool->items[number].size != n * sizeof *values;
		if (!m->impossible)
			rows[r] = m->pool->items[number].bytes;
	}
	for (uint32_t r = 0; !m->failed && !m->impossible && r < n; r++) {
		for (uint64_t i = 0; i < n; i++)
			memcpy(&values[i], rows[i] + r * sizeof *values, sizeof *values);
		number = number_of(m, values, n);
		if (!m->failed && !m->impossible)
			rankmap_add(&b, (struct rank_piece){.first = r, .count = 1, .step = 1, .value = number});
	}
	budget_free(values);
	budget_free(rows);
	return rankmap_take(&b, to) != 0 || m->failed ? -1 : m->impossible;
}

/* The same for arrays that are functions of the rank. What has not all of these ranks is found by the caller. */
static int elements_of(struct trace_stretch *to, const struct trace_stretch *s, enum derive_kind kind,
                       const struct rankmap *ranks)
{
	to->vector = true;
	to->elements = budget_calloc(s->width + UINT64_C(1), sizeof *to->elements);
	if (!to->elements || rankmap_restrict(&to->start, &s->start, ranks) != 0)
		return -1;
	for (; to->width < s->width; to->width++) {
		uint32_t k = to->width;
		struct rankmap before;
		if (kind == DERIVE_SAME) {
			if (rankmap_restrict(&to->elements[k], &s->elements[k], ranks) != 0)
				return -1;
			continue;
		}
		if (k == 0) {
			if (rankmap_fill(&to->elements[k], ranks, 0, false) != 0)
				return -1;
			continue;
		}
		if (rankmap_restrict(&before, &s->elements[k - 1], ranks) != 0)
			return -1;
		/* named constants cannot be added */
		int rv = rankmap_sum_of(&to->elements[k], &to->elements[k - 1], &before, 1);
		rankmap_free(&before);
		if (rv != 0)
			return 1;
	}
	return 0;
}

static int stretch_of(struct derive_making *m, struct trace_stretch *to, const struct trace_stretch *s,
                      enum reference reference, const struct rankmap *ranks)
{
	*to = (struct trace_stretch){.count = s->count};
	if (s->vector)
		return m->kind == DERIVE_TRANSPOSE ? 1 : elements_of(to, s, m->kind, ranks);
	if (m->kind == DERIVE_TRANSPOSE)
		return s->count == 1 ? transpose_of(m, &to->start, &s->start, ranks) : 1;
	if (rankmap_restrict(&to->start, &s->start, ranks) != 0 ||
	    (s->count > 1 && rankmap_restrict(&to->stride, &s->stride, ranks) != 0))
		return -1;
	if (reference == REFERENCE_VECTOR && m->kind != DERIVE_SAME &&
	    rankmap_translate(&to->start, &to->start, vector_of, m) != 0)
		return -1;
	return m->failed ? -1 : m->impossible;
}

/* want: NULL, or what it must be: stops early if it is not. */
static int make(struct derive_making *m, const struct trace_group *g, enum reference reference,
                const struct rankmap *ranks, const struct trace_group *want, struct trace_group *out)
{
	*out = (struct trace_group){0};
	if (g->lossy || g->edits || (m->kind != DERIVE_SAME && reference != REFERENCE_VECTOR))
		return 1;
	out->pattern = g->pattern;
	out->dict = budget_calloc(g->count, sizeof *out->dict);
	if (!out->dict)
		return -1;
	while (out->count < g->count) {
		uint32_t i = out->count++;
		int rv = stretch_of(m, &out->dict[i], &g->dict[i], reference, ranks);
		if (rv == 0 && want && !trace_stretch_equal(&out->dict[i], &want->dict[i]))
			rv = 1;
		if (rv != 0)
			return rv;
	}
	return rankmap_same_ranks(trace_group_ranks(out), ranks) ? 0 : 1;
}

int derive_make(struct trace *t, const struct trace_group *from, enum reference reference, enum derive_kind kind,
                const struct rankmap *ranks, struct trace_group *out)
{
	struct derive_making m = {.add = &t->vector_pool, .pool = &t->vector_pool, .kind = kind};
	return make(&m, from, reference, ranks, NULL, out);
}

/* What is stored in a byte or two anyway. */
static bool is_cheap(const struct trace_group *g)
{
	int64_t unused;
	return g->lossy || g->edits ||
	       (g->pattern == 0 && !g->dict[0].vector && rankmap_constant(&g->dict[0].start, &unused));
}

/* Might g follow from `from`, by its shape and the first value of its first rank? This is asked of all pairs of
 * columns, and the answer is nearly always no. */
static bool resembles(const struct trace_group *g, const struct trace_group *from, enum derive_kind kind)
{
	const struct trace_stretch *a = &g->dict[0], *b = &from->dict[0];
	uint32_t rank = rankmap_first(&a->start);
	int64_t x, y;
	if (g->pattern != from->pattern || g->count != from->count || !trace_stretch_alike(a, b) ||
	    !rankmap_get(&b->start, rank, &y) || !rankmap_get(&a->start, rank, &x))
		return false;
	if (!a->vector)
		return kind == DERIVE_SAME ? x == y : !value_is_constant(x) && !value_is_constant(y);
	return a->width == 0 ||
	       (rankmap_get(&a->elements[0], rank, &x) &&
	        (kind == DERIVE_PREFIX ? x == 0
	                               : kind == DERIVE_SAME && rankmap_get(&b->elements[0], rank, &y) && x == y));
}

/* Returns 1 and says how, if a group follows from an earlier column; 0; or -1. */
static int follows(const struct trace *t, const struct trace_site *s, struct derivation *d)
{
	const struct schema *schema = trace_schema(t, s);
	const struct trace_group *g = &s->columns[d->column].groups[d->group];
	enum reference reference = schema_reference(schema, d->column);
	for (d->from = d->column; d->from-- > 0;) {
		const struct trace_column *from = &s->columns[d->from];
		bool all = from->count <= MAX_SEARCHED;
		if (schema_reference(schema, d->from) != reference)
			continue;
		for (uint32_t i = all ? 0 : d->group; i < from->count && (all || i == d->group); i++)
			for (int kind = 0; kind < (reference == REFERENCE_VECTOR ? DERIVE_KINDS : DERIVE_SAME + 1);
			     kind++) {
				struct derive_making m = {.pool = &t->vector_pool, .kind = (enum derive_kind)kind};
				struct trace_group made;
				if (from->groups[i].lossy || from->groups[i].edits ||
				    !resembles(g, &from->groups[i], m.kind))
					continue;
				int rv = make(&m, &from->groups[i], reference, trace_group_ranks(g), g, &made);
				trace_group_free(&made);
				if (rv < 0)
					return -1;
				if (rv == 0) {
					d->from_group = i;
					d->kind = m.kind;
					return 1;
				}
			}
	}
	return 0;
}

static void mark_vectors(struct derivations *d, const struct trace *t, const struct trace_group *g)
{
	for (uint32_t i = 0; g->lossy && i < g->lossy->prefix.count; i++)
		mark_vectors(d, t, &g->lossy->prefix.groups[i]);
	for (uint32_t i = 0; i < g->count; i++) {
		const struct rankmap *m = &g->dict[i].start;
		for (uint32_t n = 0; !g->dict[i].vector && n < m->node_count; n++)
			if (m->nodes[n].low == DIAGRAM_LEAF && m->nodes[n].delta >= 0 &&
			    m->nodes[n].delta < t->vector_pool.count)
				d->vectors[m->nodes[n].delta] = 1;
	}
}

static int find_in(struct derivations *d, const struct trace *t, const struct trace_site *s, bool object,
                   uint32_t number)
{
	for (uint32_t k = 0; k < s->column_count; k++)
		for (uint32_t g = 0; g < s->columns[k].count; g++) {
			struct derivation found = {.object = object, .site = number, .column = k, .group = g};
			int rv = k < trace_schema(t, s)->count && !is_cheap(&s->columns[k].groups[g])
			                 ? follows(t, s, &found)
			                 : 0;
			if (rv < 0)
				return -1;
			if (rv == 0) {
				if (schema_reference(trace_schema(t, s), k) == REFERENCE_VECTOR)
					mark_vectors(d, t, &s->columns[k].groups[g]);
				continue;
			}
			if (!budget_grow(&d->list, d->count, &d->capacity, sizeof *d->list))
				return -1;
			d->list[d->count++] = found;
		}
	return 0;
}

int derive_find(struct derivations *d, const struct trace *t)
{
	*d = (struct derivations){.vectors = budget_calloc(t->vector_pool.count + UINT64_C(1), sizeof *d->vectors)};
	if (!d->vectors)
		return -1;
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site room;
		const struct trace_site *s = packed_look_columns(t, i, &room);
		if (!s)
			return -1;
		int rv = find_in(d, t, s, false, i);
		packed_leave(t, &room);
		if (rv != 0)
			return -1;
	}
	for (uint32_t i = 0; i < t->object_count; i++)
		if (find_in(d, t, &t->objects[i], true, i) != 0)
			return -1;
	if (d->count == 0) { /* all vectors, as they are: also those that nobody refers to */
		budget_free(d->vectors);
		d->vectors = NULL;
		d->vector_count = t->vector_pool.count;
		return 0;
	}
	for (uint32_t i = 0; i < t->vector_pool.count; i++)
		d->vectors[i] = d->vectors[i] ? d->vector_count++ : UINT32_MAX;
	return 0;
}

void derive_free(struct derivations *d)
{
	budget_free(d->list);
	budget_free(d->vectors);
	*d = (struct derivations){0};
}

void derive_put(struct writer *w, const struct derivation *d)
{
	assert(d->from < d->column);
	writer_uint(w, (uint64_t)(d->column - 1 - d->from) * DERIVE_KINDS + d->kind);
	writer_uint(w, d->from_group);
}

int derive_get(struct reader *r, struct derivation *d, const struct schema *schema, const struct trace_site *s)
{
	uint64_t how = reader_uint(r), group = reader_uint(r), back = how / DERIVE_KINDS;
	d->kind = (enum derive_kind)(how % DERIVE_KINDS);
	if (r->bad || d->column >= schema->count || back >= d->column)
		return -1;
	d->from = d->column - 1 - (uint32_t)back;
	if (schema_reference(schema, d->from) != schema_reference(schema, d->column) ||
	    group >= s->columns[d->from].count)
		return -1;
	d->from_group = (uint32_t)group;
	return 0;
}
