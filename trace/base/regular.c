/* SPDX-License-Identifier: BSD-3-Clause
 * regular - opens files that somebody else may have put in the place of others
 */
#include "trace/base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int look(int fd, const char *name, int64_t owner, struct stat *out, struct error *error)
{
	struct stat st;

	if (fd < 0) {
		int failure = errno;
		error_set(error, failure == ELOOP ? "%s: a symbolic link, not a regular file" : "%s: cannot open: %s",
		          name, strerror(failure));
		errno = failure;
		return -1;
	}
	int failure = fstat(fd, &st)                               ? errno
	              : !S_ISREG(st.st_mode)                       ? EINVAL
	              : owner >= 0 && st.st_uid != (uint64_t)owner ? EPERM
	                                                           : 0;
	if (!failure) {
		if (out)
			*out = st;
		return fd;
	}
	close(fd);
	if (failure == EINVAL)
		error_set(error, "%s: not a regular file", name);
	else if (failure == EPERM)
		error_set(error, "%s: is user %lu's, and should be user %llu's", name, (unsigned long)st.st_uid,
		          (unsigned long long)owner);
	else
		error_set(error, "%s: %s", name, strerror(failure));
	errno = failure;
	return -1;
}

int regular_open(int folder, const char *name, int64_t owner, struct stat *st, struct error *error)
{
	return look(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), name, owner, st,
	            error);
}

int regular_open_named(const char *path, struct stat *st, struct error *error)
{
	return look(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), path, REGULAR_ANYBODY, st, error);
}

int regular_read(int folder, const char *name, int64_t owner, size_t most, char **text, size_t *size,
                 struct error *error)
{
	struct stat st;
	size_t done = 0;
	ssize_t got = 0;

	*text = NULL;
	int fd = regular_open(folder, name, owner, &st, error);
	if (fd < 0)
		return -1;
	size_t n = (uint64_t)st.st_size > most ? most + 1 : (size_t)st.st_size;
	char *bytes = n > most ? NULL : malloc(n + 1);
	int failure = n > most ? EFBIG : bytes ? 0 : ENOMEM;
	while (!failure && done < n && (got = read(fd, bytes + done, n - done)) != 0) {
		if (got < 0 && errno != EINTR)
			failure = errno;
		done += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	if (!failure) {
		bytes[done] = '\0';
		*text = bytes;
		*size = done;
		return 0;
	}
	free(bytes);
	if (failure == EFBIG)
		error_set(error, "%s: has more than %zu bytes", name, most);
	else
		error_set(error, "%s: cannot be read: %s", name, strerror(failure));
	errno = failure;
	return -1;
}

DIR *regular_open_folder(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

bool regular_name_is(const char *name, const char *prefix, const char *ending)
{
	size_t n = strlen(name), p = strlen(prefix), e = strlen(ending);
	return n >= p + e && !strncmp(name, prefix, p) && !strcmp(name + n - e, ending);
}
