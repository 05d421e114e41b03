/* SPDX-License-Identifier: BSD-3-Clause
 * attempt - what a step's spool folder holds besides raw traces
 */
#include "deliver/attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/publish.h"
#include "trace/base/regular.h"

#define FACTS_MAX (1 << 20)

static int make_path(char path[PATH_MAX], const char *folder, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", folder, name);
	if (n >= 0 && n < PATH_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

int attempt_lock(const char *folder)
{
	char path[PATH_MAX];
	struct stat st;

	if (make_path(path, folder, ATTEMPT_LOCK))
		return -1;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		/* The one that had it may have finished, and removed it, between the two calls. */
		if (!fstat(fd, &st) && st.st_nlink > 0)
			return fd;
		errno = EWOULDBLOCK;
	}
	int failure = errno;
	close(fd);
	errno = failure;
	return -1;
}

void attempt_unlock(const char *folder, int lock)
{
	char path[PATH_MAX];

	if (make_path(path, folder, ATTEMPT_LOCK) == 0)
		unlink(path);
	close(lock);
}

bool attempt_has_facts(const char *folder)
{
	char path[PATH_MAX];
	struct stat st;

	return make_path(path, folder, ATTEMPT_FACTS) == 0 && lstat(path, &st) == 0;
}

int attempt_save(const char *folder, const struct facts *facts, struct error *error)
{
	char path[PATH_MAX];
	char *text = facts_encode(facts);
	int rv = -1;

	if (!text)
		return error_set(error, "%s: no memory for the facts", folder);
	if (make_path(path, folder, ATTEMPT_FACTS) == 0) {
		if (publish_file(path, 0600, text, strlen(text)) == 0)
			rv = 0;
		else if (errno == EEXIST)
			rv = 1;
	}
	if (rv < 0)
		error_set(error, "%s: the facts of the step cannot be kept: %s", folder, strerror(errno));
	free(text);
	return rv;
}

int attempt_replace(const char *folder, const struct facts *facts, struct error *error)
{
	char path[PATH_MAX], next[PATH_MAX];
	char *text = facts_encode(facts);
	int rv = -1;

	if (text && make_path(path, folder, ATTEMPT_FACTS) == 0 && make_path(next, folder, ATTEMPT_NEXT) == 0) {
		unlink(next);
		rv = publish_file(next, 0600, text, strlen(text)) || rename(next, path) ? -1 : 0;
	}
	if (rv)
		error_set(error, "%s: the facts of the step cannot be kept: %s", folder,
		          text ? strerror(errno) : "no memory");
	free(text);
	return rv;
}

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names != NULL;
}

int attempt_load(const char *folder, struct facts *facts, const char *const *stay, struct error *error)
{
	char path[PATH_MAX];
	struct facts saved = {0};
	char *text;
	size_t size;

	if (make_path(path, folder, ATTEMPT_FACTS))
		return error_set(error, "%s: the path is too long", folder);
	if (regular_read(AT_FDCWD, path, geteuid(), FACTS_MAX, &text, &size, error))
		return errno == ENOENT ? (error->text[0] = '\0', 1) : -1;
	int rv = facts_decode(&saved, text, size, path, error);
	for (size_t i = 0; !rv && i < saved.count; i++) {
		if (!facts_get(facts, saved.items[i].name) || !is_one_of(saved.items[i].name, stay))
			facts_set(facts, saved.items[i].name, saved.items[i].value);
	}
	facts_clear(&saved);
	free(text);
	return rv;
}

void attempt_clear(const char *folder)
{
	char path[PATH_MAX];

	if (make_path(path, folder, ATTEMPT_FACTS) == 0)
		unlink(path);
	if (make_path(path, folder, ATTEMPT_NEXT) == 0)
		unlink(path);
}

bool attempt_is_own(const char *name)
{
	return !strcmp(name, ATTEMPT_FACTS) || !strcmp(name, ATTEMPT_LOCK) || !strcmp(name, ATTEMPT_NEXT);
}

static bool has_bytes(int folder, const char *name, const uint8_t *bytes, size_t size)
{
	uint8_t buffer[65536];
	struct stat st;
	size_t done = 0;
	ssize_t n = 0;

	int fd = regular_open(folder, name, geteuid(), &st, NULL);
	if (fd < 0)
		return false;
	bool same = (uint64_t)st.st_size == size;
	while (same && done < size && (n = read(fd, buffer, sizeof buffer)) > 0) {
		same = (size_t)n <= size - done && !memcmp(buffer, bytes + done, (size_t)n);
		done += (size_t)n;
	}
	close(fd);
	return same && done == size;
}

bool attempt_is_delivered(const char *archived, const char *prefix, const void *bytes, size_t size)
{
	DIR *dir = opendir(archived);
	bool found = false;

	if (!dir)
		return false;
	for (struct dirent *e; !found && (e = readdir(dir));)
		found = !strncmp(e->d_name, prefix, strlen(prefix)) && has_bytes(dirfd(dir), e->d_name, bytes, size);
	closedir(dir);
	return found;
}
