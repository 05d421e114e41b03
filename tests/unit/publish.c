/* SPDX-License-Identifier: BSD-3-Clause
 * publish - a file is there whole, or not at all
 */
#include "trace/base/publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/base/regular.h"

static bool holds(const char *name, const char *expected)
{
	char *text;
	size_t n;
	bool same = regular_read(AT_FDCWD, name, REGULAR_ANYBODY, 100, &text, &n, NULL) == 0 && n == strlen(expected) &&
	            memcmp(text, expected, n) == 0;
	free(text);
	return same;
}

static int count_names(void)
{
	int n = 0;
	DIR *d = opendir(".");
	while (d && readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static int publish_once(void *context)
{
	(void)context;
	int rv = publish_file("again", 0600, "x", 1);
	if (count_names() != 1 + (rv == 0)) /* nothing else is left behind */
		abort();
	unlink("again");
	return rv;
}

int main(void)
{
	struct stat st;
	struct rlimit limit;
	scratch_enter();
	getrlimit(RLIMIT_FSIZE, &limit);
	umask(077);
	ok(publish_file("no/file", 0600, "x", 1) == -1 && errno == ENOENT, "a folder that is not there");
	struct rlimit small = {.rlim_cur = 3, .rlim_max = limit.rlim_max};
	setrlimit(RLIMIT_FSIZE, &small);
	ok(publish_file("file", 0600, "long", 4) == -1 && errno == EFBIG && count_names() == 0,
	   "more than a file may have: no signal, and nothing is there");
	setrlimit(RLIMIT_FSIZE, &limit);
	ok(publish_file("file", 0644, "first", 5) == 0 && holds("file", "first") && stat("file", &st) == 0 &&
	           (st.st_mode & 0777) == 0644 && st.st_nlink == 1,
	   "a file, with the mode that was asked for, whatever the umask is");
	ok(publish_file("file", 0644, "second", 6) == -1 && errno == EEXIST && holds("file", "first"),
	   "a file that is there stays");
	ok(publish_unsynced("file", 0644, "second", 6) == -1 && errno == EEXIST, "also without the disk");
	ok(publish_over("file", 0600, "third", 5) == 0 && holds("file", "third"), "unless it is to be replaced");
	ok(publish_over("/dev/null", 0600, "x", 1) == -1, "a device is not");
	ok(mkdir("folder", 0700) == 0 && publish_over("folder", 0600, "x", 1) == -1 && rmdir("folder") == 0,
	   "nor is a folder");
	ok(publish_file("empty", 0600, NULL, 0) == 0 && holds("empty", "") && unlink("empty") == 0, "an empty file");
	ok(count_names() == 1, "no temporary name is left");
	ok(fails_well(publish_once, NULL), "without memory nothing is there");
	unlink("file");
	return tap_end();
}
