/* SPDX-License-Identifier: BSD-3-Clause
 * hang - what a job that was killed was waiting for
 */
#include "insight/hang.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/model/rankset.h"
#include "trace/model/stream.h"
#include "insight/phrase.h"
#include "insight/verdict.h"

#define RANKS_MOST (UINT64_C(1) << 22) /* that are listed */
#define NAMED      3                   /* missing ranks of which is said what they were doing */

static const struct schema *schema_of(const struct trace *t, const struct trace_unended *u)
{
	return trace_schema(t, &t->sites[u->site]);
}

/* Were all calls of the site until then in MPI_COMM_WORLD, as far as that is known? */
static bool is_of_world(const struct trace *t, const struct trace_unended *call)
{
	const struct trace_site *s = &t->sites[call->site];
	int at = schema_of(t, call)->at[PARAMETER_COMM];
	int64_t comm;
	for (uint32_t g = 0; at >= 0 && g < s->columns[at].count; g++)
		if (!rankmap_constant(trace_group_ranks(&s->columns[at].groups[g]), &comm) ||
		    !trace_is_constant(t, comm, CONST_MPI_COMM_WORLD))
			return false;
	return true;
}

int hang_missing(struct rankmap *out, const struct trace *t, const struct trace_unended *call)
{
	struct rankmap_builder b = {.references = false};
	const struct schema *s = schema_of(t, call);
	*out = (struct rankmap){.level = 0};
	if (s->mpi->scope == SCOPE_SINGLE || !is_of_world(t, call))
		return 0;
	rankmap_add(&b, (struct rank_piece){.count = t->size, .step = 1});
	int rv = rankmap_take(&b, out);
	for (uint32_t i = 0; rv == 0 && i < t->unended_count; i++) {
		struct rankmap rest = {.level = 0};
		if (!t->unended[i].call || schema_of(t, &t->unended[i])->mpi->base != s->mpi->base)
			continue;
		rv = rankset_without(&rest, out, &t->unended[i].ranks);
		rankmap_free(out);
		*out = rest;
	}
	return rv;
}

/* One run of ranks, or of streams; begin: the first one. */
static void put_run(struct phrase *x, const struct trace *t, uint64_t first, uint64_t last, bool begin)
{
	char name[STREAM_NAME];
	phrase_put(x, "%s%s", begin ? "" : ",", stream_name(t, first, name));
	if (last > first)
		phrase_put(x, "-%s", stream_name(t, last, name));
}

const char *hang_ranks(char *out, size_t size, const struct trace *t, const struct rankmap *ranks)
{
	struct phrase x = {out, size};
	uint64_t first = 0, last = 0, count = 0;
	bool begin = true;
	int64_t unused;
	*out = '\0';
	if (rankmap_size(ranks) > RANKS_MOST) { /* anybody can say that there are two billions */
		phrase_put(&x, "%" PRIu64 " of them", rankmap_size(ranks));
		return out;
	}
	for (uint64_t r = 0; rankmap_next(ranks, &r, &unused); r++) {
		if (x.left < 2 * STREAM_NAME) {
			phrase_put(&x, ",...");
			return out;
		}
		if (count++ > 0 && r == last + 1 && r < t->size) {
			last = r;
			continue;
		}
		if (count > 1) {
			put_run(&x, t, first, last, begin);
			begin = false;
		}
		first = last = r;
	}
	if (count > 0)
		put_run(&x, t, first, last, begin);
	return out;
}

static void put_function(struct phrase *x, const struct trace *t, const struct trace_unended *u)
{
	const struct schema *s = schema_of(t, u);
	phrase_put(x, "%.*s", (int)(s->function_length < 64 ? s->function_length : 64), s->function);
}

/* Behind "rank 2 ": what it was doing. */
static void put_place(struct phrase *x, const struct trace *t, uint32_t rank)
{
	const struct trace_unended *u = unended_of(t, rank);
	int64_t unused;
	if (!u) {
		phrase_put(x, rankmap_get(&t->events, rank, &unused) ? "had ended, or it is not known where it was"
		                                                     : "left no trace");
		return;
	}
	phrase_put(x, u->call ? "was in " : "computed for %.3g s after ", (double)u->max * 1e-9);
	put_function(x, t, u);
	if (u->call)
		phrase_put(x, " for %.3g s", (double)u->max * 1e-9);
}

