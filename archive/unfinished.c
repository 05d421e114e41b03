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

static bool has_form(const char *name, const char *prefix, const char *ending)
{
	size_t n = strlen(name), p = strlen(prefix), e = strlen(ending);
	return n > p + e && !strncmp(name, prefix, p) && !strcmp(name + n - e, ending);
}

static bool is_unfinished(const char *name, const char *prefix, const struct stat *st)
{
	return name[0] == '.' ? has_form(name + 1, prefix, ".tmp")
	                      : st->st_size == 0 && has_form(name, prefix, ".spoor");
}

size_t unfinished_remove(const char *folder, const char *prefix, int64_t age, int dry, uint64_t *bytes)
{
	size_t count = 0;
	struct stat st;

	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
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
