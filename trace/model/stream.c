/* SPDX-License-Identifier: BSD-3-Clause
 * stream - the threads of ranks in a trace
 */
#include "trace/model/stream.h"

#include <stdio.h>

#include "trace/base/budget.h"

uint64_t stream_limit(const struct trace *t)
{
	return (uint64_t)t->size * stream_threads(t);
}

uint32_t stream_threads(const struct trace *t)
{
	return rankmap_empty(&t->events) ? 1 : stream_thread(t, rankmap_last(&t->events)) + 1;
}

uint64_t stream_ranks(const struct trace *t, const struct rankmap *streams)
{
	struct rankmap ranks = {0};
	struct rankmap_builder b = {0};
	uint64_t n = rankmap_size(streams);
	if (n == 0 || rankmap_last(streams) < t->size)
		return n;
	rankmap_add(&b, (struct rank_piece){.first = 0, .count = t->size, .step = 1});
	n = t->size;
	if (rankmap_take(&b, &ranks) == 0 && rankmap_restrict(&ranks, streams, &ranks) == 0)
		n = rankmap_size(&ranks);
	rankmap_free(&ranks);
	return n;
}

uint64_t stream_ranks_any(const struct trace *t, const struct rankmap *streams)
{
	uint64_t n = rankmap_size_not_zero(streams), stream = 0;
	int64_t value;
	if (n == 0 || rankmap_last(streams) < t->size)
		return n;
	bool *seen = budget_calloc(t->size, sizeof *seen);
	if (!seen)
		return t->size;
	for (n = 0; rankmap_next(streams, &stream, &value); stream++) {
		n += value != 0 && !seen[stream_rank(t, stream)];
		seen[stream_rank(t, stream)] |= value != 0;
	}
	budget_free(seen);
	return n;
}

bool stream_next(const struct trace *t, uint32_t rank, uint32_t *thread, uint32_t *stream)
{
	int64_t unused;
	for (uint32_t threads = stream_threads(t); rank < t->size && *thread < threads; ++*thread) {
		*stream = *thread * t->size + rank;
		if (rankmap_get(&t->events, *stream, &unused))
			return true;
	}
	return false;
}

const char *stream_name(const struct trace *t, uint64_t stream, char out[STREAM_NAME])
{
	uint32_t thread = stream_thread(t, stream);
	if (thread)
		snprintf(out, STREAM_NAME, "%u.%u", stream_rank(t, stream), thread);
	else
		snprintf(out, STREAM_NAME, "%u", stream_rank(t, stream));
	return out;
}

int stream_missing(const struct trace *t, uint32_t stream, struct error *error)
{
	int64_t unused;
	uint32_t rank = stream_rank(t, stream), thread = stream_thread(t, stream), threads = stream_threads(t);
	if (thread == 0)
		return error_set(error, "rank %u is missing in this trace", rank);
	if (threads == 1)
		return error_set(error, "rank %u does not exist: the trace has %u ranks", stream, t->size);
	if (!rankmap_get(&t->events, rank, &unused))
		return error_set(error, "rank %u is missing in this trace", rank);
	return error_set(error, "rank %u has no thread %u", rank, thread);
}
