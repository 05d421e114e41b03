/* SPDX-License-Identifier: BSD-3-Clause
 * block - of libspoor: events in blocks of columns, and what MPI did in them
 */
#include <stdlib.h>
#include <string.h>

#include "insight/execution.h"
#include "lib/inside.h"
#include "trace/model/value.h"

/* --- events --- */

/* Which column of each function's schema is meant by each name: 1 + its number, 0: there is none. */
struct chosen {
	const struct spoor_trace *trace;
	uint32_t names;
	uint8_t *column; /* by function, then name */
};

static int choose(struct chosen *c, const struct spoor_trace *t, const struct spoor_block *b)
{
	const size_t n = (size_t)t->trace.function_count * b->columns;
	*c = (struct chosen){t, b->columns, calloc(n + 1, 1)};
	for (uint32_t f = 0; c->column && f < t->trace.function_count; f++) {
		const struct schema *s = &t->trace.functions[f].schema;
		for (uint32_t k = 0; k < b->columns; k++)
			for (size_t i = 0; i < s->count; i++)
				if (!strcmp(t->functions[f].columns[i], b->names[k]))
					c->column[(size_t)f * b->columns + k] = (uint8_t)(i + 1);
	}
	return c->column ? 0 : -1;
}

_Static_assert(SCHEMA_MAX < UINT8_MAX, "a column's number + 1 is a byte");

static int64_t number_of(const struct trace *t, const struct event *e, const struct schema_column *c)
{
	const int64_t value = e->values[c - e->schema->column];
	uint32_t thread, number;
	if (value == VALUE_LOSSY)
		return SPOOR_VALUE_UNKNOWN;
	if (value_is_constant(value)) {
		const int64_t string = (int64_t)((uint64_t)value - (uint64_t)VALUE_CONSTANT);
		return strcmp(inside_string(t, string), "-") ? SPOOR_VALUE_NAMED + string : SPOOR_VALUE_ABSENT;
	}
	if (c->vector)
		return (int64_t)(event_vector(t, e, value)->size / sizeof(int64_t));
	if (c->kind == 's')
		return SPOOR_VALUE_NAMED + value;
	if (c->kind == 'r' && stream_foreign(value, &thread, &number))
		return number;
	return c->kind == 'p' ? (int64_t)((uint64_t)value + (uint64_t)e->base) : value;
}

static const struct event *walk_event(const struct spoor_walk *w)
{
	return w->interleave ? w->interleaved.event : &w->event;
}

static void fill_event(const struct spoor_walk *w, const struct chosen *c, const struct spoor_block *b, uint64_t at)
{
	const struct event *e = walk_event(w);
	const uint32_t function = w->trace->trace.sites[e->site].function;
	const uint8_t *column = c->column + (size_t)function * c->names;
	if (b->site)
		b->site[at] = e->site;
	for (uint32_t k = 0; k < b->columns; k++)
		b->values[k][at] = column[k] ? number_of(&w->trace->trace, e, &e->schema->column[column[k] - 1])
		                             : SPOOR_VALUE_ABSENT;
}

/* Returns 0, or -1 with the error said. */
static int fill_times(struct spoor_walk *w, const struct spoor_block *b, uint64_t at, char *text)
{
	uint64_t begin = SPOOR_NO_TIME, end = SPOOR_NO_TIME;
	if (spoor_walk_times(w, &begin, &end, text) < 0)
		return -1;
	if (b->begin)
		b->begin[at] = begin;
	if (b->end)
		b->end[at] = end;
	return 0;
}

int64_t spoor_walk_block(struct spoor_walk *w, const struct spoor_block *b, char *text)
{
	struct chosen c;
	uint64_t n = 0;
	int rv = 0;
	if (choose(&c, w->trace, b) != 0) {
		inside_say(text, "out of memory");
		return -1;
	}
	while (n < b->room && (rv = inside_step(w, text)) == 0) {
		fill_event(w, &c, b, n);
		if ((b->begin || b->end) && (rv = fill_times(w, b, n, text)) != 0)
			break;
		n++;
	}
	free(c.column);
	return rv < 0 ? -1 : (int64_t)n;
}

