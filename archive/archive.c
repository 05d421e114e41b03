/* SPDX-License-Identifier: BSD-3-Clause
 * archive - the dated store
 */
#include "archive/archive.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "archive/codec_zstd.h"
#include "trace/container.h"

#define PATH_SIZE 4096

/* --- walking the days --- */

static bool is_number(const char *name, size_t digits)
{
	return strlen(name) == digits && strspn(name, "0123456789") == digits;
}

/* The entries of a folder that are numbers of so many digits (0: all that do not begin with a dot), sorted. */
static char **folder_names(const char *path, size_t digits, size_t *count)
{
	char **names = NULL;
	struct dirent **entries = NULL;

	*count = 0;
	int n = scandir(path, &entries, NULL, alphasort);
	if (n > 0)
		names = calloc((size_t)n, sizeof *names);
	for (int i = 0; i < n; i++) {
		bool wanted = digits ? is_number(entries[i]->d_name, digits) : entries[i]->d_name[0] != '.';
		if (names && wanted && (names[*count] = strdup(entries[i]->d_name)))
			++*count;
		free(entries[i]);
	}
	free(entries);
	return names;
}

/* first_day: "YYYY/MM/DD"; days before it are skipped. level: 0 years, 1 months, 2 days, 3 files; last: what is visited, 2 or 3. */
static int walk(const char *folder, const char *day, const char *first_day, int level, int last, archive_visit *visit, void *context)
{
	static const size_t digits[] = {4, 2, 2, 0};
	char path[PATH_SIZE], here[16];
	size_t count;
	int rv = 0;

	char **names = folder_names(folder, digits[level], &count);
	for (size_t i = 0; i < count; i++) {
		if (rv || (size_t)snprintf(path, sizeof path, "%s/%s", folder, names[i]) >= sizeof path) {
			free(names[i]);
			continue;
		}
		if (level == 3) {
			rv = visit(context, path, names[i]);
		} else {
			snprintf(here, sizeof here, "%s%s%.4s", day, level ? "/" : "", names[i]);
			if (strncmp(here, first_day, strlen(here)) < 0)
				; /* before */
			else if (level == last)
				rv = visit(context, path, here);
			else
				rv = walk(path, here, first_day, level + 1, last, visit, context);
		}
		free(names[i]);
	}
	free(names);
	return rv;
}

static int walk_archive(const char *archive, int64_t since, int last, archive_visit *visit, void *context, struct error *error)
{
	char first_day[16] = "";
	time_t t = (time_t)since;
	struct tm tm;

	if (access(archive, R_OK | X_OK))
		return error_set(error, "%s: the archive cannot be read: %s", archive, strerror(errno));
	if (since > 0 && localtime_r(&t, &tm))
		strftime(first_day, sizeof first_day, "%Y/%m/%d", &tm);
	return walk(archive, "", first_day, 0, last, visit, context);
}

int archive_days(const char *archive, int64_t since, archive_visit *visit, void *context, struct error *error)
{
	return walk_archive(archive, since, 2, visit, context, error);
}

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), e = strlen(ending);
	return n > e && !strcmp(name + n - e, ending);
}

/* --- metadata --- */

const char *metadata_text(const json_t *metadata, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(metadata, key));
	return text ? text : otherwise;
}

int64_t metadata_number(const json_t *metadata, const char *key, int64_t otherwise)
{
	const json_t *number = json_object_get(metadata, key);
	return json_is_number(number) ? (int64_t)json_number_value(number) : otherwise;
}

static json_t *parse_metadata(const char *path, const uint8_t *text, size_t n, struct error *error)
{
	json_error_t json;
	json_t *metadata = json_loadb((const char *)text, n, JSON_REJECT_DUPLICATES, &json);

	if (metadata && json_is_object(metadata))
		return metadata;
	error_set(error, "%s: chunk META: %s", path, metadata ? "not an object" : json.text);
	json_decref(metadata);
	return NULL;
}

