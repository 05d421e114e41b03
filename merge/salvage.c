/* SPDX-License-Identifier: BSD-3-Clause
 * salvage - makes a trace of the arenas that ranks left behind
 *
 * Arenas are opened one after the other, so that memory is bounded by the largest arena and the trace that grows out of all.
 */
#include "merge/salvage.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "merge/merge.h"
#include "trace/arena.h"
#include "trace/container.h"
#include "trace/record.h"
#include "trace/varint.h"

#define PATH_SIZE 1400

struct left {
	char path[PATH_SIZE];
	uint64_t world;
	uint32_t rank;
	bool done;
};

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);
	return n > k && strcmp(name + n - k, end) == 0;
}

/* What an arena says of itself. Returns 0; 1 if its process never initialised MPI; -1 if it cannot be read. */
static int identify(struct left *l, struct error *error)
{
	struct arena a;
	int rv = -1;
	int opened = arena_open(&a, l->path, error);
	if (opened != 0)
		return opened;
	if (a.header->root == 0) {
		rv = 1;
	} else if (!arena_valid(&a, a.header->root, sizeof(struct record))) {
		error_set(error, "%s: has no record", l->path);
	} else {
		const struct record *r = arena_at(&a, struct record, a.header->root);
		l->world = r->world;
		l->rank = r->rank;
		rv = r->state == RECORD_CREATED;
	}
	arena_close(&a);
	return rv;
}

static int list(const char *folder, struct left **out, size_t *count, struct error *error)
{
	size_t capacity = 0;
	*out = NULL;
	*count = 0;
	DIR *dir = opendir(folder);
	if (!dir)
		return error_set(error, "%s: cannot read the folder: %s", folder, strerror(errno));
	int rv = 0;
	for (struct dirent *e; (e = readdir(dir));) {
		if (!ends_in(e->d_name, ".arena") || strlen(folder) + strlen(e->d_name) + 2 > PATH_SIZE)
			continue;
		if (*count == capacity) {
			capacity = capacity ? capacity * 2 : 16;
			struct left *more = realloc(*out, capacity * sizeof *more);
			if (!more) {
				rv = error_set(error, "no memory");
				break;
			}
			*out = more;
		}
		struct left *l = &(*out)[*count];
		*l = (struct left){.done = false};
		snprintf(l->path, sizeof l->path, "%s/%s", folder, e->d_name);
		int what = identify(l, error);
		if (what == 0)
			++*count;
		else if (what == 1)
			unlink(l->path);
		else
			rv = -1;
	}
	closedir(dir);
	return rv;
}

static void fact(struct writer *w, const char *key, uint64_t value)
{
	char text[96];
	writer_bytes(w, text, (size_t)snprintf(text, sizeof text, "%s=%" PRIu64 "\n", key, value));
}

/* Adds one arena to the trace of its world, and the facts of the lowest rank to the facts. */
static int add(struct trace *t, struct left *l, struct writer *facts, uint32_t *facts_rank, struct error *error)
{
	int rv = -1;
	struct arena a;
	struct trace one = {.size = 0};
	if (arena_open(&a, l->path, error) != 0)
		return -1;
	const struct record *r = arena_at(&a, struct record, a.header->root);
	int64_t events;
	if (rankmap_get(&t->events, l->rank, &events)) {
		error_set(error, "%s: rank %u has left two arenas", l->path, l->rank);
	} else if (trace_extract(&one, &a, error) == 0 && merge_into(t, &one, error) == 0) {
		if (l->rank < *facts_rank && r->facts && arena_valid(&a, r->facts, sizeof(struct record_string))) {
			const struct record_string *s = arena_at(&a, struct record_string, r->facts);
			if (arena_valid(&a, r->facts, sizeof *s + s->length)) {
				*facts_rank = l->rank;
				facts->size = 0;
				writer_bytes(facts, s->bytes, s->length);
				fact(facts, "start_ns", (uint64_t)r->realtime_ns);
			}
		}
		l->done = true;
		rv = 0;
	}
	trace_free(&one);
	arena_close(&a);
	return rv;
}

/* The world's file, if the tracer itself has left one. */
static bool in_trace(const char *path, uint32_t rank)
{
	struct container *c;
	struct trace t = {.size = 0};
	int64_t events;
	bool found = container_open(&c, path, NULL, NULL) == 0 && trace_decode(&t, c, NULL) == 0 && rankmap_get(&t.events, rank, &events);
	trace_free(&t);
	container_destroy(c);
	return found;
}

/* All arenas of the world of lefts[first]. Returns 1 if that made a trace, 0 if there was nothing to make, -1. */
static int world(const char *folder, struct left *lefts, size_t n, size_t first, struct error *error)
{
	int rv = -1, failed = 0;
	char path[PATH_SIZE];
	struct trace all = {.size = 0}, canonical = {.size = 0};
	struct writer facts = {0};
	uint8_t *bytes = NULL;
	size_t size;
	uint32_t facts_rank = UINT32_MAX;
	uint64_t id = lefts[first].world;
	snprintf(path, sizeof path, "%s/world-%016" PRIx64 ".spoor", folder, id);
	bool exists = access(path, F_OK) == 0;
	if (trace_init(&all) != 0) {
		error_set(error, "no memory");
		goto done;
	}
	for (size_t i = first; i < n; i++) {
		if (lefts[i].world != id || lefts[i].done)
			continue;
		if (exists) {
			/* the ranks had settled, and this one did not learn of it in time */
			lefts[i].done = true;
			if (in_trace(path, lefts[i].rank))
				unlink(lefts[i].path);
			continue;
		}
		if (add(&all, &lefts[i], &facts, &facts_rank, error) != 0) {
			failed = -1;
			lefts[i].done = true;
			lefts[i].path[0] = 0;
		}
	}
	if (exists || rankmap_size(&all.events) == 0) {
		rv = failed;
		goto done;
	}
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	fact(&facts, "end_ns", (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	char world_fact[64];
	writer_bytes(&facts, world_fact, (size_t)snprintf(world_fact, sizeof world_fact, "world=%016" PRIx64 "\n", id));
	fact(&facts, "partial", 1);
	fact(&facts, "ranks_missing", all.size - rankmap_size(&all.events));
	struct chunk chunk = {.id = "FACT", .data = facts.data, .size = facts.size};
	if (facts.failed || merge_canonical(&canonical, &all, error) != 0 || trace_encode(&canonical, &chunk, 1, NULL, &bytes, &size) != 0) {
		error_set(error, "no memory to encode the trace");
		goto done;
	}
	if (container_publish(path, 0600, bytes, size) != 0) {
		error_set(error, "%s: cannot write: %s", path, strerror(errno));
		goto done;
	}
	for (size_t i = first; i < n; i++)
		if (lefts[i].world == id && lefts[i].path[0])
			unlink(lefts[i].path);
	rv = failed ? -1 : 1;
done:
	free(bytes);
	writer_free(&facts);
	trace_free(&all);
	trace_free(&canonical);
	return rv;
}

int salvage_folder(const char *folder, struct error *error)
{
	struct left *lefts;
	size_t n;
	int made = 0, rv = list(folder, &lefts, &n, error);
	for (size_t i = 0; i < n; i++) {
		if (lefts[i].done)
			continue;
		int one = world(folder, lefts, n, i, error);
		if (one < 0)
			rv = -1;
		else
			made += one;
		lefts[i].done = true;
	}
	free(lefts);
	return rv < 0 ? -1 : made;
}