const char *spoor_value_name(const struct spoor_trace *t, int64_t value)
{
	if (value >= SPOOR_VALUE_NAMED + (int64_t)t->trace.strings.count)
		return NULL;
	return inside_string(&t->trace, value - SPOOR_VALUE_NAMED);
}

/* --- acts --- */

static const char *const act_names[] = {[ACT_SEND] = "send",
                                        [ACT_SEND_BEGIN] = "send begin",
                                        [ACT_SEND_END] = "send end",
                                        [ACT_RECV] = "receive",
                                        [ACT_RECV_BEGIN] = "receive begin",
                                        [ACT_RECV_END] = "receive end",
                                        [ACT_CANCELLED] = "cancelled",
                                        [ACT_PROBED] = "probed",
                                        [ACT_COLLECTIVE] = "collective",
                                        [ACT_COLLECTIVE_BEGIN] = "collective begin",
                                        [ACT_COLLECTIVE_END] = "collective end",
                                        [ACT_COMM_MADE] = "communicator made",
                                        [ACT_COMM_FREED] = "communicator freed"};

enum { EVENT, KIND, COLLECTIVE, COMM, PEER, TAG, BYTES, MESSAGE, BEGAN, ACT_COLUMNS };
static const char *const act_columns[ACT_COLUMNS] = {"event", "act",   "collective", "comm", "peer",
                                                     "tag",   "bytes", "message",    "began"};

static void put_act(struct spoor_table *out, uint64_t event, const struct act *a)
{
	const bool collective = a->kind >= ACT_COLLECTIVE && a->kind <= ACT_COLLECTIVE_END;
	const bool message = a->kind <= ACT_PROBED;
	table_row(out);
	table_integer(out, EVENT, event);
	table_text(out, KIND, act_names[a->kind]);
	table_text(out, COLLECTIVE, collective ? collective_name(a->collective) : "");
	table_integer(out, COMM, a->comm == COMM_UNKNOWN ? UINT64_MAX : a->comm);
	table_integer(out, PEER, a->peer == RANK_UNKNOWN ? UINT64_MAX : a->peer);
	table_integer(out, TAG, message ? (uint64_t)a->tag : UINT64_MAX);
	table_integer(out, BYTES, collective ? a->sent : a->sized ? a->bytes : UINT64_MAX);
	table_integer(out, MESSAGE, message && !a->open ? a->number : UINT64_MAX);
	table_integer(out, BEGAN, a->began);
}

/* Walks one stream. Returns 0, or -1 with error set. */
static int take_acts(struct spoor_table *out, const struct calls *calls, const struct comms *comms, uint32_t stream,
                     struct error *error)
{
	struct walk *w = NULL;
	struct event e;
	int step = -1;
	struct execution *x = execution_create(calls, comms, stream);
	if (!x)
		error_set(error, "out of memory");
	else if (walk_begin(&w, calls->trace, stream, error) == 0)
		while ((step = walk_next(w, &e, error)) == 0) {
			size_t n;
			const struct act *list = execution_event(x, &e, &n);
			if (!list) {
				step = error_set(error, "out of memory");
				break;
			}
			for (size_t i = 0; i < n; i++)
				put_act(out, e.number, &list[i]);
		}
	walk_end(w);
	execution_destroy(x);
	return step < 0 ? -1 : 0;
}

struct spoor_table *spoor_acts(const struct spoor_trace *of, uint32_t rank, uint32_t thread, char *text)
{
	struct error error = {""};
	struct calls calls;
	struct comms *comms = NULL;
	struct budget budget = inside_budget();
	budget.memory *= 4; /* of 10^7 calls that the user asked for */
	int rv = -1;
	struct spoor_table *out = table_create(NULL, 0);
	for (uint32_t i = 0; i < ACT_COLUMNS; i++)
		table_column(out, act_columns[i], i == KIND || i == COLLECTIVE ? SPOOR_TEXTS : SPOOR_INTEGERS);
	budget_begin(&budget);
	if (calls_make(&calls, &of->trace) != 0)
		error_set(&error, "out of memory");
	else if (comms_make(&comms, &calls, &error) == 0)
		rv = take_acts(out, &calls, comms, inside_stream(of, rank, thread), &error);
	comms_destroy(comms);
	calls_free(&calls);
	return inside_finish(out, &budget, rv == 0 ? NULL : &error, text);
}
