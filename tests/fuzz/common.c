/* SPDX-License-Identifier: BSD-3-Clause
 * common - what the harnesses share
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/merge.h"
#include "tests/fuzz/fuzz.h"
#include "trace/base/budget.h"
#include "trace/file/container.h"
#include "trace/read/search.h"
#include "trace/read/timeline.h"
#include "trace/model/trace.h"
#include "trace/read/walk.h"

#define EVENTS_MAX 3000 /* of each rank; loops make any number of events out of a few bytes */
#define RANKS_MAX  24

static char file_path[256];

static void remove_file(void)
{
	unlink(file_path);
}

const char *fuzz_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && access(folder, W_OK | X_OK) == 0 ? folder : "/tmp";
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		snprintf(file_path, sizeof file_path, "%s/fuzz.XXXXXX", fuzz_folder());
		fd = mkstemp(file_path);
		atexit(remove_file);
	}
	if (fd < 0 || ftruncate(fd, 0) || ftruncate(fd, (off_t)size) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return file_path;
}

static void walk(const struct trace *t, uint32_t rank)
{
	struct walk *w = NULL;
	struct error error = {""};
	struct event e;
	uint64_t begin = 0, end = 0, last = 0;
	bool none = false;

	if (walk_begin(&w, t, rank, &error))
		return;
	struct timeline *line = timeline_open(t, rank, &none);
	for (int i = 0; i < EVENTS_MAX && walk_next(w, &e, &error) == 0; i++)
		if (line && timeline_next(line, e.site, &begin, &end) == 0) {
			if (begin < last || end < begin)
				abort(); /* time goes back */
			last = end;
		}
	timeline_close(line);
	walk_end(w);
	struct moment m = {0};
	if (rankmap_sum(&t->events) <= EVENTS_MAX && search_time(&m, t, rank, 1e6, &error) == 0 &&
	    m.site >= t->site_count)
		abort(); /* nowhere */
	free(m.visits);
}

int fuzz_walk(const struct trace *t, uint32_t stream, struct error *error)
{
	struct walk *w = NULL;
	struct event e;
	int rv = walk_begin(&w, t, stream, error);

	for (int i = 0; rv == 0 && i < EVENTS_MAX; i++)
		rv = walk_next(w, &e, error);
	walk_end(w);
	return rv < 0 ? -1 : 0;
}

void fuzz_trace(struct trace *t)
{
	struct trace canonical, again, into;
	struct container *c = NULL;
	struct error error = {""};
	uint8_t *bytes = NULL;
	size_t size = 0;

	for (uint32_t rank = 0; rank < t->size && rank < RANKS_MAX; rank++)
		walk(t, rank);
	if (merge_canonical(&canonical, t, &error) == 0 &&
	    trace_encode(&canonical, NULL, 0, NULL, &bytes, &size) == 0) {
		/* what spoor wrote, spoor reads */
		memset(&again, 0, sizeof again);
		if ((container_parse(&c, "fuzz", bytes, size, NULL, &error) || trace_decode(&again, c, &error)) &&
		    !budget_explain("fuzz", NULL)) {
			fprintf(stderr, "what was written cannot be read: %s\n", error.text);
			abort();
		}
		trace_free(&again);
		container_destroy(c);
	}
	free(bytes);
	if (trace_init(&into) == 0)
		merge_into(&into, t, &error);
	trace_free(&into);
	trace_free(&canonical);
}
