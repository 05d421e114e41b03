/* SPDX-License-Identifier: BSD-3-Clause
 * publish - a file appears under its name whole, once, or not at all
 */
#include "trace/base/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* Does the name lead to the file that is open? */
static bool is_there(const char *path, int fd)
{
	struct stat own, named;
	return !fstat(fd, &own) && !lstat(path, &named) && own.st_ino == named.st_ino && own.st_dev == named.st_dev;
}

/* What a system call that gave the file its name said, and what is true. Returns 0, or -1 with its errno. */
static int judge(int rv, const char *path, int fd)
{
	int failure = errno;
	if (rv == 0 || is_there(path, fd))
		return 0;
	errno = failure;
	return -1;
}

/* The file system does not know such a call. */
static bool is_unknown(void)
{
	return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == EMLINK;
}

/* A process that is killed in between leaves an empty file: unfinished_remove (archive/unfinished.h) knows it. */
static int rename_over(const char *temporary, const char *path, int fd)
{
	int own = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (own < 0)
		return -1;
	close(own);
	if (judge(rename(temporary, path), path, fd) == 0)
		return 0;
	int failure = errno;
	unlink(path);
	errno = failure;
	return -1;
}

static int give_name(const char *temporary, const char *path, int fd)
{
	if (judge(link(temporary, path), path, fd) == 0)
		return 0;
	if (!is_unknown())
		return -1;
	if (judge((int)syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE), path, fd) == 0)
		return 0;
	return is_unknown() ? rename_over(temporary, path, fd) : -1;
}

static int take_name(const char *temporary, const char *path, int fd)
{
	struct stat st;
	if (!lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) { /* not in the place of a device */
		errno = EEXIST;
		return -1;
	}
	return judge(rename(temporary, path), path, fd);
}

static int write_all(int fd, const uint8_t *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = write(fd, bytes + done, n - done);
		if (put < 0 && errno != EINTR)
			return -1;
		done += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

typedef int naming(const char *temporary, const char *path, int fd);

static int publish(const char *path, unsigned mode, const void *bytes, size_t n, naming *name, bool sync)
{
	size_t length = strlen(path), room = length + 64;
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;
	char *temporary = malloc(room);
	struct timespec now;
	struct rlimit most;

	if (!temporary)
		return -1;
	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && n > most.rlim_cur) {
		free(temporary);
		errno = EFBIG;
		return -1;
	}
	/* hidden from those who walk the archive, and never taken by two processes at once, nor on two nodes */
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(temporary, room, "%.*s.%s.%ld.%lx.tmp", folder, path, path + folder, (long)getpid(),
	         (unsigned long)now.tv_sec << 30 ^ (unsigned long)now.tv_nsec);
	/* O_APPEND: as for an arena, in a process without standard streams (arena.c) */
	int fd = open(temporary, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), rv = -1;
	if (fd >= 0) {
		rv = write_all(fd, bytes, n) || fchmod(fd, mode) || (sync && fsync(fd)) || name(temporary, path, fd)
		             ? -1
		             : 0;
		int failure = errno;
		unlink(temporary); /* not there if it was renamed */
		close(fd);
		errno = failure;
	}
	free(temporary);
	return rv;
}

int publish_file(const char *path, unsigned mode, const void *bytes, size_t n)
{
	return publish(path, mode, bytes, n, give_name, true);
}

int publish_over(const char *path, unsigned mode, const void *bytes, size_t n)
{
	return publish(path, mode, bytes, n, take_name, true);
}

int publish_unsynced(const char *path, unsigned mode, const void *bytes, size_t n)
{
	return publish(path, mode, bytes, n, give_name, false);
}
