/* SPDX-License-Identifier: BSD-3-Clause
 * object_check - are all objects that a rank's events use made by events before them?
 */
#include "replay/object_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

static const char KINDS[] = "ctgowfnemkq"; /* all handles but requests, which the replay makes itself */

struct living {
	const struct trace *trace;
	uint32_t *times[sizeof KINDS]; /* by kind and number: how often it was returned, and not freed yet */
	size_t count[sizeof KINDS];
	bool ends; /* else, what was made once lives for ever */
	bool failed;
};

static uint32_t *living_times(struct living *l, size_t kind, int64_t number)
{
	static uint32_t none;
	if (number < 0 || number > INT32_MAX)
		return &none;
	if ((uint64_t)number >= l->count[kind]) {
		size_t count = 2 * (size_t)number + 16;
		uint32_t *more = budget_realloc(l->times[kind], count * sizeof *more);
		if (!more) {
			l->failed = true;
			return &none;
		}
		memset(more + l->count[kind], 0, (count - l->count[kind]) * sizeof *more);
		l->times[kind] = more;
		l->count[kind] = count;
	}
	return &l->times[kind][number];
}

/* Calls what() with each object that column i of the event names. Returns the first number of which that is false, or
 * -1. */
static int64_t each_object(struct living *l, const struct event *e, size_t i,
                           bool (*what)(struct living *l, size_t kind, int64_t number))
{
	const struct schema_column *c = &e->schema->column[i];
	size_t kind = (size_t)(strchr(KINDS, c->kind) - KINDS);
	int64_t v = e->values[i];
	if (v < 0 || value_is_constant(v))
		return -1;
	if (!c->vector)
		return what(l, kind, v) ? -1 : v;
	const struct pool_item *item = event_vector(l->trace, e, v);
	for (size_t k = 0; k < item->size / sizeof v; k++) {
		memcpy(&v, item->bytes + k * sizeof v, sizeof v);
		if (v >= 0 && !value_is_constant(v) && !what(l, kind, v))
			return v;
	}
	return -1;
}

static bool object_lives(struct living *l, size_t kind, int64_t number)
{
	return *living_times(l, kind, number) > 0;
}

static bool object_made(struct living *l, size_t kind, int64_t number)
{
	++*living_times(l, kind, number);
	return true;
}

static bool object_freed(struct living *l, size_t kind, int64_t number)
{
	uint32_t *times = living_times(l, kind, number);
	*times -= *times > 0;
	return true;
}

static bool is_object_column(const struct schema_column *c)
{
	return c->kind && strchr(KINDS, c->kind) && c->name[0] != '.';
}

static int check_inputs(struct living *l, const struct event *e, uint32_t rank, struct error *error)
{
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		int64_t missing = !is_object_column(c) || c->direction == '>' ? -1 : each_object(l, e, i, object_lives);
		if (missing >= 0)
			return error_set(error,
			                 "it cannot be replayed: rank %" PRIu32 ", event %" PRIu64
			                 ", %.*s: it uses %c%" PRId64 ", which no recorded call has made",
			                 rank, e->number, (int)e->schema->function_length, e->schema->function, c->kind,
			                 missing);
	}
	return 0;
}

static void take_outputs(struct living *l, const struct event *e)
{
	if (e->schema->at[PARAMETER_ERROR] >= 0)
		return;
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		if (is_object_column(c) && c->direction == '>')
			each_object(l, e, i, object_made);
		else if (is_object_column(c) && c->direction == '!' && l->ends)
			each_object(l, e, i, object_freed);
	}
}

static int look_at_stream(struct living *l, uint32_t stream, bool takes, bool checks, struct error *error)
{
	struct walk *walk;
	struct event e;
	int rv = walk_begin(&walk, l->trace, stream, error);
	while (rv == 0 && (rv = walk_next(walk, &e, error)) == 0) {
		if (checks && check_inputs(l, &e, stream_rank(l->trace, stream), error) != 0)
			rv = -1;
		if (takes)
			take_outputs(l, &e);
		if (l->failed)
			rv = error_set(error, "no memory");
		if (rv != 0)
			break;
	}
	walk_end(walk);
	return rv < 0 ? -1 : 0;
}

int object_check_rank(const struct trace *t, uint32_t rank, struct error *error)
{
	struct living l = {.trace = t};
	uint32_t stream, threads = 0;
	int rv = 0;
	for (uint32_t k = 0; stream_next(t, rank, &k, &stream); k++)
		threads++;
	l.ends = threads == 1;
	for (uint32_t k = 0; rv == 0 && threads > 1 && stream_next(t, rank, &k, &stream); k++)
		rv = look_at_stream(&l, stream, true, false, error);
	for (uint32_t k = 0; rv == 0 && stream_next(t, rank, &k, &stream); k++)
		rv = look_at_stream(&l, stream, l.ends, true, error);
	for (size_t i = 0; i < sizeof KINDS; i++)
		budget_free(l.times[i]);
	return rv;
}
