/* SPDX-License-Identifier: BSD-3-Clause
 * told - of `spoor watch`: of which jobs it was told that they hang
 *
 * A line for each job: its number.
 */
#include "cmd/where/told.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/budget.h"
#include "trace/base/number.h"

#define FILE_MOST (1 << 20) /* bytes: 100,000 jobs */

static int state_path(char out[PATH_MAX], const char *path)
{
	const char *folder = getenv("STATE_DIRECTORY"), *own = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;
	if (path)
		n = snprintf(out, PATH_MAX, "%s", path);
	else if (folder && *folder == '/')
		n = snprintf(out, PATH_MAX, "%s/watch", folder);
	else if (geteuid() == 0)
		n = snprintf(out, PATH_MAX, "/var/lib/spoor/watch");
	else if (own && *own == '/')
		n = snprintf(out, PATH_MAX, "%s/spoor/watch", own);
	else if (home && *home == '/')
		n = snprintf(out, PATH_MAX, "%s/.local/state/spoor/watch", home);
	return n > 0 && n < PATH_MAX ? 0 : -1;
}

/* Its folder; those above it are made, too, of the caller alone. Returns a descriptor, or -1 with error set. */
static int open_folder(char *path, char **name, struct error *error)
{
	struct stat st;
	char *end = strrchr(path, '/');
	*name = end ? end + 1 : path;
	for (char *c = path + 1; end && c <= end; c++)
		if (*c == '/') {
			*c = '\0';
			mkdir(path, 0700);
			*c = '/';
		}
	if (end)
		*end = '\0';
	const char *folder = !end ? "." : *path ? path : "/";
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		error_set(error, "%s: %s", folder, strerror(errno));
	} else if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022 && !(st.st_mode & S_ISVTX))) {
		error_set(error, "%s: others can write into this folder; --state names a file in another one", folder);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int read_jobs(struct told *t, struct error *error)
{
	char *text = calloc(1, FILE_MOST + 1);
	ssize_t n = text ? pread(t->fd, text, FILE_MOST, 0) : -1;
	int rv = n < 0 ? error_set(error, "cannot read what was told: %s", strerror(errno)) : 0;
	for (const char *p = text; rv == 0 && *p; p += *p != '\0') {
		uint64_t job;
		if (number_read(&p, UINT32_MAX, &job) != 0 || *p != '\n')
			rv = error_set(error, "the state file is none of `spoor watch`");
		else if (!budget_grow(&t->jobs, t->count, &t->capacity, sizeof job))
			rv = error_set(error, "no memory");
		else
			t->jobs[t->count++] = job;
	}
	free(text);
	return rv;
}

int told_open(struct told *t, const char *path, struct error *error)
{
	char own[PATH_MAX], *name;
	struct stat st;
	*t = (struct told){.fd = -1};
	if (state_path(own, path) != 0)
		return error_set(error, "there is no place for the state file; --state names one");
	int folder = open_folder(own, &name, error);
	if (folder < 0)
		return -1;
	t->fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	int why = errno;
	close(folder);
	if (t->fd < 0)
		return error_set(error, "%s: %s", name, strerror(why));
	if (fstat(t->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1 ||
	    st.st_mode & 022)
		return error_set(error, "%s: is no file of which others cannot write", name);
	if (flock(t->fd, LOCK_EX | LOCK_NB) != 0)
		return error_set(error, "%s: another `spoor watch` has it", name);
	return read_jobs(t, error);
}

void told_close(struct told *t)
{
	if (t->fd >= 0)
		close(t->fd);
	budget_free(t->jobs);
}

bool told_has(const struct told *t, uint64_t job)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->jobs[i] == job)
			return true;
	return false;
}

static int write_jobs(const struct told *t, struct error *error)
{
	char line[24];
	off_t at = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		int n = snprintf(line, sizeof line, "%" PRIu64 "\n", t->jobs[i]);
		if (pwrite(t->fd, line, (size_t)n, at) != n)
			return error_set(error, "cannot write what was told: %s", strerror(errno));
		at += n;
	}
	return ftruncate(t->fd, at) == 0 && fdatasync(t->fd) == 0
	               ? 0
	               : error_set(error, "cannot write what was told: %s", strerror(errno));
}

int told_add(struct told *t, uint64_t job, struct error *error)
{
	if (!budget_grow(&t->jobs, t->count, &t->capacity, sizeof job))
		return error_set(error, "no memory");
	t->jobs[t->count++] = job;
	return write_jobs(t, error);
}

int told_keep(struct told *t, bool (*runs)(uint64_t job, const void *context), const void *context, struct error *error)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->count; i++)
		if (runs(t->jobs[i], context))
			t->jobs[n++] = t->jobs[i];
	if (n == t->count)
		return 0;
	t->count = n;
	return write_jobs(t, error);
}