static void put_missing(struct phrase *x, const struct trace *t, const struct rankmap *missing)
{
	char list[128];
	uint64_t n = rankmap_size(missing), said = 0;
	int64_t unused;
	phrase_put(x, " Rank%s %s did not come:", n == 1 ? "" : "s", hang_ranks(list, sizeof list, t, missing));
	for (uint64_t r = 0; said < NAMED && rankmap_next(missing, &r, &unused); r++, said++) {
		phrase_put(x, "%s", said ? "; " : " ");
		if (n == 1)
			phrase_put(x, "it ");
		else
			phrase_put(x, "rank %" PRIu64 " ", r);
		put_place(x, t, (uint32_t)r);
	}
	phrase_put(x, n > said ? "; ..." : ".");
}

/* The one value that a column had at all visits of a rank; false: there is none. */
static bool one_value(const struct trace_site *s, int column, uint32_t rank, int64_t *value)
{
	for (uint32_t g = 0; column >= 0 && g < s->columns[column].count; g++) {
		const struct trace_group *group = &s->columns[column].groups[g];
		if (rankmap_get(trace_group_ranks(group), rank, value))
			return group->pattern == 0 && !group->lossy && group->count == 1 && *value >= 0 &&
			       !value_is_constant(*value);
	}
	return false;
}

/* A receive: from whom. Only in MPI_COMM_WORLD the rank is that of the trace. */
static void put_peer(struct phrase *x, const struct trace *t, const struct trace_unended *call)
{
	const struct trace_site *s = &t->sites[call->site];
	const struct schema *schema = trace_schema(t, s);
	int64_t peer, comm = 0;
	int at = schema->at[PARAMETER_COMM];
	bool receives = schema->mpi->class == MPI_CLASS_POINT_TO_POINT && schema->at[PARAMETER_SOURCE] >= 0;
	if (at < 0 || s->columns[at].count == 0 ||
	    !rankmap_get(trace_group_ranks(&s->columns[at].groups[0]), call->max_rank, &comm) ||
	    !trace_is_constant(t, comm, CONST_MPI_COMM_WORLD) ||
	    !one_value(s, schema->at[receives ? PARAMETER_SOURCE : PARAMETER_DEST], call->max_rank, &peer) ||
	    peer >= t->size)
		return;
	phrase_put(x, " Before, rank %" PRIu32 " had only %s rank %" PRId64 " there, which ", call->max_rank,
	           receives ? "received from" : "sent to", peer);
	put_place(x, t, (uint32_t)peer);
	phrase_put(x, ".");
}

const char *hang_verdict(char out[HANG_VERDICT], const struct trace *t, struct verdict *found, uint64_t patience,
                         const struct run_end *end)
{
	struct phrase x = {out, HANG_VERDICT};
	struct rankmap missing = {.level = 0};
	char list[128];
	const struct trace_unended *call = unended_call(t);
	*found = (struct verdict){.kind = VERDICT_NONE};
	out[0] = '\0';
	verdict_find(found, t, patience, end);
	phrase_put(&x, "%s", found->text);
	if (!call || found->kind == VERDICT_DEADLOCK || found->kind == VERDICT_MISMATCH || found->kind == VERDICT_ENDED)
		return out;
	phrase_put(&x, "%s", *found->text ? " " : "");
	uint64_t ranks = rankmap_size(&call->ranks);
	put_function(&x, t, call);
	phrase_put(&x, " did not end: %" PRIu64 " rank%s (%s) %s in it for %.3g s together.", ranks,
	           ranks == 1 ? "" : "s", hang_ranks(list, sizeof list, t, &call->ranks), ranks == 1 ? "was" : "were",
	           (double)call->sum * 1e-9);
	if (hang_missing(&missing, t, call) == 0 && !rankmap_empty(&missing))
		put_missing(&x, t, &missing);
	else if (schema_of(t, call)->mpi->scope == SCOPE_SINGLE)
		put_peer(&x, t, call);
	else if (is_of_world(t, call))
		phrase_put(&x, " All ranks were in it.");
	rankmap_free(&missing);
	return out;
}
