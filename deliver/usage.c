/* SPDX-License-Identifier: BSD-3-Clause
 * usage - what a user's folders in the spool hold, and how one is emptied
 */
#include "deliver/usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/regular.h"

#define DEPTH 64 /* of folders in folders: the tracer makes none; each costs a descriptor */

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

void usage_add(struct usage *u, int at, const char *name)
{
	DIR *dir = regular_open_folder(at, name);
	struct stat st;

	u->more |= !dir && errno != ENOENT;
	for (struct dirent *e; dir && !u->more && (e = readdir(dir));) {
		if (is_dots(e->d_name))
			continue;
		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW)) {
			u->more |= errno != ENOENT;
			continue;
		}
		u->bytes += (uint64_t)st.st_blocks * 512;
		u->more = ++u->names > USAGE_NAMES || S_ISDIR(st.st_mode);
	}
	if (dir)
		closedir(dir);
}

void usage_add_all(struct usage *u, int at, uid_t uid)
{
	int fd = fcntl(at, F_DUPFD_CLOEXEC, 0); /* not opened again: the user may not list it */
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct stat st;

	if (dir)
		rewinddir(dir);
	else if (fd >= 0)
		close(fd);
	for (struct dirent *e; dir && !u->more && (e = readdir(dir));) {
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9' && !fstatat(at, e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISDIR(st.st_mode) && st.st_uid == uid)
			usage_add(u, at, e->d_name);
	}
	if (dir)
		closedir(dir);
}

static int empty(int at, const char *name, int depth)
{
	DIR *dir = regular_open_folder(at, name);
	int rv = 0;

	if (!dir || depth > DEPTH) {
		if (dir)
			closedir(dir);
		return -1;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		if (is_dots(e->d_name) || !unlinkat(dirfd(dir), e->d_name, 0))
			continue;
		if (errno != EISDIR && errno != EPERM)
			rv = -1;
		else if (unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR) &&
		         (fchmodat(dirfd(dir), e->d_name, 0700, 0), empty(dirfd(dir), e->d_name, depth + 1),
		          unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR)))
			rv = -1;
	}
	closedir(dir);
	return rv;
}

int usage_empty(int at, const char *name)
{
	return empty(at, name, 0);
}

int usage_remove(int at, const char *name)
{
	if (!unlinkat(at, name, 0) || !unlinkat(at, name, AT_REMOVEDIR))
		return 0;
	usage_empty(at, name);
	return unlinkat(at, name, AT_REMOVEDIR);
}
