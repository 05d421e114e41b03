/* SPDX-License-Identifier: BSD-3-Clause
 * stream - ranks and their threads; what is said of those that are missing
 */
#include "trace/model/stream.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

/* A trace of `size` ranks that has these streams. */
static struct trace trace_of(uint32_t size, const uint32_t *streams, size_t n)
{
	struct trace t;
	struct rankmap_builder b = {.references = false};
	if (trace_init(&t) != 0)
		return t;
	t.size = size;
	for (size_t i = 0; i < n; i++)
		rankmap_add(&b, (struct rank_piece){.first = streams[i], .count = 1, .step = 1, .value = 9});
	rankmap_take(&b, &t.events);
	return t;
}

static bool is_missing(const struct trace *t, uint32_t stream, const char *words)
{
	struct error error = {""};
	return stream_missing(t, stream, &error) == -1 && strstr(error.text, words);
}

int main(void)
{
	/* the picture in stream.h: rank 1 left nothing, rank 2 has one thread; rank 3 has three */
	struct trace t = trace_of(4, (const uint32_t[]){0, 2, 3, 4, 7, 11}, 6), none = trace_of(3, NULL, 0);
	uint32_t threads[8], streams[8], n = 0, stream;
	char name[STREAM_NAME];
	ok(stream_threads(&none) == 1 && stream_limit(&none) == 3 && stream_ranks(&none, &none.events) == 0,
	   "no events");
	ok(is_missing(&none, 2, "rank 2 is missing") && is_missing(&none, 5, "rank 5 does not exist: the trace has 3"),
	   "what is missing where there are no threads");
	none.size = 0;
	ok(stream_rank(&none, 7) == 7 && stream_thread(&none, 7) == 0, "a trace of no ranks");
	ok(is_missing(&t, 1, "rank 1 is missing") && is_missing(&t, 5, "rank 1 is missing") &&
	           is_missing(&t, 6, "rank 2 has no thread 1"),
	   "what is missing where there are");
	ok(stream_threads(&t) == 3 && stream_limit(&t) == 12 && stream_ranks(&t, &t.events) == 3,
	   "three threads at most");
	for (uint32_t k = 0; stream_next(&t, 3, &k, &stream); k++) {
		threads[n] = k;
		streams[n++] = stream;
	}
	ok(n == 3 && threads[0] == 0 && threads[1] == 1 && threads[2] == 2 && streams[0] == 3 && streams[1] == 7 &&
	           streams[2] == 11,
	   "the threads of a rank");
	uint32_t first = 0;
	ok(!stream_next(&t, 1, &first, &stream) && !stream_next(&t, 4, &(uint32_t){0}, &stream), "of one without any");
	ok(strcmp(stream_name(&t, 3, name), "3") == 0 && strcmp(stream_name(&t, 11, name), "3.2") == 0, "their names");
	ok(stream_foreign(3 * STREAM_FOREIGN + 5, &threads[0], &threads[1]) && threads[0] == 2 && threads[1] == 5 &&
	           !stream_foreign(-1, &threads[0], &threads[1]),
	   "requests of other threads");
	/* a site that only threads 1 and 2 of rank 3, and thread 1 of rank 1, came to */
	struct trace some = trace_of(4, (const uint32_t[]){5, 7, 11}, 3);
	ok(stream_ranks(&t, &some.events) == 0 && stream_ranks_any(&t, &some.events) == 2 &&
	           stream_ranks_any(&t, &t.events) == 3,
	   "ranks of which any thread is there");
	struct rankmap visits = {.level = 0}, more = {.level = 0};
	rankmap_single(&visits, 7, 5, false);
	rankmap_single(&more, 5, 0, false);
	rankmap_union(&visits, &visits, &more);
	ok(stream_ranks_any(&t, &visits) == 1, "but none that has 0 of it");
	rankmap_free(&visits);
	rankmap_free(&more);
	trace_free(&some);
	trace_free(&t);
	trace_free(&none);
	return tap_end();
}
