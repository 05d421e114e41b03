/* SPDX-License-Identifier: BSD-3-Clause
 * matrix - `spoor show --matrix`: messages and bytes from rank to rank
 *
 * Counts what the senders' calls say. A rank in another communicator than MPI_COMM_WORLD is translated where the communicator has all
 * ranks in the same order (duplicates, topologies without reordering); other messages are counted, and said to be left out.
 */
#include "cmd/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/datatype.h"
#include "trace/column.h"
#include "trace/stream.h"
#include "trace/walk.h"

struct cell {
	uint32_t from, to;
	uint64_t messages, bytes;
};

struct matrix {
	struct cell *cells; /* open addressing; messages 0 is free */
	size_t mask, count;
	uint64_t other_messages, other_bytes; /* in communicators that are not translated */
	uint64_t unknown_sizes;               /* messages of a datatype whose size is not known */
};

static int grow(struct matrix *m);

static struct cell *cell_of(struct matrix *m, uint32_t from, uint32_t to)
{
	if ((m->count + 1) * 2 > (m->cells ? m->mask + 1 : 0) && grow(m) != 0)
		return NULL;
	size_t i = (size_t)(hash_mix(hash_mix(1, from), to)) & m->mask;
	while (m->cells[i].messages && (m->cells[i].from != from || m->cells[i].to != to))
		i = (i + 1) & m->mask;
	return &m->cells[i];
}

static int grow(struct matrix *m)
{
	struct matrix bigger = *m;
	size_t size = m->cells ? (m->mask + 1) * 2 : 256;
	bigger.cells = calloc(size, sizeof *bigger.cells);
	bigger.mask = size - 1;
	bigger.count = 0;
	if (!bigger.cells)
		return -1;
	for (size_t i = 0; m->cells && i <= m->mask; i++)
		if (m->cells[i].messages) {
			*cell_of(&bigger, m->cells[i].from, m->cells[i].to) = m->cells[i];
			bigger.count++;
		}
	free(m->cells);
	*m = bigger;
	return 0;
}

static int add(struct matrix *m, uint32_t from, uint32_t to, uint64_t bytes)
{
	struct cell *c = cell_of(m, from, to);
	if (!c)
		return -1;
	if (c->messages == 0) {
		*c = (struct cell){.from = from, .to = to};
		m->count++;
	}
	c->messages++;
	c->bytes += bytes;
	return 0;
}

static bool named(const struct schema_column *c, const char *name)
{
	return c->length == strlen(name) && memcmp(c->name, name, c->length) == 0;
}

/* Where the parameters of a send are in its schema. */
struct send {
	int dest, count, datatype, comm;
};

static struct send send_of(const struct schema *s)
{
	struct send at = {-1, -1, -1, -1};
	for (int i = 0; i < (int)s->count; i++) {
		const struct schema_column *c = &s->column[i];
		if (named(c, "dest"))
			at.dest = i;
		else if (named(c, "count") || named(c, "sendcount"))
			at.count = i;
		else if (named(c, "datatype") || named(c, "sendtype"))
			at.datatype = i;
		else if (named(c, "comm"))
			at.comm = i;
	}
	return at;
}

/* Does a communicator have all ranks in the order of MPI_COMM_WORLD, as far as this rank can tell? */
static bool is_world(const struct trace *t, int64_t comm, const int64_t *ranks, const int64_t *sizes, size_t n)
{
	if (value_is_constant(comm))
		return strcmp((const char *)t->strings.items[(uint64_t)comm - (uint64_t)VALUE_CONSTANT].bytes, "MPI_COMM_WORLD") == 0;
	return comm >= 0 && (uint64_t)comm < n && sizes[comm] == t->size && ranks[comm] == 0;
}

