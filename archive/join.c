/* SPDX-License-Identifier: BSD-3-Clause
 * join - the parts of one MPI_COMM_WORLD that several nodes delivered become one trace: traces and metadata
 * (join_archive.c: in the archive)
 */
#include "archive/join.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "archive/metadata.h"
#include "merge/merge.h"
#include "merge/slim.h"
#include "merge/world.h"
#include "trace/base/regular.h"
#include "trace/file/container.h"
#include "trace/model/host.h"
#include "trace/model/stream.h"
#include "trace/model/unended.h"

/* Why a trace is partial, that which says most first: the others are what it did to the other nodes. */
static const char *const reasons[] = {"abort",     "oom",    "node-lost", "time-limit", "preempted",
                                      "cancelled", "signal", "exit",      "deadline"};
#define REASONS (sizeof reasons / sizeof reasons[0])

int join_init(struct join *j)
{
	*j = (struct join){.base_rank = UINT32_MAX, .parts = json_array()};
	return trace_init(&j->trace) != 0 || !j->parts ? -1 : 0;
}

void join_free(struct join *j)
{
	trace_free(&j->trace);
	json_decref(j->base);
	json_decref(j->parts);
	json_decref(j->worst);
	*j = (struct join){0};
}

static const char *worse_reason(const char *known, const char *found)
{
	for (size_t i = 0; i < REASONS; i++)
		if ((known && !strcmp(known, reasons[i])) || (found && !strcmp(found, reasons[i])))
			return reasons[i];
	return NULL;
}

static void note_metadata(struct join *j, const json_t *m)
{
	const json_t *parts = json_object_get(m, "parts"), *part = json_object_get(m, "part");
	int64_t start = metadata_number(m, "start_ns", 0), end = metadata_number(m, "end_ns", 0),
		unfinished = metadata_number(m, "ranks_unfinished", 0);
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)parts, i, one) if (json_is_string(one)) json_array_append(j->parts, one);
	if (json_is_string(part))
		json_array_append(j->parts, (json_t *)part);
	if (unfinished > 0) /* anybody may have written it; of more ranks than there are nobody speaks */
		j->unfinished += unfinished < UINT32_MAX ? unfinished : UINT32_MAX;
	j->start_ns = start > 0 && (j->start_ns == 0 || start < j->start_ns) ? start : j->start_ns;
	j->end_ns = end > j->end_ns ? end : j->end_ns;
	j->reason = worse_reason(j->reason, metadata_text(m, "reason", NULL));
	if (!j->worst || metadata_severity(m) > metadata_severity(j->worst)) {
		json_decref(j->worst);
		j->worst = json_incref((json_t *)m);
	}
}

int join_add_take(struct join *j, const char *name, struct trace *t, json_t *metadata, struct error *error)
{
	struct error inner = {""};
	const char *world = metadata_text(metadata, "world", "");
	int rv = -1;

	if (rankmap_empty(&t->events)) {
		error_set(error, "%s: a trace without ranks", name);
	} else if (j->count > 0 &&
	           (strcmp(world, metadata_text(j->base, "world", "")) != 0 || t->size != j->trace.size)) {
		error_set(error,
		          "%s: is of another MPI_COMM_WORLD than what came before it (%s of %u ranks, not %s of %u)",
		          name, *world ? world : "unknown", t->size, metadata_text(j->base, "world", "unknown"),
		          j->trace.size);
	} else if (j->count == 0) {
		trace_free(&j->trace);
		j->trace = *t;
		*t = (struct trace){.size = 0};
		rv = 0;
	} else if ((rv = merge_into(&j->trace, t, &inner)) != 0) {
		error_set(error, "%s: %s", name, inner.text);
	}
	uint32_t first =
		rv == 0 ? (j->count == 0 ? rankmap_first(&j->trace.events) : rankmap_first(&t->events)) : UINT32_MAX;
	if (rv == 0) {
		note_metadata(j, metadata);
		if (first < j->base_rank) {
			json_decref(j->base);
			j->base = json_incref(metadata);
			j->base_rank = first;
		}
		j->count++;
	}
	trace_free(t);
	json_decref(metadata);
	return rv;
}

int join_add_file(struct join *j, const char *path, int64_t owner, struct error *error)
{
	int fd = owner == REGULAR_ANYBODY ? regular_open_named(path, NULL, error)
	                                  : regular_open(AT_FDCWD, path, owner, NULL, error);
	struct container *c = NULL;
	struct trace t = {.size = 0};

	if (fd < 0 || trace_take(&t, &c, fd, path, &codec_zstd, error)) {
		trace_free(&t);
		container_destroy(c);
		return -1;
	}
	const struct chunk *chunk = container_find(c, "META");
	json_t *m = chunk ? metadata_parse(path, chunk->data, chunk->size, error) : json_object();
	container_destroy(c);
	if (!m) {
		trace_free(&t);
		return -1;
	}
	return join_add_take(j, path, &t, m, error);
}

