/* SPDX-License-Identifier: BSD-3-Clause
 * unfinished - what a killed process left in the archive
 */
#include "archive/unfinished.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/regular.h"

static bool is_unfinished(const char *name, const char *prefix, const struct stat *st)
{
	return name[0] == '.' ? regular_name_is(name + 1, prefix, ".tmp")
	                      : st->st_size == 0 && regular_name_is(name, prefix, ".spoor");
}

size_t unfinished_remove(const char *folder, const char *prefix, int64_t age, int dry, uint64_t *bytes)
{
	size_t count = 0;
	struct stat st;

	DIR *dir = regular_open_folder(AT_FDCWD, folder);
	if (!dir)
		return 0;
	int fd = dirfd(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
		    !is_unfinished(e->d_name, prefix, &st) || (int64_t)time(NULL) - st.st_mtime < age)
			continue;
		if (!dry && unlinkat(fd, e->d_name, 0))
			continue;
		count++;
		if (bytes)
			*bytes += (uint64_t)st.st_blocks * 512;
	}
	closedir(dir);
	return count;
}
