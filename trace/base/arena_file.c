/* SPDX-License-Identifier: BSD-3-Clause
 * arena_file - the file of an arena: made, locked, made longer
 */
#include "trace/base/arena_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)
/* Nothing is reserved where less than so many times as much is free: each rank of a node reserves its own, and others
 * need the disk as well. */
#define SPARE 256

uint64_t arena_file_append(int fd, uint64_t size, uint64_t n, uint64_t limit)
{
	static char zeros[1 << 16]; /* never written to: no memory */
	uint64_t done = 0, most = limit > size ? limit - size : 0;
	if (n > most)
		n = most & ~(PAGE - 1);
	while (done < n) {
		ssize_t put = write(fd, zeros, n - done < sizeof zeros ? n - done : sizeof zeros);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			break;
		done += (uint64_t)put;
	}
	return done & ~(PAGE - 1);
}

bool arena_file_reserve(int fd, uint64_t size)
{
	struct statfs fs;
	if (fstatfs(fd, &fs) != 0 || fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC || fs.f_bavail == 0 ||
	    size / fs.f_bsize > fs.f_bavail / SPARE)
		return false;
	return fallocate(fd, 0, 0, (off_t)size) == 0;
}

/* Makes it under this name. */
static int make(const char *name, uint64_t n, const struct limits *limits, struct error *error)
{
	/* O_APPEND: it may get the number of a standard stream that is closed, and what another thread prints just now
	 * must not get into the arena */
	int fd = open(name, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set(error, "%s: cannot create the arena: %s", name, strerror(errno));
	if (!limits->filtered)
		flock(fd, LOCK_EX | LOCK_NB); /* a file system without locks does not matter much */
	errno = ENOSPC;
	if (arena_file_append(fd, 0, n, limits->file) == n)
		return fd;
	error_set(error, "%s: cannot allocate %llu bytes: %s", name, (unsigned long long)n,
	          limits->file < n ? "files may not be that large (ulimit -f)" : strerror(errno));
	close(fd);
	unlink(name);
	return -1;
}

/* Gives it the name, which must be nobody's. Not with a second name (link): if the process were killed between, the
 * arena would be left alone as somebody else's. Returns 0, or -1 (errno). */
static int publish(const char *fresh, const char *path)
{
	struct stat st;
	if (lstat(path, &st) == 0) {
		errno = EEXIST;
		return -1;
	}
	return rename(fresh, path);
}

int arena_file_create(const char *path, uint64_t n, const struct limits *limits, struct error *error)
{
	if (limits->filtered) /* it is not locked in any case */
		return make(path, n, limits, error);
	size_t size = strlen(path) + sizeof ".new";
	char *fresh = malloc(size);
	if (!fresh)
		return error_set(error, "%s: no memory", path);
	snprintf(fresh, size, "%s.new", path);
	int fd = make(fresh, n, limits, error);
	if (fd >= 0 && publish(fresh, path) != 0) {
		error_set(error, "%s: cannot create the arena: %s", path, strerror(errno));
		close(fd);
		unlink(fresh);
		fd = -1;
	}
	free(fresh);
	return fd;
}
