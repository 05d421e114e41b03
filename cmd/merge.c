/* SPDX-License-Identifier: BSD-3-Clause
 * merge - `spoor merge FILE... -o OUT`: arenas and traces of one MPI_COMM_WORLD into one trace
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/codec_zstd.h"
#include "archive/join.h"
#include "archive/privileges.h"
#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/progress.h"
#include "cmd/base/sink.h"
#include "cmd/base/stage.h"
#include "deliver/seal.h"
#include "deliver/salvage.h"
#include "trace/base/arena.h"
#include "trace/base/publish.h"
#include "trace/base/regular.h"
#include "trace/file/container.h"

struct merge {
	struct world world; /* of arenas and raw traces */
	bool any;           /* is there a world? */
	struct join join;   /* of sealed traces, and in the end of all */
};

static int merge_add_arena(struct merge *m, const char *path, struct error *error)
{
	struct arena a;
	uint64_t id;
	uint32_t rank;
	int rv = arena_open(&a, path, error);

	if (rv != 0)
		return rv == 1 ? 0 : -1;
	rv = world_identify(&a, path, &id, &rank, error);
	if (rv == 0 && !m->any) {
		m->any = true;
		world_free(&m->world);
		rv = world_init(&m->world, id);
	}
	if (rv == 0)
		rv = salvage_arena(&m->world, &a, path, error);
	else if (rv == 1)
		say_to(stderr, "spoor merge: %s: its process did not initialise MPI; left out\n", path);
	arena_close(&a);
	return rv < 0 ? -1 : 0;
}

static int merge_add_trace(struct merge *m, const char *path, struct error *error)
{
	struct container *c = NULL;
	struct facts f = {0};
	struct trace t;
	int rv = -1;

	if (trace_open(&t, &c, path, &codec_zstd, error)) {
		trace_free(&t);
		container_destroy(c);
		return -1;
	}
	const struct chunk *facts = container_find(c, "FACT");
	if (!facts) {
		trace_free(&t);
		container_destroy(c);
		return join_add_file(&m->join, path, REGULAR_ANYBODY, error);
	}
	if (!facts_decode(&f, (const char *)facts->data, facts->size, path, error)) {
		const char *world = facts_get(&f, "world");
		uint64_t id = world ? strtoull(world, NULL, 16) : 0;
		if (m->any && m->world.id != id) {
			error_set(error, "%s: is of another MPI_COMM_WORLD than what came before it", path);
		} else {
			rv = m->any ? 0 : (world_free(&m->world), world_init(&m->world, id));
			m->any = true;
			if (rv == 0)
				rv = world_add_trace(&m->world, &t, &f, error);
		}
	}
	facts_clear(&f);
	trace_free(&t);
	container_destroy(c);
	return rv;
}

static int merge_add_file(struct merge *m, const char *path, struct error *error)
{
	char magic[8] = "";
	int fd = regular_open_named(path, NULL, error);

	if (fd < 0)
		return -1;
	ssize_t n = read(fd, magic, sizeof magic);
	close(fd);
	if (n == (ssize_t)sizeof magic && !memcmp(magic, "spoorar", sizeof magic))
		return merge_add_arena(m, path, error);
	if (n == (ssize_t)sizeof magic && !memcmp(magic, "\x89SPOOR\r\n", sizeof magic))
		return merge_add_trace(m, path, error);
	return error_set(error, "%s: neither a trace nor an arena", path);
}

/* What arenas and raw traces made becomes a trace like the others. */
static int seal_world(struct merge *m, struct error *error)
{
	struct facts none = {0};
	struct container *raw = NULL;
	struct trace t = {.size = 0};
	uint8_t *bytes = NULL;
	size_t size;
	bool part;
	json_error_t json;
	int rv = -1;

	if (world_encode(&m->world, 0, &bytes, &size, error) ||
	    container_parse(&raw, "the arenas", bytes, size, NULL, error) || trace_decode(&t, raw, error))
		goto done;
	char *text = seal_describe(raw, &none, &part, error);
	json_t *metadata = text ? json_loads(text, JSON_REJECT_DUPLICATES, &json) : NULL;
	free(text);
	if (!metadata) {
		error_set(error, "the arenas' facts are no metadata");
		goto done;
	}
	rv = join_add_take(&m->join, "the arenas", &t, metadata, error);
done:
	trace_free(&t);
	container_destroy(raw);
	free(bytes);
	return rv;
}

