/* SPDX-License-Identifier: BSD-3-Clause
 * source - the files of a policy
 */
#include "policy/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/parse.h"

#define FRAGMENTS_MAX 1000

/* --- one file --- */

static void check_trust(const char *path, const struct stat *st, struct problems *problems)
{
	if (st->st_uid != 0 || st->st_mode & 022)
		problems_add(problems, path, 1, 1,
		             "belongs to user %lu with mode %04o; it is only used if it is root's and nobody else may "
		             "write it",
		             (unsigned long)st->st_uid, (unsigned)st->st_mode & 07777);
}

static int open_source(struct source *s, int folder, const char *name, const char *path, bool trusted,
                       struct problems *problems)
{
	struct stat st;
	struct source_file *more = realloc(s->files, (s->count + 1) * sizeof *more);

	if (!more)
		return -1;
	s->files = more;
	struct source_file *f = &more[s->count];
	*f = (struct source_file){strdup(path), openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), 0};
	if (!f->path) {
		if (f->fd >= 0)
			close(f->fd);
		return -1;
	}
	s->count++;
	if (f->fd < 0 || fstat(f->fd, &st)) {
		problems_add(problems, path, 1, 1, "cannot be opened: %s", strerror(errno));
		return 0;
	}
	if (!S_ISREG(st.st_mode)) {
		problems_add(problems, path, 1, 1, "is not a regular file");
		return 0;
	}
	if (trusted)
		check_trust(path, &st, problems);
	f->size = (size_t)st.st_size;
	s->size += f->size;
	if (f->size > POLICY_SIZE_MAX)
		problems_add(problems, path, 1, 1, "has %zu bytes; a policy may have at most %d", f->size,
		             POLICY_SIZE_MAX);
	else if (s->size > POLICY_SIZE_MAX)
		problems_add(problems, path, 1, 1,
		             "has %zu bytes, and with the files before it the policy has %zu; it may have at most %d",
		             f->size, s->size, POLICY_SIZE_MAX);
	s->too_large = s->size > POLICY_SIZE_MAX;
	return 0;
}

/* --- fragments --- */

static char *fragments_path(const char *path)
{
	size_t n = strlen(path);
	char *out = NULL;
	if (n > 5 && !strcmp(path + n - 5, ".json"))
		n -= 5;
	return asprintf(&out, "%.*s.d", (int)n, path) < 0 ? NULL : out;
}

static int is_fragment(const struct dirent *e)
{
	size_t n = strlen(e->d_name);
	return e->d_name[0] != '.' && n > 5 && !strcmp(e->d_name + n - 5, ".json");
}

static int compare_fragments(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int open_fragments(struct source *s, const char *folder, bool trusted, struct problems *problems)
{
	struct dirent **names = NULL;
	struct stat st;
	int rv = 0;

	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		if (errno != ENOENT)
			problems_add(problems, folder, 1, 1, "cannot be opened: %s", strerror(errno));
		return 0;
	}
	if (trusted && !fstat(fd, &st))
		check_trust(folder, &st, problems);
	int n = scandirat(fd, ".", &names, is_fragment, compare_fragments);
	if (n < 0)
		problems_add(problems, folder, 1, 1, "cannot be read: %s", strerror(errno));
	if (n > FRAGMENTS_MAX)
		problems_add(problems, folder, 1, 1, "has %d files; a policy may have at most %d fragments", n,
		             FRAGMENTS_MAX);
	for (int i = 0; i < n; i++) {
		char *path = NULL;
		if (i < FRAGMENTS_MAX && !rv) {
			rv = asprintf(&path, "%s/%s", folder, names[i]->d_name) < 0 ? -1 : 0;
			rv = rv ? rv : open_source(s, fd, names[i]->d_name, path, trusted, problems);
			free(path);
		}
		free(names[i]);
	}
	free(names);
	close(fd);
	return rv;
}

int source_open(struct source *s, const char *path, bool trusted, struct problems *problems)
{
	*s = (struct source){0};
	char *folder = fragments_path(path);
	int rv = folder ? open_fragments(s, folder, trusted, problems) : -1;
	free(folder);
	return rv ? -1 : open_source(s, AT_FDCWD, path, path, trusted, problems);
}

void source_close(struct source *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->files[i].fd >= 0)
			close(s->files[i].fd);
		free(s->files[i].path);
	}
	free(s->files);
	*s = (struct source){0};
}

char *source_read(const struct source_file *f, size_t *size, struct problems *problems)
{
	char *text = malloc(f->size + 1);
	size_t n = 0;
	ssize_t got = 0;

	while (text && n < f->size && (got = read(f->fd, text + n, f->size - n)) > 0)
		n += (size_t)got;
	if (!text || got < 0) {
		problems_add(problems, f->path, 1, 1, "cannot be read: %s", text ? strerror(errno) : "out of memory");
		free(text);
		return NULL;
	}
	text[n] = '\0';
	*size = n;
	return text;
}
