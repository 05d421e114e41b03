/* SPDX-License-Identifier: BSD-3-Clause
 * compare_events - are the events of two traces the same?
 */
#include "cmd/base/compare_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/print_event.h"
#include "cmd/base/sink.h"
#include "trace/model/value.h"
#include "trace/base/index.h"
#include "trace/read/dependencies.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

#define SHOWN 4 /* ranks whose first difference is printed */

/* Where the columns of a function of a are in the function of the same name in b. */
struct pairing {
	uint32_t function; /* of b; UINT32_MAX: not looked for yet */
	bool same;
	int16_t column[SCHEMA_MAX]; /* -1: not compared */
};

/* Threads of a rank that make objects at the same time get their numbers in any order: what one of a is called in b, in
 * one thread. */
struct name {
	uint64_t key; /* kind and number in a */
	int64_t b;
	bool own; /* this thread made it: the name lasts until it makes it again */
};

struct compare {
	const struct trace *a, *b;
	bool chance;
	struct pairing *pairings;          /* by function of a */
	struct dependencies *dependencies; /* of a; NULL: ranks have one thread each */
	struct name *names;
	uint32_t name_count, name_capacity;
	struct index index;
};

static const struct pool_item *constant_text(const struct trace *t, int64_t v)
{
	return &t->strings.items[(uint64_t)v - (uint64_t)VALUE_CONSTANT];
}

