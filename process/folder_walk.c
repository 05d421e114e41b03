/* SPDX-License-Identifier: BSD-3-Clause
 * folder_walk - a folder in which root may write
 *
 * openat2 with RESOLVE_NO_SYMLINKS would find the same folder in one call, but not say whose the folders above it are.
 */
#include "process/folder_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* so_far: the path of fd, for messages. */
static int check_step(int fd, const char *so_far, struct error *error)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return error_set(error, "%s: %s", so_far, strerror(errno));
	if (st.st_uid != 0)
		return error_set(error,
		                 "%s: is user %lu's: root writes only where nobody else can; name another folder, or "
		                 "do it as that user",
		                 so_far, (unsigned long)st.st_uid);
	if (st.st_mode & 022 && !(st.st_mode & S_ISVTX))
		return error_set(error,
		                 "%s: others can write there (mode %04o): root writes only where nobody else can; name "
		                 "another folder",
		                 so_far, (unsigned)st.st_mode & 07777);
	return 0;
}

static int walk_path(const char *path, mode_t make, struct error *error)
{
	char whole[PATH_MAX + 2], part[NAME_MAX + 1], here[PATH_MAX] = "";

	if (path[0] != '/' && !getcwd(here, sizeof here))
		return error_set(error, "%s: the working folder: %s", path, strerror(errno));
	if ((size_t)snprintf(whole, sizeof whole, "%s%s%s", here, *here ? "/" : "", path) >= sizeof whole)
		return error_set(error, "%s: the path is too long", path);
	int fd = open("/", STEP), rv = fd < 0 ? error_set(error, "/: %s", strerror(errno)) : check_step(fd, "/", error);
	for (char *p = whole, *end; rv == 0 && *p; p = end) {
		p += strspn(p, "/");
		end = p + strcspn(p, "/");
		if (end == p || (end == p + 1 && *p == '.'))
			continue;
		char kept = *end;
		*end = '\0';
		bool fits = (size_t)snprintf(part, sizeof part, "%s", p) < sizeof part;
		if (fits && make)
			mkdirat(fd, part, make); /* it may be there already; what is wrong, the next line finds */
		int next = fits ? openat(fd, part, STEP) : -1;
		if (next < 0)
			rv = error_set(error, "%s: %s", whole,
			               errno == ENOTDIR || errno == ELOOP
			                       ? "is a link or no folder: name the folder itself"
			                       : strerror(errno));
		else
			rv = check_step(next, whole, error);
		*end = kept;
		close(fd);
		fd = next;
	}
	if (rv != 0 && fd >= 0)
		close(fd);
	return rv == 0 ? fd : -1;
}

int folder_walk(const char *path, struct error *error)
{
	return walk_path(path, 0, error);
}

int folder_walk_make(const char *path, mode_t mode, struct error *error)
{
	return walk_path(path, mode, error);
}
