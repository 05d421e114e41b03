/* SPDX-License-Identifier: BSD-3-Clause
 * merge_packed - the columns of a site of two packed traces, as bytes
 *
 * Invariant: the bytes are those that unpacking both, merging, and packing again would give.
 */
#include "merge/merge_packed.h"

#include <string.h>

#include "merge/merge_column.h"
#include "merge/order.h"
#include "trace/base/budget.h"
#include "trace/model/packed.h"
#include "trace/model/packed_column.h"

/* A site of which there are two, as far as it has been looked at. */
struct joining {
	struct translation *x;
	struct reader from, into;             /* `into` has nothing if the site is new there */
	struct reader from_ranks, into_ranks; /* the bytes of their visits */
	struct rankmap from_visits, into_visits, visits;
	bool unpacked; /* these three are there */
};

static int64_t value_there(void *context, int64_t value, enum reference reference)
{
	return translate_value(context, value, reference);
}

static uint32_t pattern_there(void *context, uint32_t number)
{
	return translate_pattern(context, number);
}

static size_t span_size(const struct reader *span)
{
	return (size_t)(span->end - span->begin);
}

static int unpack_visits(struct joining *j)
{
	struct reader from = j->from_ranks, into = j->into_ranks;
	if (j->unpacked)
		return 0;
	if (packed_nodes_get(&from, &j->from_visits) != 0 ||
	    (span_size(&into) && packed_nodes_get(&into, &j->into_visits) != 0) ||
	    rankmap_union(&j->visits, &j->into_visits, &j->from_visits) != 0)
		return -1;
	j->unpacked = true;
	return 0;
}

/* What a result is made from: what it is of, the visits of both sides, and what both have of it. */
static void make_key(struct joining *j, unsigned what, const struct reader *from, const struct reader *into)
{
	const struct reader *parts[] = {&j->from_ranks, &j->into_ranks, from, into};
	j->x->key.size = 0;
	writer_uint(&j->x->key, what);
	for (int i = 0; i < 4; i++) {
		writer_uint(&j->x->key, span_size(parts[i]));
		writer_bytes(&j->x->key, parts[i]->begin, span_size(parts[i]));
	}
}

/* Appends what was made of the key before, behind a byte that says which traits it has. */
static bool append_known(struct joining *j)
{
	size_t n;
	const uint8_t *known = j->x->key.failed ? NULL : joined_find(j->x->joined, j->x->key.data, j->x->key.size, &n);
	if (!known)
		return false;
	j->x->traits |= known[0];
	writer_bytes(&j->x->columns, known + 1, n - 1);
	return true;
}

/* Remembers what was written from `at` on, of which the first byte is the traits, and takes that away. */
static int keep_known(struct joining *j, size_t at, unsigned traits)
{
	struct writer *w = &j->x->columns;
	if (w->failed || j->x->key.failed)
		return -1;
	w->data[at] = (uint8_t)traits;
	int rv = joined_keep(j->x->joined, j->x->key.data, j->x->key.size, w->data + at, w->size - at);
	memmove(w->data + at, w->data + at + 1, w->size - at - 1);
	w->size--;
	j->x->traits |= traits;
	return rv;
}

static int join_visits(struct joining *j)
{
	const struct reader none = reader_of(NULL, 0);
	struct writer *w = &j->x->columns;
	if (span_size(&j->into_ranks) == 0) {
		writer_bytes(w, j->from_ranks.begin, span_size(&j->from_ranks));
		return 0;
	}
	make_key(j, UINT32_MAX, &none, &none);
	if (append_known(j))
		return 0;
	size_t at = w->size;
	writer_uint(w, 0);
	if (unpack_visits(j) != 0)
		return -1;
	packed_nodes_put(w, &j->visits);
	return keep_known(j, at, 0);
}

static int join_unpacked(struct joining *j, struct reader from, struct reader into, enum reference reference)
{
	int rv = -1;
	struct trace_column f = {0}, t = {0};
	struct writer *w = &j->x->columns;
	size_t at = w->size;
	writer_uint(w, 0);
	if (unpack_visits(j) == 0 && packed_column_get(&from, &f, &j->from_visits, reference) == 0 &&
	    (span_size(&into) == 0 || packed_column_get(&into, &t, &j->into_visits, reference) == 0) &&
	    merge_column(j->x, &t, &f, reference) == 0) {
		order_column(&t);
		packed_column_put(w, &t, &j->visits);
		rv = keep_known(j, at, packed_column_traits(&t));
	}
	trace_column_free(&f);
	trace_column_free(&t);
	return rv;
}

static int join_column(struct joining *j, enum reference reference)
{
	struct writer *w = &j->x->columns;
	const struct packed_translation there = {value_there, pattern_there, j->x};
	const struct reader none = reader_of(NULL, 0), from = packed_column_span(&j->from),
			    into = span_size(&j->into_ranks) ? packed_column_span(&j->into) : none;
	size_t at = w->size;
	if (packed_column_translate(from, w, &there, reference) &&
	    (span_size(&into) == 0 ||
	     (w->size - at == span_size(&into) && memcmp(w->data + at, into.begin, w->size - at) == 0)))
		return 0;
	w->size = at;
	make_key(j, reference, &from, &into);
	return append_known(j) ? 0 : join_unpacked(j, from, into, reference);
}

int merge_packed_columns(struct translation *x, uint32_t i)
{
	const struct trace_packed *from = &x->from->packed[i], *into = &x->into->packed[x->sites[i]];
	const struct schema *schema = &x->from->functions[from->function].schema;
	struct joining j = {.x = x,
	                    .from = reader_of(from->bytes, from->times),
	                    .into = reader_of(into->bytes, into->bytes ? into->times : 0)};
	if (!x->joined && !(x->joined = joined_new()))
		return -1;
	x->columns.size = 0;
	x->traits = 0;
	j.from_ranks = packed_nodes_span(&j.from);
	j.into_ranks = into->bytes ? packed_nodes_span(&j.into) : reader_of(NULL, 0);
	int rv = join_visits(&j);
	for (size_t k = 0; rv == 0 && k <= schema->count; k++)
		rv = join_column(&j, schema_reference(schema, (uint32_t)k));
	rankmap_free(&j.from_visits);
	rankmap_free(&j.into_visits);
	rankmap_free(&j.visits);
	return rv != 0 || x->columns.failed ? -1 : 0;
}
