/* SPDX-License-Identifier: BSD-3-Clause
 * spool - the folder of a node for what its steps leave behind
 */
#include "deliver/spool.h"
#include "trace/base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define LEFT_OVERS  100 /* how many folders of earlier runs of one step may be there */

/* Opens a folder, making it first if need be. at/name as for openat; path is for messages. With only_root, it must be
 * root's and nobody else's to write. */
static int make_and_open(int at, const char *name, mode_t mode, bool only_root, const char *path, struct error *error)
{
	struct stat st;
	bool made = mkdirat(at, name, mode & 0700) == 0;

	if (!made && errno != EEXIST)
		return error_set(error, "%s: cannot be made: %s", path, strerror(errno));
	int fd = openat(at, name, OPEN_FOLDER);
	if (fd < 0)
		return error_set(error, "%s: cannot be opened as a folder: %s", path, strerror(errno));
	if ((made && fchmod(fd, mode)) || fstat(fd, &st)) {
		error_set(error, "%s: %s", path, strerror(errno));
	} else if (only_root && (st.st_uid != 0 || st.st_mode & 022)) {
		error_set(error,
		          "%s: belongs to user %lu with mode %04o; it must be root's and nobody else may write it",
		          path, (unsigned long)st.st_uid, (unsigned)st.st_mode & 07777);
	} else {
		return fd;
	}
	close(fd);
	return -1;
}

int spool_make_step(const char *spool, const char *name, uid_t uid, gid_t gid, char *path, size_t size,
                    struct error *error)
{
	int fd = make_and_open(AT_FDCWD, spool, 0711, true, spool, error), folder = -1;
	size_t base = strlen(spool) + 1;

	if (fd < 0)
		return -1;
	for (int i = 0; i <= LEFT_OVERS; i++) {
		int n = i ? snprintf(path, size, "%s/%s.%d", spool, name, i)
		          : snprintf(path, size, "%s/%s", spool, name);
		if (n < 0 || (size_t)n >= size) {
			error_set(error, "%s/%s: the path is too long", spool, name);
			goto failed;
		}
		if (!mkdirat(fd, path + base, 0700))
			break;
		if (errno != EEXIST || i == LEFT_OVERS) {
			error_set(error, "%s: cannot be made: %s", path, strerror(errno));
			goto failed;
		}
	}
	folder = openat(fd, path + base, OPEN_FOLDER);
	if (folder < 0 || fchown(folder, uid, gid)) {
		error_set(error, "%s: cannot be given to user %lu: %s", path, (unsigned long)uid, strerror(errno));
		unlinkat(fd, path + base, AT_REMOVEDIR);
		goto failed;
	}
	close(folder);
	return fd;
failed:
	if (folder >= 0)
		close(folder);
	close(fd);
	return -1;
}

int spool_lock_step(int spool_fd, const char *path)
{
	int fd = openat(spool_fd, path_name(path), OPEN_FOLDER);
	/* who looks whether it is locked holds the lock for a moment */
	for (int i = 0; fd >= 0 && i < 50; i++) {
		if (flock(fd, LOCK_SH | LOCK_NB) == 0)
			return fd;
		usleep(10000);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

int64_t spool_step_changed(int spool_fd, const char *path)
{
	struct stat st;
	if (fstatat(spool_fd, path_name(path), &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	return st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
}

int spool_remove_step(int spool_fd, const char *path)
{
	return unlinkat(spool_fd, path_name(path), AT_REMOVEDIR);
}

int spool_open(const char *spool, struct error *error)
{
	int fd = open(spool, OPEN_FOLDER);
	return fd >= 0 ? fd : error_set(error, "%s: cannot be opened as a folder: %s", spool, strerror(errno));
}

uint64_t spool_room(int spool_fd)
{
	struct statvfs st;
	return fstatvfs(spool_fd, &st) ? 0 : (uint64_t)st.f_bavail * st.f_frsize;
}

int spool_check_room(int spool_fd, const char *spool, uint64_t bytes, struct error *error)
{
	struct statvfs st;

	if (fstatvfs(spool_fd, &st))
		return error_set(error, "%s: %s", spool, strerror(errno));
	if (st.f_bavail < bytes / st.f_frsize)
		return error_set(error,
		                 "%s: %ju bytes are free on its disk, and %ju are needed: the memory of the ranks, and "
		                 "\"spool_reserve\"",
		                 spool, (uintmax_t)st.f_bavail * st.f_frsize, (uintmax_t)bytes);
	return st.f_files && st.f_favail == 0 ? error_set(error, "%s: no more files fit on its disk", spool) : 0;
}
