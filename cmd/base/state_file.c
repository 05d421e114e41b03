/* SPDX-License-Identifier: BSD-3-Clause
 * state_file - what a command remembers from one run to the next
 */
#include "cmd/base/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/folder_walk.h"

static int state_path(char out[PATH_MAX], const char *path, const char *command)
{
	const char *folder = getenv("STATE_DIRECTORY"), *own = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;
	if (path)
		n = snprintf(out, PATH_MAX, "%s", path);
	else if (folder && *folder == '/')
		n = snprintf(out, PATH_MAX, "%s/%s", folder, command);
	else if (geteuid() == 0)
		n = snprintf(out, PATH_MAX, "/var/lib/spoor/%s", command);
	else if (own && *own == '/')
		n = snprintf(out, PATH_MAX, "%s/spoor/%s", own, command);
	else if (home && *home == '/')
		n = snprintf(out, PATH_MAX, "%s/.local/state/spoor/%s", home, command);
	return n > 0 && n < PATH_MAX ? 0 : -1;
}

/* Of root's, nobody else can write a folder on the way to it, either: they would put another in its place. The one that
 * it has by default may be behind a link of root's. It may be the archive's, too, which others enter. */
static int open_folder_of_root(const char *folder, bool named, struct error *error)
{
	char real[PATH_MAX];
	return folder_walk_make(!named && realpath(folder, real) ? real : folder, 0755, error);
}

/* Its folder; those above it are made, too, of the caller alone. Returns a descriptor, or -1 with error set. */
static int open_folder(char *path, bool named, char **name, struct error *error)
{
	struct stat st;
	char *end = strrchr(path, '/');
	*name = end ? end + 1 : path;
	for (char *c = path + 1; end && geteuid() != 0 && c <= end; c++)
		if (*c == '/') {
			*c = '\0';
			mkdir(path, 0700);
			*c = '/';
		}
	if (end)
		*end = '\0';
	const char *folder = !end ? "." : *path ? path : "/";
	if (geteuid() == 0)
		return open_folder_of_root(folder, named, error);
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

int state_file_open(const char *path, const char *command, struct error *error)
{
	char own[PATH_MAX], *name;
	struct stat st;
	if (state_path(own, path, command) != 0)
		return error_set(error, "there is no place for the state file; --state names one");
	int folder = open_folder(own, path != NULL, &name, error);
	if (folder < 0)
		return -1;
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	int why = errno;
	close(folder);
	if (fd < 0)
		return error_set(error, "%s: %s", name, strerror(why));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1 ||
	    st.st_mode & 022)
		error_set(error, "%s: is no file of which others cannot write", name);
	else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		error_set(error, "%s: another `spoor %s` has it", name, command);
	else
		return fd;
	close(fd);
	return -1;
}

int64_t state_file_written(const char *command)
{
	char own[PATH_MAX];
	struct stat st;
	return state_path(own, NULL, command) == 0 && stat(own, &st) == 0 ? (int64_t)st.st_mtime : -1;
}
