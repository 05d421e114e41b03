/* SPDX-License-Identifier: BSD-3-Clause
 * step_files - what is in a step's folder of the spool
 */
#include "deliver/step_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deliver/attempt.h"
#include "deliver/usage.h"
#include "trace/base/regular.h"

#define NOTES_MAX 5 /* different ones that are told: ranks that have the same trouble say the same */

static int add_step_file(struct step_file **files, size_t *count, const char *folder, const char *name, int64_t time)
{
	struct step_file *more = realloc(*files, (*count + 1) * sizeof **files);
	char *path = NULL;

	if (more)
		*files = more;
	if (!more || asprintf(&path, "%s/%s", folder, name) < 0)
		return -1;
	more[(*count)++] = (struct step_file){path, time};
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct step_file *x = a, *y = b;
	return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : strcmp(x->path, y->path);
}

void step_files_trim(const char *folder)
{
	DIR *dir = regular_open_folder(AT_FDCWD, folder);
	size_t names = 0, worlds = 0;

	while (dir && names <= STEP_FILES_MAX && readdir(dir))
		names++;
	if (dir)
		rewinddir(dir);
	for (struct dirent *e; dir && names > STEP_FILES_MAX && (e = readdir(dir));) {
		bool world = regular_name_is(e->d_name, "world-", ".spoor") && worlds++ < STEP_FILES_MAX;
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !attempt_is_own(e->d_name) && !world)
			usage_remove(dirfd(dir), e->d_name);
	}
	if (dir)
		closedir(dir);
}

int step_files_read(struct step_files *files, const char *folder, struct error *error)
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
			rv = add_step_file(&files->worlds, &files->world_count, folder, e->d_name, time);
		else if (S_ISREG(st.st_mode) && regular_name_is(e->d_name, "rank-", ".arena"))
			rv = add_step_file(&files->arenas, &files->arena_count, folder, e->d_name, time);
		else if (S_ISREG(st.st_mode) && regular_name_is(e->d_name, "note-", ""))
			rv = add_step_file(&files->notes, &files->note_count, folder, e->d_name, time);
		else
			rv = add_step_file(&files->rest, &files->rest_count, folder, e->d_name, time);
	}
	closedir(dir);
	if (rv)
		error_set(error, "%s: out of memory", folder);
	if (files->world_count)
		qsort(files->worlds, files->world_count, sizeof *files->worlds, compare_times);
	return rv;
}

static void free_files(struct step_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(files[i].path);
	free(files);
}

void step_files_free(struct step_files *files)
{
	free_files(files->worlds, files->world_count);
	free_files(files->arenas, files->arena_count);
	free_files(files->notes, files->note_count);
	free_files(files->rest, files->rest_count);
	*files = (struct step_files){0};
}

/* The text of a note, on one line, printable. */
static bool read_note(const char *path, char *text, size_t size)
{
	int fd = regular_open(AT_FDCWD, path, geteuid(), NULL, NULL);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	for (ssize_t i = 0; i < n; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			text[i] = i + 1 < n ? ' ' : '\0';
	}
	text[n] = '\0';
	return true;
}

bool step_files_note(const struct step_files *files, char *text, size_t size)
{
	for (size_t i = 0; i < files->note_count; i++)
		if (read_note(files->notes[i].path, text, size))
			return true;
	for (size_t i = 0; i < files->rest_count; i++)
		if (strstr(files->rest[i].path, "/unused-") && read_note(files->rest[i].path, text, size))
			return true;
	return false;
}

void step_files_tell_notes(const struct step_files *files)
{
	char told[NOTES_MAX][400];
	size_t n = 0, same;
	bool more = false;

	for (size_t i = 0; i < files->note_count; i++) {
		if (n < NOTES_MAX && read_note(files->notes[i].path, told[n], sizeof told[n])) {
			for (same = 0; strcmp(told[same], told[n]) != 0; same++)
				;
			if (same == n)
				fprintf(stderr, "tracer: %s\n", told[n++]);
		}
		more |= n == NOTES_MAX && i + 1 < files->note_count;
		unlink(files->notes[i].path);
	}
	if (more)
		fputs("tracer: and more such notes\n", stderr);
}
