/* SPDX-License-Identifier: BSD-3-Clause
 * queue - which steps of a node have ended and are still to be delivered
 */
#include "deliver/queue.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/regular.h"

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define FACTS_MAX   (1 << 20)
#define SWEPT       "swept"

/* Whoever looks whether it is locked has the lock for a moment. */
#define LOCK_TRIES 20
#define LOCK_PAUSE 10000

static int make_queue_folder(int at, const char *name, mode_t mode)
{
	int fd = mkdirat(at, name, mode) == 0 || errno == EEXIST ? openat(at, name, OPEN_FOLDER) : -1;
	struct stat st;

	if (fd >= 0 &&
	    (fstat(fd, &st) || st.st_uid != geteuid() || ((st.st_mode & 0777) != mode && fchmod(fd, mode)))) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

int queue_open(int spool_fd)
{
	return make_queue_folder(spool_fd, QUEUE_FOLDER, 0700);
}

int queue_open_user(int queue, uid_t uid)
{
	char name[24];

	snprintf(name, sizeof name, "%lu", (unsigned long)uid);
	return make_queue_folder(queue, name, 0700);
}

bool queue_lock(int fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		usleep(LOCK_PAUSE);
	}
	return false;
}

void queue_unlock(int fd)
{
	flock(fd, LOCK_UN);
}

int queue_save(int user, const char *name, const struct facts *facts)
{
	char hidden[300];
	char *text = facts_encode(facts);
	int rv = -1;

	if (!text || (size_t)snprintf(hidden, sizeof hidden, ".%s", name) >= sizeof hidden) {
		free(text);
		errno = ENOMEM;
		return -1;
	}
	size_t n = strlen(text);
	int fd = openat(user, hidden, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, text, n) == (ssize_t)n)
		rv = renameat(user, hidden, user, name);
	int failure = errno;
	if (fd >= 0) {
		close(fd);
		if (rv)
			unlinkat(user, hidden, 0);
	}
	free(text);
	errno = failure;
	return rv;
}

int queue_load(int user, const char *name, struct facts *facts)
{
	int rv = -1, fd = openat(user, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 1 : -1;
	char *text = malloc(FACTS_MAX);
	ssize_t n = text ? read(fd, text, FACTS_MAX) : -1;
	if (n >= 0 && n < FACTS_MAX)
		rv = facts_decode(facts, text, (size_t)n, name, NULL);
	free(text);
	close(fd);
	return rv;
}

void queue_forget(int user, const char *name)
{
	unlinkat(user, name, 0);
}

bool queue_has(int user, const char *name)
{
	struct stat st;
	return fstatat(user, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int queue_each(int folder, int (*each)(void *context, const char *name), void *context)
{
	DIR *dir = regular_open_folder(folder, "."); /* with a place of its own in the folder */
	int rv = 0;

	if (!dir)
		return -1;
	for (struct dirent *e; rv == 0 && (e = readdir(dir));) {
		if (isdigit((unsigned char)e->d_name[0]))
			rv = each(context, e->d_name);
	}
	closedir(dir);
	return rv;
}

bool queue_is_due(int queue, int64_t seconds)
{
	struct stat st;
	bool due = false;

	int fd = openat(queue, SWEPT, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0) {
		/* one that is in the future was made before the clock was set right */
		int64_t age = (int64_t)time(NULL) - st.st_mtime;
		due = st.st_size == 0 || age < 0 || age >= seconds;
		if (due && (ftruncate(fd, 0) || pwrite(fd, "x", 1, 0) != 1))
			due = false;
	}
	if (fd >= 0)
		close(fd);
	return due;
}

int queue_give_up(int spool_fd, const char *name)
{
	char other[300];
	struct stat st;
	int rv = -1, fd = make_queue_folder(spool_fd, QUEUE_GIVEN_UP, 0711);

	if (fd < 0)
		return -1;
	snprintf(other, sizeof other, "%s", name);
	for (int i = 1; i < 100 && fstatat(fd, other, &st, AT_SYMLINK_NOFOLLOW) == 0; i++)
		snprintf(other, sizeof other, "%s.%d", name, i);
	if (fstatat(fd, other, &st, AT_SYMLINK_NOFOLLOW))
		rv = renameat(spool_fd, name, fd, other);
	close(fd);
	return rv;
}