static int count_rank(struct matrix *m, const struct show *s, uint32_t rank)
{
	int rv = -1, step;
	const struct trace *t = s->trace;
	struct error error = {""};
	struct walk *w = NULL;
	struct event e;
	struct datatypes *types = datatypes_create(t);
	int64_t *ranks = NULL, *sizes = NULL;
	size_t n = 0;
	if (!types || walk_begin(&w, t, rank, &error) != 0 || walk_object(t, rank, "@comm", "rank", &ranks, &n, &error) != 0 ||
	    walk_object(t, rank, "@comm", "size", &sizes, &n, &error) != 0)
		goto done;
	while ((step = walk_next(w, &e, &error)) == 0) {
		datatypes_event(types, &e);
		struct send at = send_of(e.schema);
		/* persistent sends are counted when they are made, not when they are started; an error variant sent nothing */
		if (at.dest < 0 || at.count < 0 || at.datatype < 0 || at.comm < 0 || value_is_constant(e.values[at.dest]) ||
		    e.values[at.dest] == VALUE_LOSSY ||
		    value_is_constant(e.values[at.count]))
			continue;
		uint64_t size, bytes = 0;
		if (e.values[at.count] != VALUE_LOSSY && datatypes_size(types, e.values[at.datatype], &size))
			bytes = (uint64_t)e.values[at.count] * size;
		else
			m->unknown_sizes++;
		int64_t to = e.values[at.dest] + e.base;
		if (!is_world(t, e.values[at.comm], ranks, sizes, n) || to < 0 || to >= t->size) {
			m->other_messages++;
			m->other_bytes += bytes;
		} else if (add(m, stream_rank(t, rank), (uint32_t)to, bytes) != 0) {
			error_set(&error, "no memory");
			goto done;
		}
	}
	rv = step < 0 ? -1 : 0;
done:
	if (rv != 0)
		fprintf(stderr, "spoor: %s: %s\n", s->name, error.text[0] ? error.text : "no memory");
	datatypes_destroy(types);
	walk_end(w);
	free(ranks);
	free(sizes);
	return rv;
}

static int by_ranks(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

int show_matrix(const struct show *s, json_t *json)
{
	int rv = 0;
	struct matrix m = {0};
	const struct rankmap *present = &s->trace->events;
	int64_t unused;
	for (uint64_t rank = 0; rv == 0 && rankmap_next(present, &rank, &unused); rank++)
		rv = count_rank(&m, s, (uint32_t)rank);
	if (rv != 0)
		goto done;
	size_t n = 0;
	for (size_t i = 0; m.cells && i <= m.mask; i++)
		if (m.cells[i].messages)
			m.cells[n++] = m.cells[i];
	if (n > 0)
		qsort(m.cells, n, sizeof *m.cells, by_ranks);
	json_t *list = json ? json_array() : NULL;
	if (!json)
		printf("%8s %8s %14s %16s\n", "FROM", "TO", "MESSAGES", "BYTES");
	for (size_t i = 0; i < n; i++) {
		const struct cell *c = &m.cells[i];
		if (json)
			json_array_append_new(list, json_pack("[i, i, I, I]", (int)c->from, (int)c->to, (json_int_t)c->messages, (json_int_t)c->bytes));
		else
			printf("%8u %8u %14" PRIu64 " %16" PRIu64 "\n", c->from, c->to, c->messages, c->bytes);
	}
	if (json) {
		json_object_set_new(json, "matrix", list);
		json_object_set_new(json, "matrix_other_messages", json_integer((json_int_t)m.other_messages));
		json_object_set_new(json, "matrix_other_bytes", json_integer((json_int_t)m.other_bytes));
		json_object_set_new(json, "matrix_unknown_sizes", json_integer((json_int_t)m.unknown_sizes));
	} else {
		if (m.other_messages)
			printf("and %" PRIu64 " messages, %" PRIu64 " bytes, in communicators whose ranks are not those of MPI_COMM_WORLD\n",
			       m.other_messages, m.other_bytes);
		if (m.unknown_sizes)
			printf("%" PRIu64 " messages are of a datatype whose size is not known; their bytes are not counted\n", m.unknown_sizes);
	}
done:
	free(m.cells);
	return rv;
}
