/* SPDX-License-Identifier: BSD-3-Clause
 * plan - can this trace be replayed? Which call replays which function of it
 */
#include "replay/plan.h"
#include "trace/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool named(const struct schema *s, const char *name)
{
	return s->function_length == strlen(name) && memcmp(s->function, name, s->function_length) == 0;
}

static const struct play_call *find(const struct schema *s)
{
	for (size_t i = 0; i < play_call_count; i++)
		if (named(s, play_calls[i].name))
			return &play_calls[i];
	return NULL;
}

static int column(const struct schema *s, const struct schema_column *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->column[i].length == name->length && memcmp(s->column[i].name, name->name, name->length) == 0 &&
		    s->column[i].kind == name->kind && s->column[i].vector == name->vector)
			return (int)i;
	return -1;
}

static int make(struct plan *p, const struct schema *s)
{
	struct schema own;

	p->error = -1;
	for (size_t i = 0; i < s->count; i++)
		if (s->column[i].length == 5 && memcmp(s->column[i].name, "error", 5) == 0)
			p->error = (int)i;
	p->special = named(s, "MPI_Init") || named(s, "MPI_Init_thread") ? PLAN_INIT
	             : named(s, "MPI_Finalize")                          ? PLAN_FINALIZE
	             : named(s, "MPI_Abort")                             ? PLAN_ABORT
	                                                                 : PLAN_CALL;
	p->call = find(s);
	if (!p->call || schema_parse(&own, p->call->schema, strlen(p->call->schema)) != 0)
		return p->special == PLAN_ABORT ? 0 : -1;
	p->columns = own.count;
	p->same = true;
	for (size_t i = 0; i < own.count; i++) {
		p->from[i] = (int16_t)column(s, &own.column[i]);
		p->same &= p->from[i] == (int)i;
		if (p->from[i] < 0 && own.column[i].kind != 'b' && own.column[i].name[0] != '.')
			return -1;
	}
	return 0;
}

struct plan *plan_create(const struct trace *t, struct error *error)
{
	struct plan *plans = calloc((size_t)t->function_count + 1, sizeof *plans);
	bool *used = calloc((size_t)t->function_count + 1, sizeof *used);
	char missing[180] = "";
	size_t n = 0, more = 0;

	if (!plans || !used) {
		free(plans);
		free(used);
		error_set(error, "no memory");
		return NULL;
	}
	for (uint32_t i = 0; i < t->site_count; i++)
		used[t->sites[i].function] = true;
	for (uint32_t i = 0; i < t->function_count; i++) {
		const struct schema *s = &t->functions[i].schema;

		if (!used[i] || make(&plans[i], s) == 0)
			continue;
		if (n + s->function_length + 3 < sizeof missing)
			n += (size_t)snprintf(missing + n, sizeof missing - n, "%s%.*s", n ? ", " : "", (int)s->function_length, s->function);
		else
			more++;
	}
	free(used);
	if (n == 0)
		return plans;
	if (more)
		error_set(error, "calls in this trace that cannot be replayed here: %s, and %zu more", missing, more);
	else
		error_set(error, "calls in this trace that cannot be replayed here: %s", missing);
	free(plans);
	return NULL;
}

const char *plan_impossible(const struct trace *t)
{
	return stream_threads(t) > 1 ? "its ranks called MPI in several threads (MPI_THREAD_MULTIPLE): in which order their calls met is not in the trace, "
	                               "and only one thread of a rank can be replayed"
	                             : NULL;
}

const char *plan_partial(const struct trace *t, char text[PLAN_TEXT])
{
	uint64_t finalized = 0, ranks = rankmap_size(&t->events);

	for (uint32_t i = 0; i < t->site_count; i++)
		if (named(trace_schema(t, &t->sites[i]), "MPI_Finalize"))
			finalized += rankmap_size(&t->sites[i].visits);
	if (ranks < t->size)
		snprintf(text, PLAN_TEXT, "it has the events of only %" PRIu64 " of %u ranks", ranks, t->size);
	else if (finalized < t->size)
		snprintf(text, PLAN_TEXT, "%" PRIu64 " of %u ranks did not come to MPI_Finalize", t->size - finalized, t->size);
	else if (!rankmap_empty(&t->lost))
		snprintf(text, PLAN_TEXT, "%" PRId64 " events of %" PRIu64 " ranks are missing, because the memory budget was used up",
		         rankmap_sum(&t->lost), rankmap_size(&t->lost));
	else
		return NULL;
	return text;
}

bool plan_calls(const struct trace *t, const char *prefix)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);

		if (s->function_length >= strlen(prefix) && memcmp(s->function, prefix, strlen(prefix)) == 0)
			return true;
	}
	return false;
}
