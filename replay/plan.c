/* SPDX-License-Identifier: BSD-3-Clause
 * plan - can this trace be replayed? Which call replays which function of it
 */
#include "replay/plan.h"
#include "replay/say.h"
#include "trace/base/repeated.h"
#include "trace/model/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SHOWN 200 /* bytes */

static bool is_same(const struct schema_column *c, const char *name, size_t n, char kind, bool vector)
{
	return c->length == n && memcmp(c->name, name, n) == 0 && c->kind == kind && c->vector == vector;
}

static int find_column(const struct schema *s, const struct schema_column *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (is_same(&s->column[i], name->name, name->length, name->kind, name->vector) ||
		    (name->kind == 'b' && is_same(&s->column[i], name->name, name->length, 'a', false)))
			return (int)i;
	return -1;
}

/* Where buffers are recorded. */
static void find_buffers(struct plan *p, const struct schema *s, const char *names)
{
	for (int i = 0; i < ARGS_BUFFERS; i++) {
		size_t n = strcspn(names, " ");
		p->buffers[i] = -1;
		for (size_t k = 0; n && k < s->count; k++)
			if (is_same(&s->column[k], names, n, 'a', false))
				p->buffers[i] = (int16_t)k;
		p->known_buffers |= p->buffers[i] >= 0;
		names += n + (names[n] == ' ');
	}
}

/* Returns NULL, or why not. */
static const char *plan_function(struct plan *p, const struct schema *s)
{
	const struct mpi_function *f = s->mpi;
	struct schema own;
	p->error = s->at[PARAMETER_ERROR];
	p->special = trace_initializes(s)             ? PLAN_INIT
	             : f->function == FN_MPI_Finalize ? PLAN_FINALIZE
	             : f->function == FN_MPI_Abort    ? PLAN_ABORT
	                                              : PLAN_CALL;
	if (p->special == PLAN_ABORT)
		return NULL;
	p->call = f->function < FN_COUNT && replay_calls[f->function].call ? &replay_calls[f->function] : NULL;
	if (!p->call || schema_parse(&own, f->schema, strlen(f->schema)) != 0)
		return f->class == MPI_CLASS_PROCESS ? "it connects to processes that are not in this trace"
		                                     : "it is not known here";
	find_buffers(p, s, p->call->buffers);
	p->columns = own.count;
	p->same = true;
	for (size_t i = 0; i < own.count; i++) {
		p->from[i] = (int16_t)find_column(s, &own.column[i]);
		p->same &= p->from[i] == (int)i;
		if (p->from[i] < 0 && own.column[i].kind != 'b' && own.column[i].name[0] != '.')
			return "a parameter of it is not in this trace";
	}
	return NULL;
}

/* Was the world started by another one? */
static bool has_parent(const struct trace *t, const struct trace_site *site)
{
	const struct schema *s = trace_schema(t, site);
	int created = s->mpi->function == FN_MPI_Comm_get_parent ? s->at[PARAMETER_CREATED] : -1;
	for (uint32_t g = 0; created >= 0 && g < site->columns[created].count; g++) {
		const struct trace_group *group = &site->columns[created].groups[g];
		int64_t v;
		for (uint32_t d = 0; !group->lossy && d < group->count; d++)
			for (uint64_t r = 0; rankmap_next(&group->dict[d].start, &r, &v); r++)
				if (v >= 0 && !value_is_constant(v))
					return true;
	}
	return false;
}

/* A line of the list, whose n-th it is. The name is whatever the trace's user liked. */
static void list_missing(FILE *out, size_t n, const struct schema *s, uint64_t calls, const char *why)
{
	char name[NAME_SHOWN];
	snprintf(name, sizeof name, "%.*s", (int)s->function_length, s->function);
	replay_make_visible(name, strlen(name));
	fprintf(out, "%s  %s, %" PRIu64 " calls: %s", n > 1 ? "\n" : "", name, calls, why);
}

struct plan *plan_create(const struct trace *t, char **missing)
{
	struct plan *plans = calloc((size_t)t->function_count + 1, sizeof *plans);
	uint64_t *calls = calloc((size_t)t->function_count + 1, sizeof *calls);
	uint32_t parents = UINT32_MAX; /* the function that returned the world's parents */
	size_t size, n = 0;
	FILE *out = open_memstream(missing, &size);
	for (uint32_t i = 0; calls && i < t->site_count; i++) {
		calls[t->sites[i].function] += (uint64_t)rankmap_sum(&t->sites[i].visits);
		if (has_parent(t, &t->sites[i]))
			parents = t->sites[i].function;
	}
	for (uint32_t i = 0; plans && calls && out && i < t->function_count; i++) {
		const struct schema *s = &t->functions[i].schema;
		const char *why = calls[i] ? plan_function(&plans[i], s) : NULL;
		if (!why && i == parents)
			why = "it returned the processes that started these ones, which are not in this trace";
		if (why && repeated_next(&n))
			list_missing(out, n, s, calls[i], why);
	}
	if (out && repeated_more(n))
		fprintf(out, "\n  and %zu more functions", repeated_more(n));
	if (out)
		fclose(out);
	bool good = plans && calls && out && n == 0;
	free(calls);
	if (n == 0 && out) {
		free(*missing);
		*missing = NULL;
	}
	if (good)
		return plans;
	free(plans);
	return NULL;
}

/* A program without MPI_Init is over when all of its sessions are. */
static bool has_ended_sessions(const struct trace *t)
{
	int64_t opened = 0, closed = 0;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct mpi_function *f = trace_schema(t, &t->sites[i])->mpi;
		if (mpi_initializes(f))
			return false;
		opened += f->function == FN_MPI_Session_init ? rankmap_sum(&t->sites[i].visits) : 0;
		closed += f->function == FN_MPI_Session_finalize ? rankmap_sum(&t->sites[i].visits) : 0;
	}
	return opened > 0 && opened == closed;
}

const char *plan_partial(const struct trace *t, char text[PLAN_TEXT])
{
	uint64_t finalized = 0, ranks = stream_ranks(t, &t->events);
	for (uint32_t i = 0; i < t->site_count; i++)
		if (trace_schema(t, &t->sites[i])->mpi->function == FN_MPI_Finalize)
			finalized += rankmap_size(&t->sites[i].visits);
	if (ranks < t->size)
		snprintf(text, PLAN_TEXT, "it has the events of only %" PRIu64 " of %u ranks", ranks, t->size);
	else if (finalized < t->size && !has_ended_sessions(t))
		snprintf(text, PLAN_TEXT, "%" PRIu64 " of %u ranks did not come to MPI_Finalize", t->size - finalized,
		         t->size);
	else if (!rankmap_empty(&t->lost))
		snprintf(text, PLAN_TEXT, "%" PRId64 " events of %" PRIu64 " ranks are missing: " TRACE_LOST,
		         rankmap_sum(&t->lost), rankmap_size(&t->lost));
	else
		return NULL;
	return text;
}

bool plan_uses_files(const struct trace *t)
{
	for (uint32_t i = 0; i < t->site_count; i++)
		if (trace_schema(t, &t->sites[i])->mpi->class == MPI_CLASS_FILE)
			return true;
	return false;
}
