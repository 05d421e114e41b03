/* SPDX-License-Identifier: BSD-3-Clause
 * seal - a raw trace into the file that is kept
 */
#include "deliver/seal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/codec_zstd.h"
#include "archive/metadata.h"
#include "deliver/attempt.h"
#include "deliver/usage.h"
#include "trace/base/regular.h"

#define CHUNKS_MAX 64
#define NOTES_MAX  5 /* ranks that have the same trouble say the same */

/* --- what is in the folder --- */

static int add_spool_file(struct spool_file **files, size_t *count, const char *folder, const char *name, int64_t time)
{
	struct spool_file *more = realloc(*files, (*count + 1) * sizeof **files);
	char *path = NULL;

	if (more)
		*files = more;
	if (!more || asprintf(&path, "%s/%s", folder, name) < 0)
		return -1;
	more[(*count)++] = (struct spool_file){path, time};
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct spool_file *x = a, *y = b;
	return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : strcmp(x->path, y->path);
}

void spool_trim(const char *folder)
{
	DIR *dir = regular_open_folder(AT_FDCWD, folder);
	size_t names = 0, worlds = 0;

	while (dir && names <= SPOOL_NAMES && readdir(dir))
		names++;
	if (dir)
		rewinddir(dir);
	for (struct dirent *e; dir && names > SPOOL_NAMES && (e = readdir(dir));) {
		bool world = regular_name_is(e->d_name, "world-", ".spoor") && worlds++ < SPOOL_NAMES;
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !attempt_is_own(e->d_name) && !world)
			usage_remove(dirfd(dir), e->d_name);
	}
	if (dir)
		closedir(dir);
}

int spool_read(struct spool *spool, const char *folder, struct error *error)
{
	int rv = 0;

	DIR *dir = regular_open_folder(AT_FDCWD, folder);
	if (!dir) {
		return errno == ENOENT ? 0 : error_set(error, "%s: cannot be read: %s", folder, strerror(errno));
	}
	for (struct dirent *e; !rv && (e = readdir(dir));) {
		struct stat st;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || attempt_is_own(e->d_name) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		int64_t time = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
		if (S_ISREG(st.st_mode) && regular_name_is(e->d_name, "world-", ".spoor"))
			rv = add_spool_file(&spool->worlds, &spool->world_count, folder, e->d_name, time);
		else if (S_ISREG(st.st_mode) && regular_name_is(e->d_name, "rank-", ".arena"))
			rv = add_spool_file(&spool->arenas, &spool->arena_count, folder, e->d_name, time);
		else if (S_ISREG(st.st_mode) && regular_name_is(e->d_name, "note-", ""))
			rv = add_spool_file(&spool->notes, &spool->note_count, folder, e->d_name, time);
		else
			rv = add_spool_file(&spool->rest, &spool->rest_count, folder, e->d_name, time);
	}
	closedir(dir);
	if (rv)
		error_set(error, "%s: out of memory", folder);
	if (spool->world_count)
		qsort(spool->worlds, spool->world_count, sizeof *spool->worlds, compare_times);
	return rv;
}

static void free_files(struct spool_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(files[i].path);
	free(files);
}

void spool_free(struct spool *spool)
{
	free_files(spool->worlds, spool->world_count);
	free_files(spool->arenas, spool->arena_count);
	free_files(spool->notes, spool->note_count);
	free_files(spool->rest, spool->rest_count);
	*spool = (struct spool){0};
}

/* The text of a note, on one line, printable. */
static void tell_note(const char *path)
{
	char text[400];
	int fd = regular_open(AT_FDCWD, path, geteuid(), NULL, NULL);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			text[i] = i + 1 < n ? ' ' : '\0';
	}
	text[n] = '\0';
	fprintf(stderr, "tracer: %s\n", text);
}

void spool_tell_notes(const struct spool *spool)
{
	for (size_t i = 0; i < spool->note_count; i++) {
		if (i < NOTES_MAX)
			tell_note(spool->notes[i].path);
		unlink(spool->notes[i].path);
	}
	if (spool->note_count > NOTES_MAX)
		fprintf(stderr, "tracer: and %zu more such notes\n", spool->note_count - NOTES_MAX);
}

/* --- sealing --- */

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
	int rv = container_encode(chunks, n, &codec_zstd, &sealed->bytes, &sealed->size);
	if (rv)
		error_set(error, "%s: no memory to compress the trace", container_name(raw));
	free(metadata);
	return rv;
}

int seal_trace(const char *path, const struct facts *job, struct sealed *sealed, struct error *error)
{
	struct container *raw = NULL;

	*sealed = (struct sealed){NULL};
	int rv = container_open(&raw, path, &codec_zstd, error) ? -1 : seal(raw, job, sealed, error);
	container_destroy(raw);
	return rv;
}

int seal_bytes(const char *name, const void *bytes, size_t size, const struct facts *job, struct sealed *sealed,
               struct error *error)
{
	struct container *raw = NULL;

	*sealed = (struct sealed){NULL};
	int rv = container_parse(&raw, name, bytes, size, &codec_zstd, error) ? -1 : seal(raw, job, sealed, error);
	container_destroy(raw);
	return rv;
}