/* --- metadata of the whole --- */

struct host_list {
	json_t *hosts, *counts;
};

static void add_host(void *context, const char *name, uint64_t ranks)
{
	struct host_list *l = context;
	json_t *text = json_string(name);
	json_array_append_new(l->hosts, text ? text : json_string("?"));
	json_array_append_new(l->counts, json_integer((json_int_t)ranks));
}

static void set_metadata_hosts(json_t *m, const struct trace *t)
{
	struct host_list l = {json_array(), json_array()};
	host_each(t, add_host, &l);
	if (json_array_size(l.hosts) <= HOSTS_LISTED) {
		json_object_set(m, "hosts", l.hosts);
		json_object_set(m, "ranks_per_node", l.counts);
	} else {
		json_object_del(m, "hosts");
		json_object_del(m, "ranks_per_node");
	}
	json_decref(l.hosts);
	json_decref(l.counts);
}

static void set_end(json_t *m, int64_t end)
{
	int64_t start = metadata_number(m, "start_ns", -1);

	if (end <= 0 || start < 0 || end < start)
		return;
	json_object_set_new(m, "end_ns", json_integer(end));
	metadata_set_times(m, start, end);
}

static void set_partial(json_t *m, const struct join *j, uint64_t missing)
{
	static const char *const keys[] = {"partial", "reason", "ranks_missing", "ranks_unfinished",
	                                   "part",    "parts",  "unended"};

	size_t length;
	const char *unended = unended_function(&j->trace, &length);

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		json_object_del(m, keys[i]);
	if (json_array_size(j->parts) > 0)
		json_object_set(m, "parts", j->parts);
	if (missing == 0 && j->unfinished == 0)
		return;
	json_object_set_new(m, "partial", json_integer(1));
	json_object_set_new(m, "reason", json_string(j->reason ? j->reason : "exit"));
	if (length)
		json_object_set_new(m, "unended", json_stringn(unended, length));
	json_object_set_new(m, "ranks_missing", json_integer((json_int_t)missing));
	json_object_set_new(m, "ranks_unfinished", json_integer(j->unfinished));
}

static int compare_texts(const void *a, const void *b)
{
	json_t *const *x = a, *const *y = b;
	return strcmp(json_string_value(*x), json_string_value(*y));
}

/* In ascending order, so that the order of joining does not show. */
static int sort_parts(json_t **parts)
{
	size_t n = json_array_size(*parts), i;
	json_t **items = calloc(n + 1, sizeof *items), *one, *sorted = json_array();

	json_array_foreach(*parts, i, one) if (items) items[i] = one;
	if (items)
		qsort(items, n, sizeof *items, compare_texts);
	for (i = 0; items && i < n; i++)
		json_array_append(sorted, items[i]);
	free(items);
	if (json_array_size(sorted) != n) {
		json_decref(sorted);
		return -1;
	}
	json_decref(*parts);
	*parts = sorted;
	return 0;
}

int join_encode(struct join *j, uint8_t **bytes, size_t *size, uint64_t *missing, struct error *error)
{
	struct chunk chunk = {.id = "META"};
	int rv = -1;

	*bytes = NULL;
	if (j->count == 0)
		return error_set(error, "there is nothing to merge");
	json_t *m = json_deep_copy(j->base);
	if (!m)
		return error_set(error, "no memory for the metadata");
	*missing = j->trace.size - stream_ranks(&j->trace, &j->trace.events);
	if (j->count > 1) {
		if (sort_parts(&j->parts) != 0) {
			error_set(error, "no memory for the metadata");
			goto done;
		}
		set_metadata_hosts(m, &j->trace);
		set_end(m, j->end_ns);
		if (j->worst)
			metadata_take_worse(m, j->worst);
		set_partial(m, j, *missing);
		metadata_set_world(m);
		if (stream_threads(&j->trace) > 1)
			json_object_set_new(m, "threads", json_integer(stream_threads(&j->trace)));
		unsigned frames = (unsigned)metadata_number(m, "site_tolerance", 0);
		if (merge_finish_near(&j->trace, frames, error) != 0)
			goto done;
	}
	char *text = json_object_size(m) ? metadata_dump(m) : NULL;
	if (!text && json_object_size(m)) {
		error_set(error, "no memory for the metadata");
		goto done;
	}
	if (text) {
		chunk.data = (const uint8_t *)text;
		chunk.size = strlen(text);
	}
	rv = trace_encode(&j->trace, &chunk, text ? 1 : 0, &codec_zstd, bytes, size);
	if (rv == 0 && text)
		rv = slim_encode(&j->trace, &chunk, &codec_zstd, bytes, size);
	if (rv != 0)
		error_set(error, "no memory to encode the trace");
	free(text);
done:
	json_decref(m);
	return rv;
}