json_t *metadata_read(const char *path, const char *name, unsigned long uid, struct error *error)
{
	uint8_t *text = NULL;
	size_t n = 0;

	int rv = container_read_chunk(path, "META", &codec_zstd, &text, &n, error);
	if (rv) {
		if (rv > 0)
			error_set(error, "%s: has no metadata (chunk META)", path);
		return NULL;
	}
	json_t *metadata = parse_metadata(path, text, n, error);
	free(text);
	if (metadata && metadata_number(metadata, "job", -1) != strtoll(name, NULL, 10))
		error_set(error, "%s: its metadata is of job %lld", path, (long long)metadata_number(metadata, "job", -1));
	else if (metadata && metadata_number(metadata, "uid", (int64_t)uid) != (int64_t)uid)
		error_set(error, "%s: its metadata is of user %lld, the file of user %lu", path,
		          (long long)metadata_number(metadata, "uid", -1), uid);
	else
		return metadata;
	json_decref(metadata);
	return NULL;
}

/* --- where it is, and which file is meant --- */

/* Only one key of the policy: the rest may be wrong, and it is not for us to say. */
static json_t *policy_read(void)
{
	const char *file = getenv("SPOOR_POLICY");
	return json_load_file(file && *file ? file : SPOOR_SYSCONFDIR "/policy.json", 0, NULL);
}

int archive_default(char *path, size_t size, struct error *error)
{
	const char *folder = getenv("SPOOR_ARCHIVE");
	json_t *policy = NULL;

	if (!folder || !*folder) {
		policy = policy_read();
		folder = metadata_text(policy, "archive", SPOOR_LOCALSTATEDIR "/lib/spoor/archive");
	}
	int n = snprintf(path, size, "%s", folder);
	json_decref(policy);
	return n < 0 || (size_t)n >= size ? error_set(error, "the archive's path is too long") : 0;
}

gid_t archive_group(void)
{
	json_t *policy = policy_read();
	const char *name = metadata_text(policy, "admin_group", "");
	const struct group *group = *name ? getgrnam(name) : NULL;
	json_decref(policy);
	return group ? group->gr_gid : 0;
}

struct search {
	const char *wanted;
	char path[PATH_SIZE];
	char names[256]; /* of all that were found, for the message */
	size_t count;
};

/* wanted is the name, or a part of it that ends at a dot. */
static int search_visit(void *context, const char *path, const char *name)
{
	struct search *s = context;
	size_t n = strlen(s->wanted), used = strlen(s->names);

	if (!ends_with(name, ".spoor") || strncmp(name, s->wanted, n) || name[n] != '.')
		return 0;
	snprintf(s->path, sizeof s->path, "%s", path);
	snprintf(s->names + used, sizeof s->names - used, "%s%.*s", s->count ? ", " : "",
	         (int)(strlen(name) - strlen(".spoor")), name);
	s->count++;
	return 0;
}

static bool is_job(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	return digits > 0 && digits < 12 && (!text[digits] || text[digits] == '.') && !strchr(text, '/') &&
	       !ends_with(text, ".spoor");
}

int archive_resolve(const char *file_or_job, const char *archive, char *path, size_t size, struct error *error)
{
	struct search s = {.wanted = file_or_job};
	char folder[PATH_SIZE];

	if (!is_job(file_or_job) || access(file_or_job, F_OK) == 0) {
		if (strlen(file_or_job) >= size)
			return error_set(error, "%.64s...: the path is too long", file_or_job);
		strcpy(path, file_or_job);
		return 0;
	}
	if (archive ? snprintf(folder, sizeof folder, "%s", archive) >= PATH_SIZE
	            : archive_default(folder, sizeof folder, error) != 0)
		return error_set(error, "the archive's path is too long");
	if (walk_archive(folder, 0, 3, search_visit, &s, error))
		return -1;
	if (s.count == 0)
		return error_set(error, "%s: no such file, and no trace of such a job in the archive %s", file_or_job, folder);
	if (s.count > 1)
		return error_set(error, "%s: there are %zu traces, say which: %s%s", file_or_job, s.count, s.names,
		                 strlen(s.names) + 1 >= sizeof s.names ? "..." : "");
	if (strlen(s.path) >= size)
		return error_set(error, "%s: the path is too long", file_or_job);
	strcpy(path, s.path);
	return 0;
}
