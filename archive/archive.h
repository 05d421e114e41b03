/* SPDX-License-Identifier: BSD-3-Clause
 * archive - the dated store: ARCHIVE/YYYY/MM/DD/JOB.STEP.N.spoor
 *
 * Everybody whose job was traced can add files, so what is here is untrusted: a file whose metadata says another job than its name,
 * or another user than its owner, is damaged, and an exit note counts only if the owner of the trace wrote it.
 */
#ifndef SPOOR_ARCHIVE_H
#define SPOOR_ARCHIVE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/error.h"

/* What a trace must be to be listed; NULL, or 0 for times, is no condition. Texts are globs; exe is matched with the path of the
 * executable and with its last component; state without regard to case. */
struct archive_filter {
	const char *user, *state, *exe;
	int64_t since, until; /* start of the trace, seconds since 1970 */
};

struct archive_entry {
	char *path;
	char *name;       /* "123.0.0": the file's name without its ending */
	uint64_t size;    /* bytes */
	json_t *metadata; /* an object (doc/metadata.md), with the exit notes of other nodes merged into it */
	unsigned long uid;
};

struct archive_list {
	struct archive_entry *entries; /* by start */
	size_t count;
	size_t unreadable; /* files that are not for us to read */
	size_t damaged;    /* files that are not what they should be; each was told on stderr */
};

/* Lists the archive. Returns 0, or -1 with error set (the folder cannot be read, or memory is short). The caller frees the list. */
int archive_read(struct archive_list *list, const char *archive, const struct archive_filter *filter, struct error *error);
void archive_list_free(struct archive_list *list);

/* Metadata, with a default for what is not there or is of another type. Valid as long as the metadata. */
const char *metadata_text(const json_t *metadata, const char *key, const char *otherwise);
int64_t metadata_number(const json_t *metadata, const char *key, int64_t otherwise);

/* The site's archive: SPOOR_ARCHIVE of the environment, or that of the policy (SPOOR_POLICY, or where it is installed), or the one that
 * is built in. Returns 0, or -1 with error set. */
int archive_default(char *path, size_t size, struct error *error);

/* The path of a trace: of a file as it is; of "JOB", "JOB.STEP" or "JOB.STEP.N" in the archive (NULL: the default). An existing
 * file wins. Returns 0, or -1 with error set: there is none, or there are several (which are named). */
int archive_resolve(const char *file_or_job, const char *archive, char *path, size_t size, struct error *error);

#endif