static bool same_bytes(const struct pool_item *a, const struct pool_item *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool name_equal(const void *context, uint32_t i)
{
	const struct {
		const struct compare *c;
		uint64_t key;
	} *k = context;

	return k->c->names[i].key == k->key;
}

static bool same_object(struct compare *c, char kind, int64_t a, int64_t b, bool made)
{
	const struct {
		const struct compare *c;
		uint64_t key;
	} context = {c, (uint64_t)(unsigned char)kind << 56 | ((uint64_t)a & (UINT64_MAX >> 8))};
	uint32_t i = index_find(&c->index, hash_mix(5, context.key), name_equal, &context);

	if (i == INDEX_NONE) {
		if (c->name_count == c->name_capacity) {
			uint32_t capacity = 2 * c->name_capacity + 64;
			struct name *more = realloc(c->names, capacity * sizeof *more);

			if (!more)
				return a == b;
			c->names = more;
			c->name_capacity = capacity;
		}
		i = c->name_count;
		if (index_add(&c->index, hash_mix(5, context.key), i) != 0)
			return a == b;
		c->names[c->name_count++] = (struct name){context.key, b, made};
		return true;
	}
	if (made || !c->names[i].own) {
		c->names[i].own |= made;
		c->names[i].b = b;
	}
	return c->names[i].b == b;
}

static bool same_scalar(struct compare *c, char kind, bool made, int64_t a, int64_t b)
{
	if (c->dependencies && strchr("ctgownemkfqra", kind) && !value_is_constant(a) && !value_is_constant(b))
		return same_object(c, kind, a, b, made);
	if (value_is_constant(a) || value_is_constant(b))
		return value_is_constant(a) && value_is_constant(b) &&
		       same_bytes(constant_text(c->a, a), constant_text(c->b, b));
	return kind == 's' ? same_bytes(&c->a->strings.items[a], &c->b->strings.items[b]) : a == b;
}

/* What file calls moved was not always recorded. Where it is of a message, its source tells the difference, too. */
static bool same_count(struct compare *c, const struct schema *s, size_t i, int64_t a)
{
	return (int)i == s->at[PARAMETER_STATUS_COUNT] && trace_is_constant(c->a, a, CONST_ABSENT);
}

static bool same_value(struct compare *c, const struct event *ea, const struct event *eb, size_t which, int64_t a,
                       int64_t b)
{
	const struct schema_column *column = &ea->schema->column[which];
	bool made = c->dependencies && dependencies_makes(ea, which);

	if (a == VALUE_LOSSY || b == VALUE_LOSSY) /* not known */
		return a == b;
	if (same_count(c, ea->schema, which, a))
		return true;
	if (!column->vector || value_is_constant(a) || value_is_constant(b))
		return same_scalar(c, column->kind, made, a, b);
	const struct pool_item *x = event_vector(c->a, ea, a), *y = event_vector(c->b, eb, b);

	if (x->size != y->size)
		return false;
	for (size_t i = 0; i < x->size; i += sizeof a) {
		memcpy(&a, x->bytes + i, sizeof a);
		memcpy(&b, y->bytes + i, sizeof b);
		if (!same_scalar(c, column->kind, made, a, b) && !same_count(c, ea->schema, which, a))
			return false;
	}
	return true;
}

static void pair(struct pairing *p, uint32_t function, const struct schema *a, const struct schema *b)
{
	size_t found = 0, shown = 0;

	p->function = function;
	p->same = a->function_length == b->function_length && memcmp(a->function, b->function, a->function_length) == 0;
	for (size_t i = 0; i < a->count; i++) {
		const struct schema_column *x = &a->column[i];

		p->column[i] = -1;
		if (x->name[0] == '.')
			continue;
		for (size_t k = 0; k < b->count; k++) {
			const struct schema_column *y = &b->column[k];

			if (x->length == y->length && memcmp(x->name, y->name, x->length) == 0 && x->kind == y->kind &&
			    x->vector == y->vector)
				p->column[i] = (int16_t)k;
		}
		found += p->column[i] >= 0;
		p->same &= p->column[i] >= 0 || x->kind == 'b';
	}
	for (size_t k = 0; k < b->count; k++)
		shown += b->column[k].name[0] != '.' && b->column[k].kind != 'b';
	for (size_t i = 0; i < a->count; i++)
		found -= p->column[i] >= 0 && a->column[i].kind == 'b';
	p->same &= found == shown;
}

/* Does a column say which message, request or file it was? */
static bool is_chance(const struct schema *s, size_t i)
{
	int n = (int)i;
	if (s->mpi->function == FN_MPI_File_open || s->mpi->function == FN_MPI_File_delete)
		return s->column[i].kind == 's';
	return s->column[i].kind == 'r' || s->column[i].kind == 'm' || n == s->at[PARAMETER_INDEX] ||
	       n == s->at[PARAMETER_INDICES] || n == s->at[PARAMETER_OUTCOUNT] || n == s->at[PARAMETER_STATUS_SOURCE] ||
	       n == s->at[PARAMETER_STATUS_TAG] || n == s->at[PARAMETER_STATUS_COUNT];
}

/* The next event that is compared. vain: counts those that are not. */
static int next_event(const struct compare *c, struct walk *w, struct event *e, uint64_t *vain, struct error *error)
{
	int rv;
	for (;; ++*vain) {
		rv = walk_next(w, e, error);
		if (rv != 0 || !c->chance ||
		    (!event_is_vain(e) && e->schema->mpi->function != FN_MPI_Request_get_status))
			return rv;
	}
}

static bool same_event(struct compare *c, const struct event *a, const struct event *b)
{
	uint32_t fa = c->a->sites[a->site].function, fb = c->b->sites[b->site].function;
	struct pairing *p = &c->pairings[fa];

	if (p->function != fb)
		pair(p, fb, a->schema, b->schema);
	if (!p->same)
		return false;
	for (size_t i = 0; i < a->schema->count; i++) {
		int64_t x = a->values[i], y = p->column[i] >= 0 ? b->values[p->column[i]] : 0;

		if (p->column[i] < 0 || (c->chance && (is_chance(a->schema, i) || x == VALUE_LOSSY)))
			continue;
		if (a->schema->column[i].kind == 'b' && !value_is_constant(x) && !value_is_constant(y))
			continue; /* which buffer it was, is not replayed */
		if (a->schema->column[i].kind == 'a' && value_is_constant(x) && !value_is_constant(y))
			continue; /* absolute addresses are laid out anew */
		if (c->chance && trace_is_constant(c->a, x, CONST_MPI_ANY_SOURCE))
			continue; /* whose message it was may be said instead */
		if (!same_value(c, a, b, i, x, y))
			return false;
	}
	return true;
}

/* Returns 0 if they are the same, 1 if not, -1 with error set. */
static int compare_rank(struct compare *c, uint32_t rank, const char *a_name, const char *b_name, bool prefix,
                        FILE *out, struct compare_result *result, struct error *error)
{
	struct walk *wa = NULL, *wb = NULL;
	struct event ea, eb;
	char name[STREAM_NAME];
	int rv = -1, x, y;

	c->name_count = 0;
	index_free(&c->index);
	if (walk_begin(&wa, c->a, rank, error) != 0 || walk_begin(&wb, c->b, rank, error) != 0)
		goto done;
	for (;;) {
		x = next_event(c, wa, &ea, &result->vain[0], error);
		y = x < 0 ? 0 : next_event(c, wb, &eb, &result->vain[1], error);
		if (x < 0 || y < 0)
			goto done;
		if (x || y || !same_event(c, &ea, &eb))
			break;
		result->events++;
	}
	rv = (x && y) || (prefix && (x || y)) ? 0 : 1;
	if (rv && out) {
		say_to(out, "rank %s: first difference\n  %s: ", stream_name(c->a, rank, name), a_name);
		if (x)
			say_to(out, "(no more events)\n");
		else
			print_event(out, c->a, &ea);
		say_to(out, "  %s: ", b_name);
		if (y)
			say_to(out, "(no more events)\n");
		else
			print_event(out, c->b, &eb);
	}
done:
	walk_end(wa);
	walk_end(wb);
	return rv;
}

int compare_traces(const struct trace *a, const struct trace *b, const char *a_name, const char *b_name, bool prefix,
                   bool chance, FILE *out, struct compare_result *result, struct error *error)
{
	struct compare c = {.a = a,
	                    .b = b,
	                    .chance = chance,
	                    .pairings = malloc(((size_t)a->function_count + 1) * sizeof *c.pairings)};
	bool threads = stream_threads(a) > 1;
	char name[STREAM_NAME];
	int rv = -1;

	*result = (struct compare_result){.ranks = 0};
	if (!c.pairings || (threads && !(c.dependencies = dependencies_create(a)))) {
		free(c.pairings);
		return error_set(error, "no memory");
	}
	for (uint32_t i = 0; i < a->function_count; i++)
		c.pairings[i].function = UINT32_MAX;
	int64_t unused;

	for (uint64_t r = 0; rankmap_next(&a->events, &r, &unused); r++) {
		uint32_t rank = (uint32_t)r;

		if (!rankmap_get(&b->events, rank, &unused)) {
			if (prefix)
				continue;
			error_set(error, "rank %s is missing in %s", stream_name(a, rank, name), b_name);
			goto done;
		}
		int one = compare_rank(&c, rank, a_name, b_name, prefix, result->ranks_different < SHOWN ? out : NULL,
		                       result, error);

		if (one < 0)
			goto done;
		result->ranks += rank < a->size;
		result->threads += rank >= a->size;
		result->ranks_different += one > 0;
	}
	rv = 0;
done:
	index_free(&c.index);
	dependencies_destroy(c.dependencies);
	free(c.names);
	free(c.pairings);
	return rv;
}
