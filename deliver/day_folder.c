/* SPDX-License-Identifier: BSD-3-Clause
 * day_folder - a day's folder in the archive, and in it a user's
 */
#include "deliver/day_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/day.h"

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* One folder of the archive. It must be `owner`'s and nobody else's to write; only a day may be for everybody to add
 * to. Two nodes may make it at the same time: both set the same group and mode. Not for reading: who adds to a day need
 * not be able to list it. */
static int open_dated(int at, const char *name, uid_t owner, gid_t group, mode_t mode, const char *path,
                      struct stat *st, struct error *error)
{
	bool made = mkdirat(at, name, mode & 01777) == 0;
	int why = made ? EEXIST : errno;

	int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, st))
		error_set(error, "%s: cannot be %s: %s", path, why == EEXIST ? "opened as a folder" : "made",
		          strerror(why == EEXIST ? errno : why));
	else if (st->st_uid != owner || (st->st_mode & 022 && !(mode & S_ISGID && st->st_mode & S_ISVTX)))
		error_set(error,
		          "%s: belongs to user %lu with mode %04o; it must be user %lu's, as the archive is, and "
		          "nobody else may write it",
		          path, (unsigned long)st->st_uid, (unsigned)st->st_mode & 07777, (unsigned long)owner);
	else if ((made || mode & S_ISGID & ~st->st_mode) && /* NFS may say of what it made that it was there */
	         ((mode & S_ISGID && st->st_gid != group &&
	           fchownat(at, name, (uid_t)-1, group, AT_SYMLINK_NOFOLLOW)) ||
	          fchmodat(at, name, mode, 0)))
		error_set(error, "%s: cannot be given to group %lu: %s", path, (unsigned long)group, strerror(errno));
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* In a day, where root is root. What somebody put there before is not ours to judge: the user's own process looks, and
 * takes another name. */
static int give_folder(int day, uid_t user, gid_t group, const char *path, struct error *error)
{
	char name[DAY_FOLDER_SIZE], hidden[DAY_FOLDER_SIZE + 40];
	struct timespec now;
	struct stat st;

	day_folder_name(user, 0, name);
	if (!fstatat(day, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	/* complete before it has its name; nobody can guess this one, nor has another node the same */
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(hidden, sizeof hidden, ".%s.%ld.%lx", name, (long)getpid(), (unsigned long)now.tv_nsec);
	int fd = mkdirat(day, hidden, 0700) && errno != EEXIST ? -1 : openat(day, hidden, OPEN_FOLDER);
	int failed = fd < 0 || fstat(fd, &st) || st.st_uid != 0 || fchown(fd, user, group) || fchmod(fd, 02750) ||
	             renameat(day, hidden, day, name);
	int why = errno;
	if (fd >= 0)
		close(fd);
	unlinkat(day, hidden, AT_REMOVEDIR);
	/* on NFS, an error is not the truth yet; and another node may have been quicker */
	return failed && fstatat(day, name, &st, AT_SYMLINK_NOFOLLOW)
	               ? error_set(error, "%s/%s: cannot be made for its user: %s", path, name, strerror(why))
	               : 0;
}

/* YYYY, MM and DD below an archive. */
static int make_dated(int archive, uid_t owner, const char *day, gid_t group, mode_t mode, uid_t user, const char *path,
                      struct error *error)
{
	char name[8];
	struct stat st;
	int at = dup(archive), rv = 0;

	for (int i = 0; i < 3 && at >= 0; i++) {
		snprintf(name, sizeof name, "%.*s", i ? 2 : 4, day + (i ? 2 + 3 * i : 0));
		int next = open_dated(at, name, owner, group, i < 2 ? 0755 : mode, path, &st, error);
		close(at);
		at = next;
	}
	if (at < 0)
		return -1;
	bool shared = st.st_mode & S_ISVTX; /* then the user can do it, too */
	if (user != DAY_FOLDER_AHEAD && geteuid() == 0 && owner == 0)
		rv = give_folder(at, user, group, path, shared ? NULL : error) && !shared ? -1 : 0;
	close(at);
	return rv;
}

int day_folder_make(const char *archive, int64_t when, gid_t group, uid_t user, char *path, size_t size,
                    struct error *error)
{
	char day[DAY_SIZE];
	struct stat st;
	int rv = -1;

	if (day_of(when, day))
		return error_set(error, "%s: %lld is no time of a day", archive, (long long)when);
	int n = snprintf(path, size, "%s/%s", archive, day);
	if (n < 0 || (size_t)n >= size)
		return error_set(error, "%s: the path is too long", archive);
	mode_t mask = umask(0);
	int why = mkdir(archive, 0755) ? errno : EEXIST;
	int fd = open(archive, OPEN_FOLDER);
	if (fd < 0 || fstat(fd, &st))
		error_set(error, "%s: cannot be %s: %s", archive, why == EEXIST ? "opened as a folder" : "made",
		          strerror(why == EEXIST ? errno : why));
	else if (st.st_mode & 022)
		error_set(error, "%s: has mode %04o; nobody but its owner may write it", archive,
		          (unsigned)st.st_mode & 07777);
	else {
		/* the owner's rights, for files only, and only for now */
		bool owned = geteuid() == 0 && st.st_uid != 0;
		if (owned)
			setfsgid(group), setfsuid(st.st_uid);
		rv = make_dated(fd, st.st_uid, day, group, user == DAY_FOLDER_AHEAD || st.st_uid != 0 ? 03773 : 02751,
		                user, path, error);
		if (owned)
			setfsuid(0), setfsgid(getegid());
	}
	umask(mask);
	if (fd >= 0)
		close(fd);
	return rv;
}
