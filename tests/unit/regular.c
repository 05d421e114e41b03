/* SPDX-License-Identifier: BSD-3-Clause
 * regular - what is no regular file is not opened, and nobody waits
 */
#include "trace/base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static bool refused(const char *name, int64_t owner, int with)
{
	struct error error = {""};
	errno = 0;
	return regular_open(AT_FDCWD, name, owner, NULL, &error) == -1 && errno == with && error.text[0];
}

static int read_file(void *context)
{
	char *text = NULL;
	size_t n = 0;
	int rv = regular_read(AT_FDCWD, context, REGULAR_ANYBODY, 10, &text, &n, NULL);
	if (rv == 0 && (n != 5 || strcmp(text, "hello") != 0))
		abort();
	free(text);
	return rv;
}

int main(void)
{
	char *text;
	size_t n = 42;
	struct stat st;
	struct error error = {""};
	scratch_enter();
	int fd = open("file", O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || write(fd, "hello", 5) != 5 || close(fd) != 0 || symlink("file", "link") != 0 ||
	    mkfifo("fifo", 0600) != 0 || mkdir("folder", 0700) != 0)
		return 1;
	ok(refused("nothing", REGULAR_ANYBODY, ENOENT), "there is no such file");
	ok(refused("link", REGULAR_ANYBODY, ELOOP), "a symbolic link");
	ok(refused("fifo", REGULAR_ANYBODY, EINVAL), "a FIFO, without waiting for its writer");
	ok(refused("folder", REGULAR_ANYBODY, EINVAL), "a folder");
	ok(refused("/dev/null", REGULAR_ANYBODY, EINVAL), "a device");
	ok(refused("file", (int64_t)getuid() + 1, EPERM), "somebody else's file");
	ok(regular_read(AT_FDCWD, "file", getuid(), 4, &text, &n, &error) == -1 && errno == EFBIG && !text &&
	           strstr(error.text, "more than 4"),
	   "a file that is too large: %s", error.text);
	fd = regular_open(AT_FDCWD, "file", getuid(), &st, NULL);
	ok(fd >= 0 && st.st_size == 5 && fcntl(fd, F_GETFD) == FD_CLOEXEC, "one's own file, not for programs executed");
	close(fd);
	fd = regular_open_named("link", &st, NULL);
	ok(fd >= 0 && regular_open_named("fifo", NULL, NULL) == -1, "by the user's name for it links are followed");
	close(fd);
	ok(regular_read(AT_FDCWD, "file", REGULAR_ANYBODY, 5, &text, &n, NULL) == 0 && n == 5 &&
	           strcmp(text, "hello") == 0,
	   "a file of just the size that is allowed");
	free(text);
	ok(fails_well(read_file, (char[]){"file"}), "without memory there is no text");
	unlink("file");
	unlink("link");
	unlink("fifo");
	rmdir("folder");
	return tap_end();
}
