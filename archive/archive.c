/* SPDX-License-Identifier: BSD-3-Clause
 * archive - the dated store
 */
#include "archive/archive.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/codec_zstd.h"
#include "trace/container.h"

#define PATH_SIZE 4096

/* --- walking the days --- */

/* Called for every file of the archive whose name has the ending that is looked for. Not 0 ends the walk. */
typedef int visit_function(void *context, const char *path, const char *name);

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

/* first_day: "YYYY/MM/DD"; days before it are skipped. level: 0 years, 1 months, 2 days, 3 files. */
static int walk(const char *folder, const char *day, const char *first_day, int level, visit_function *visit, void *context)
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
			if (strncmp(here, first_day, strlen(here)) >= 0)
				rv = walk(path, here, first_day, level + 1, visit, context);
		}
		free(names[i]);
	}
	free(names);
	return rv;
}

static int walk_archive(const char *archive, int64_t since, visit_function *visit, void *context, struct error *error)
{
	char first_day[16] = "";
	time_t t = (time_t)since;
	struct tm tm;

	if (access(archive, R_OK | X_OK))
		return error_set(error, "%s: the archive cannot be read: %s", archive, strerror(errno));
	if (since > 0 && localtime_r(&t, &tm))
		strftime(first_day, sizeof first_day, "%Y/%m/%d", &tm);
	return walk(archive, "", first_day, 0, visit, context);
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

/* A file that is not ours to read is normal; one that is damaged is told. */
static void damaged(struct archive_list *list, const char *path, const char *what)
{
	list->damaged++;
	fprintf(stderr, "spoor: %s%s%s\n", what ? path : "", what ? ": " : "", what ? what : path);
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

/* The metadata of a file of the archive, checked against the file's name and owner. */
static json_t *read_metadata(const char *path, const char *name, unsigned long uid, struct error *error)
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

/* --- listing --- */

static bool glob_matches(const char *glob, const char *value)
{
	return !glob || !fnmatch(glob, value, 0);
}

static bool passes(const struct archive_filter *f, const json_t *metadata)
{
	const char *exe = metadata_text(metadata, "exe", ""), *slash = strrchr(exe, '/');
	int64_t start = metadata_number(metadata, "start_ns", 0) / 1000000000;

	return glob_matches(f->user, metadata_text(metadata, "user", "")) &&
	       (glob_matches(f->exe, exe) || glob_matches(f->exe, slash ? slash + 1 : exe)) &&
	       (!f->state || !strcasecmp(f->state, metadata_text(metadata, "state", ""))) &&
	       (!f->since || start >= f->since) && (!f->until || start <= f->until);
}

/* What is gathered on the walk. */
struct gathering {
	struct archive_list *list;
	struct note {
		json_t *note;
		unsigned long uid;
	} *notes;
	size_t note_count;
	bool no_memory;
};

static void add_entry(struct gathering *g, const char *path, const char *name, const struct stat *st)
{
	struct archive_list *list = g->list;
	struct error error = {""};

	json_t *metadata = read_metadata(path, name, (unsigned long)st->st_uid, &error);
	if (!metadata) {
		damaged(list, error.text, NULL);
		return;
	}
	struct archive_entry *entries = realloc(list->entries, (list->count + 1) * sizeof *entries);
	if (entries)
		list->entries = entries;
	struct archive_entry entry = {strdup(path), strndup(name, strlen(name) - strlen(".spoor")), (uint64_t)st->st_size,
	                              metadata, (unsigned long)st->st_uid};
	if (entries && entry.path && entry.name) {
		list->entries[list->count++] = entry;
		return;
	}
	free(entry.path);
	free(entry.name);
	json_decref(metadata);
	g->no_memory = true;
}

static void add_note(struct gathering *g, const char *path, const struct stat *st)
{
	json_error_t json;

	if (st->st_size > 4096) {
		damaged(g->list, path, "an exit note of more than 4096 bytes");
		return;
	}
	json_t *note = json_load_file(path, 0, &json);
	if (!json_is_object(note)) {
		damaged(g->list, path, note ? "not an object" : json.text);
		json_decref(note);
		return;
	}
	struct note *notes = realloc(g->notes, (g->note_count + 1) * sizeof *notes);
	if (!notes) {
		json_decref(note);
		g->no_memory = true;
		return;
	}
	g->notes = notes;
	g->notes[g->note_count++] = (struct note){note, (unsigned long)st->st_uid};
}

static int gather(void *context, const char *path, const char *name)
{
	struct gathering *g = context;
	struct stat st;
	bool trace = ends_with(name, ".spoor"), note = ends_with(name, ".exit");

	if ((!trace && !note) || !isdigit((unsigned char)name[0]))
		return 0;
	if (lstat(path, &st))
		return 0; /* removed while we look */
	if (!S_ISREG(st.st_mode)) {
		damaged(g->list, path, "not a regular file");
	} else if (access(path, R_OK)) {
		g->list->unreadable += trace;
	} else if (trace) {
		add_entry(g, path, name, &st);
	} else {
		add_note(g, path, &st);
	}
	return g->no_memory;
}

/* As in the plugin: a signal is worse than any exit code. */
static int64_t severity(const json_t *object)
{
	int64_t signal = metadata_number(object, "signal", 0);
	return signal > 0 ? 256 + signal : metadata_number(object, "exit_code", 0);
}

static void merge_note(json_t *metadata, json_t *note)
{
	static const char *const keys[] = {"exit_code", "signal", "exit_task"};

	if (severity(note) <= severity(metadata))
		return;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		if (json_is_integer(json_object_get(note, keys[i])))
			json_object_set(metadata, keys[i], json_object_get(note, keys[i]));
	}
	json_object_set_new(metadata, "state", json_string(severity(metadata) > 256 ? "KILLED" : "FAILED"));
}

static void merge_notes(const struct gathering *g)
{
	for (size_t i = 0; i < g->note_count; i++) {
		const struct note *n = &g->notes[i];
		for (size_t k = 0; k < g->list->count; k++) {
			struct archive_entry *e = &g->list->entries[k];
			if (e->uid == n->uid &&
			    metadata_number(e->metadata, "job", -1) == metadata_number(n->note, "job", -2) &&
			    !strcmp(metadata_text(e->metadata, "step", ""), metadata_text(n->note, "step", "?")))
				merge_note(e->metadata, n->note);
		}
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct archive_entry *x = a, *y = b;
	int64_t s = metadata_number(x->metadata, "start_ns", 0), t = metadata_number(y->metadata, "start_ns", 0);
	return s != t ? (s > t) - (s < t) : strcmp(x->name, y->name);
}

static void free_entry(struct archive_entry *e)
{
	free(e->path);
	free(e->name);
	json_decref(e->metadata);
}

/* After the notes are merged: they decide about the state. */
static void keep_what_passes(struct archive_list *list, const struct archive_filter *filter)
{
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++) {
		if (passes(filter, list->entries[i].metadata))
			list->entries[kept++] = list->entries[i];
		else
			free_entry(&list->entries[i]);
	}
	list->count = kept;
}

int archive_read(struct archive_list *list, const char *archive, const struct archive_filter *filter, struct error *error)
{
	struct gathering g = {.list = list};

	*list = (struct archive_list){0};
	int rv = walk_archive(archive, filter->since, gather, &g, error);
	if (g.no_memory)
		rv = error_set(error, "%s: out of memory", archive);
	merge_notes(&g);
	for (size_t i = 0; i < g.note_count; i++)
		json_decref(g.notes[i].note);
	free(g.notes);
	if (rv) {
		archive_list_free(list);
		return -1;
	}
	keep_what_passes(list, filter);
	if (list->count)
		qsort(list->entries, list->count, sizeof *list->entries, compare_starts);
	return 0;
}

void archive_list_free(struct archive_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free_entry(&list->entries[i]);
	free(list->entries);
	*list = (struct archive_list){0};
}

/* --- where it is, and which file is meant --- */

int archive_default(char *path, size_t size, struct error *error)
{
	const char *folder = getenv("SPOOR_ARCHIVE"), *file = getenv("SPOOR_POLICY");
	json_t *policy = NULL;

	if (!folder || !*folder) {
		/* Only this key: the rest may be wrong, and it is not for us to say. */
		policy = json_load_file(file && *file ? file : SPOOR_SYSCONFDIR "/policy.json", 0, NULL);
		folder = metadata_text(policy, "archive", SPOOR_LOCALSTATEDIR "/lib/spoor/archive");
	}
	int n = snprintf(path, size, "%s", folder);
	json_decref(policy);
	return n < 0 || (size_t)n >= size ? error_set(error, "the archive's path is too long") : 0;
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
	if (walk_archive(folder, 0, search_visit, &s, error))
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
