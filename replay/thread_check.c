/* SPDX-License-Identifier: BSD-3-Clause
 * thread_check - which traces of ranks with several threads cannot be replayed
 */
#include "replay/thread_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/prescan.h"
#include "trace/model/timing.h"
#include "trace/model/stream.h"
#include "trace/model/flow_code.h"

struct use {
	uint32_t rank, stream;
	int64_t comm;
};

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	return x->rank != y->rank   ? (x->rank < y->rank ? -1 : 1)
	       : x->comm != y->comm ? (x->comm < y->comm ? -1 : 1)
	                            : 0;
}

struct uses {
	struct use *at;
	size_t count, capacity;
	bool failed;
};

static void add_use(struct uses *u, const struct trace *t, uint64_t stream, int64_t comm)
{
	if (u->count == u->capacity) {
		struct use *more = realloc(u->at, (2 * u->capacity + 64) * sizeof *more);
		if (!more) {
			u->failed = true;
			return;
		}
		u->at = more;
		u->capacity = 2 * u->capacity + 64;
	}
	u->at[u->count++] = (struct use){stream_rank(t, stream), (uint32_t)stream, comm};
}

static void add_site_uses(struct uses *u, const struct trace *t, const struct trace_site *s, size_t column)
{
	for (uint32_t g = 0; g < s->columns[column].count; g++) {
		const struct trace_group *group = &s->columns[column].groups[g];
		int64_t start, stride, unused;
		for (uint64_t r = 0; !group->lossy && rankmap_next(trace_group_ranks(group), &r, &unused); r++)
			for (uint32_t d = 0; d < group->count; d++) {
				stride = 0;
				if (!rankmap_get(&group->dict[d].start, (uint32_t)r, &start) ||
				    (group->dict[d].count > 1 &&
				     !rankmap_get(&group->dict[d].stride, (uint32_t)r, &stride)))
					continue;
				for (uint64_t k = 0; k < group->dict[d].count; k++)
					add_use(u, t, r, start + (int64_t)k * stride);
			}
	}
}

/* Did a thread complete requests of another one? */
static bool completes_foreign_requests(const struct trace *t)
{
	uint32_t thread, number;
	for (size_t i = 0; i < t->vector_pool.count; i++)
		for (size_t k = 0; k + sizeof(int64_t) <= t->vector_pool.items[i].size; k += sizeof(int64_t)) {
			int64_t v;
			memcpy(&v, t->vector_pool.items[i].bytes + k, sizeof v);
			if (stream_foreign(v, &thread, &number) && thread < stream_threads(t))
				return true;
		}
	for (uint32_t i = 0; i < t->site_count; i++)
		for (size_t k = 0; k < trace_schema(t, &t->sites[i])->count; k++)
			for (uint32_t g = 0;
			     trace_schema(t, &t->sites[i])->column[k].kind == 'r' && g < t->sites[i].columns[k].count;
			     g++) {
				const struct trace_group *group = &t->sites[i].columns[k].groups[g];
				int64_t v;
				uint64_t r = 0;
				for (uint32_t d = 0; !group->lossy && d < group->count; d++)
					for (r = 0; rankmap_next(&group->dict[d].start, &r, &v); r++)
						if (stream_foreign(v, &thread, &number))
							return true;
			}
	return false;
}

/* A communicator of one rank: with itself it always agrees. */
static bool is_self_comm(const struct trace *t, const struct use *u)
{
	struct error error;
	int64_t *sizes = NULL;
	size_t n = 0;
	if (value_is_constant(u->comm))
		return trace_is_constant(t, u->comm, CONST_MPI_COMM_SELF);
	bool one = walk_object(t, u->stream, "@comm", "size", &sizes, &n, &error) == 0 && u->comm >= 0 &&
	           (uint64_t)u->comm < n && sizes[u->comm] == 1;
	free(sizes);
	return one;
}

bool thread_check_has_order(const struct trace *t)
{
	int64_t events;
	for (uint64_t r = 0; rankmap_next(&t->events, &r, &events); r++) {
		const struct trace_timing *timing = timing_find(t, (uint32_t)r);
		if (!timing || timing->digits != FLOW_EXACT || timing->events != (uint64_t)events)
			return false;
	}
	return true;
}

const char *thread_check_refusal(const struct trace *t, bool partial, char *text, size_t n)
{
	struct uses u = {NULL, 0, 0, false};
	const char *why = NULL;
	bool every;
	if (stream_threads(t) < 2)
		return NULL;
	if (trace_has_lossy(t))
		return "its ranks called MPI in several threads (MPI_THREAD_MULTIPLE), and parameters have no order: "
		       "only one of both can be replayed";
	if (partial)
		return "its ranks called MPI in several threads (MPI_THREAD_MULTIPLE): it can be replayed as a whole "
		       "only, not with --partial";
	if (prescan_needed(t, &every) && completes_foreign_requests(t)) /* whether the order is known or not */
		return "threads completed requests that other threads made, and there are receives from "
		       "MPI_ANY_SOURCE, or cancelled ones: which of them got which "
		       "message is known for requests of the own thread only";
	for (uint32_t i = 0; i < t->site_count && !thread_check_has_order(t); i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);
		if (mpi_is_collective(s->mpi) && s->at[PARAMETER_COMM] >= 0 && s->at[PARAMETER_FREED] < 0)
			add_site_uses(&u, t, &t->sites[i], (size_t)s->at[PARAMETER_COMM]);
	}
	if (u.count)
		qsort(u.at, u.count, sizeof *u.at, compare_uses);
	for (size_t i = 1; i < u.count && !why; i++)
		if (compare_uses(&u.at[i - 1], &u.at[i]) == 0 && u.at[i - 1].stream != u.at[i].stream &&
		    !is_self_comm(t, &u.at[i])) {
			char number[32];
			snprintf(number, sizeof number, "c%lld", (long long)u.at[i].comm);
			snprintf(text, n,
			         "threads %u and %u of rank %u made collective calls on the same communicator (%s): in "
			         "which order is not in the "
			         "trace (it is with exact times of all events: timing: full)",
			         stream_thread(t, u.at[i - 1].stream), stream_thread(t, u.at[i].stream), u.at[i].rank,
			         value_is_constant(u.at[i].comm) ? trace_constant_name(t, u.at[i].comm) : number);
			why = text;
		}
	free(u.at);
	return u.failed ? "no memory" : why;
}
