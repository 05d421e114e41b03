/* SPDX-License-Identifier: BSD-3-Clause
 * unfinished - hidden `.NAME.PID.tmp` files that a killed process left in the archive
 */
#include "archive/unfinished.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool is_unfinished(const char *name, const char *prefix)
{
	size_t n = strlen(name), p = strlen(prefix);
	return name[0] == '.' && n > p + 5 && !strncmp(name + 1, prefix, p) && !strcmp(name + n - 4, ".tmp");
}

size_t unfinished_remove(const char *day, const char *prefix, int64_t age, int dry, uint64_t *bytes)
{
	size_t count = 0;
	struct stat st;

	int fd = open(day, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		if (!is_unfinished(e->d_name, prefix) || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
		    (int64_t)time(NULL) - st.st_mtime < age)
			continue;
		if (!dry && unlinkat(fd, e->d_name, 0))
			continue;
		count++;
		if (bytes)
			*bytes += (uint64_t)st.st_size;
	}
	closedir(dir);
	return count;
}
