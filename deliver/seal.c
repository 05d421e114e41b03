/* SPDX-License-Identifier: BSD-3-Clause
 * seal - a raw trace into the file that is kept
 */
#include "deliver/seal.h"

#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "archive/metadata.h"
#include "merge/slim.h"
#include "trace/base/budget.h"

#define CHUNKS_MAX 64

/* Why not all ranks came to MPI_Finalize, or did not find each other there. */
static const char *reason(const struct facts *all)
{
	const char *ending = facts_get(all, "ending"); /* what Slurm or the kernel said */

	if (facts_number(all, "aborted", 0) > 0)
		return "abort";
	if (ending)
		return ending;
	if (facts_number(all, "signal", 0) > 0)
		return "signal";
	return facts_number(all, "ranks_unfinished", 0) > 0 ? "exit" : "deadline";
}

/* A part is known by the folder that it comes from, so that it is joined once. */
static void add_part(struct facts *all)
{
	const char *spool = facts_get(all, "spool"), *slash = spool ? strrchr(spool, '/') : NULL;

	if (slash && slash[1])
		facts_set(all, "part", slash + 1);
}

char *seal_describe(const struct container *raw, const struct facts *job, bool *part, struct error *error)
{
	const struct chunk *own = container_find(raw, "FACT");
	struct facts all = {0};
	char *text = NULL;

	/* The tracer's facts, then the job's over them. */
	if (own && facts_decode(&all, (const char *)own->data, own->size, container_name(raw), error))
		goto done;
	for (size_t i = 0; i < job->count; i++)
		facts_set(&all, job->items[i].name, job->items[i].value);
	facts_set(&all, "spoor_version", PACKAGE_VERSION);
	*part = facts_number(&all, "ranks_missing", 0) > 0;
	if (facts_number(&all, "partial", 0) > 0)
		facts_set(&all, "reason", reason(&all));
	if (*part)
		add_part(&all);
	text = all.failed || job->failed ? NULL : metadata_encode(&all);
	if (!text)
		error_set(error, "%s: no memory for the metadata", container_name(raw));
done:
	facts_clear(&all);
	return text;
}

/* A lossy trace that is larger than it may be gives up more (merge/slim.h). One that cannot be read stays as it is. */
static int make_slim(const struct container *raw, const struct chunk *meta, struct sealed *sealed)
{
	struct budget own = {.memory = BUDGET_MEMORY, .steps = BUDGET_STEPS, .grows = true};
	struct error error = {""};
	struct trace t;
	int rv = 0;

	if (!container_find(raw, "LOSS"))
		return 0;
	budget_begin(&own);
	bool good = trace_decode(&t, raw, &error) == 0;
	budget_end(&own);
	if (good)
		rv = slim_encode(&t, meta, &codec_zstd, &sealed->bytes, &sealed->size);
	trace_free(&t);
	return rv;
}

static int seal(const struct container *raw, const struct facts *job, struct sealed *sealed, struct error *error)
{
	struct chunk chunks[CHUNKS_MAX] = {{.id = "META"}};
	size_t n = 1;

	if (container_count(raw) >= CHUNKS_MAX)
		return error_set(error, "%s: %zu chunks are more than a raw trace has", container_name(raw),
		                 container_count(raw));
	char *metadata = seal_describe(raw, job, &sealed->part, error);
	if (!metadata)
		return -1;
	chunks[0].data = (const uint8_t *)metadata;
	chunks[0].size = strlen(metadata);
	for (size_t i = 0; i < container_count(raw); i++) {
		const struct chunk *chunk = container_at(raw, i);
		if (strcmp(chunk->id, "FACT") && strcmp(chunk->id, "META")) /* what they say is in the metadata */
			chunks[n++] = *chunk;
	}
	int rv = container_encode(chunks, n, container_needs(raw), &codec_zstd, &sealed->bytes, &sealed->size);
	if (!rv)
		rv = make_slim(raw, chunks, sealed);
	if (rv)
		error_set(error, "%s: no memory to compress the trace", container_name(raw));
	free(metadata);
	return rv;
}

int seal_trace(const char *path, const struct facts *job, struct sealed *sealed, struct error *error)
{
	struct container *raw = NULL;

	*sealed = (struct sealed){0};
	int rv = container_open(&raw, path, &codec_zstd, error) ? -1 : seal(raw, job, sealed, error);
	container_destroy(raw);
	return rv;
}

int seal_bytes(const char *name, const void *bytes, size_t size, const struct facts *job, struct sealed *sealed,
               struct error *error)
{
	struct container *raw = NULL;

	*sealed = (struct sealed){0};
	int rv = container_parse(&raw, name, bytes, size, &codec_zstd, error) ? -1 : seal(raw, job, sealed, error);
	container_destroy(raw);
	return rv;
}