static int merge_write(const char *output, bool force, const uint8_t *bytes, size_t size, struct error *error)
{
	mode_t mask = umask(0);

	umask(mask);
	if ((force ? publish_over : publish_file)(stage_path(output), 0666 & ~mask, bytes, size))
		return error_set(error, "%s: %s%s", output, strerror(errno),
		                 errno == EEXIST ? "; -f overwrites it" : "");
	return 0;
}

static int merge_files(char **files, int count, const char *output, bool force, bool quiet)
{
	struct merge m = {.any = false};
	struct progress progress;
	struct error error = {""};
	uint8_t *bytes = NULL;
	size_t size = 0;
	uint64_t missing = 0;
	int rv = join_init(&m.join) != 0 ? error_set(&error, "no memory") : 0;

	progress_begin(&progress, "merging", (uint64_t)count, quiet);
	for (int i = 0; i < count && rv == 0; i++) {
		rv = merge_add_file(&m, files[i], &error);
		progress_step(&progress, (uint64_t)i + 1);
	}
	if (rv == 0 && m.any)
		rv = seal_world(&m, &error);
	if (rv == 0)
		rv = join_encode(&m.join, &bytes, &size, &missing, &error);
	progress_end(&progress);
	if (rv == 0)
		rv = merge_write(output, force, bytes, size, &error);
	if (rv != 0)
		say_to(stderr, "spoor merge: %s\n", error.text);
	else if (missing)
		say_to(stderr, "spoor merge: %s: %" PRIu64 " of %" PRIu32 " ranks are missing\n", output, missing,
		       m.join.trace.size);
	free(bytes);
	world_free(&m.world);
	join_free(&m.join);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}

/* Root does not parse what users wrote: it becomes the one whose files they are. */
static int become_owner(char **files, int count)
{
	struct stat st, first = {.st_uid = 0};
	struct error error = {""};

	for (int i = 0; geteuid() == 0 && i < count; i++) {
		if (stat(files[i], &st) != 0 || st.st_uid == 0 || st.st_uid == first.st_uid)
			continue;
		if (first.st_uid != 0) {
			say_to(stderr, "spoor merge: %s: the files are of several users: name those of one\n",
			       files[i]);
			return -1;
		}
		first = st;
	}
	if (privileges_drop(first.st_uid, first.st_gid, &error) == 0)
		return 0;
	say_to(stderr, "spoor merge: %s\n", error.text);
	return -1;
}

int cmd_merge(int argc, char **argv)
{
	const char *output = NULL;
	bool force = false, quiet = false;
	const struct option_line lines[] = {
		OPTION_TEXT("output", 'o', "OUT", &output, "the trace; an existing file is not overwritten"),
		OPTION_FLAG("force", 'f', &force, "overwrite OUT"),
		OPTION_FLAG("quiet", 'q', &quiet, "no progress on the terminal"), OPTION_LIMIT, OPTION_END};
	const struct options options = {
		"spoor merge",
		"FILE...",
		"Merges the files of one MPI program's ranks into one trace: arenas that killed ranks left, parts of "
		"several nodes, raw traces. The result does not depend on the order of the files. Each rank must be in "
		"one of them only.",
		NULL,
		lines,
		1,
		-1,
		false};
	int status;

	if (!options_read(&options, argc, argv, &status))
		return status;
	if (!output)
		return options_wrong("spoor merge", "say with -o where the trace is to go");
	if (stage_begin("spoor merge", output, force) != 0 || become_owner(argv + optind, argc - optind) != 0)
		return CMD_FAILED;
	return merge_files(argv + optind, argc - optind, output, force, quiet);
}
