/* SPDX-License-Identifier: BSD-3-Clause
 * folder - root makes folders only where no user could have put something in the way
 */
#include "spank/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tap.h"

#define USER 65534

static char work[PATH_MAX / 2];

static const char *below(const char *name)
{
	static char paths[4][PATH_MAX];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, PATH_MAX, "%s/%s", work, name);
	return path;
}

static bool is(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	struct stat st;
	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == uid && st.st_gid == gid && (st.st_mode & 07777) == mode;
}

static void refuses_step(const char *spool, const char *words)
{
	char path[PATH_MAX];
	struct error error = {""};
	ok(folder_make_step(spool, "1.0.n1", USER, USER, path, sizeof path, &error) == -1 && strstr(error.text, words),
	   "no step folder: %s", error.text);
}

static void refuses_day(const char *archive, const char *words)
{
	char path[PATH_MAX];
	struct error error = {""};
	ok(folder_make_day(archive, 0, 0, path, sizeof path, &error) == -1 && strstr(error.text, words), "no day: %s", error.text);
}

static void test_bad(void)
{
	char path[20];
	struct error error = {""};

	refuses_step(below("missing/spool"), "No such file");
	mkdir(below("real"), 0711);
	if (symlink("real", below("link")))
		abort();
	refuses_step(below("link"), "cannot be opened as a folder");
	refuses_day(below("link"), "cannot be opened as a folder");
	close(open(below("file"), O_CREAT | O_WRONLY, 0644));
	refuses_step(below("file"), "cannot be opened as a folder");
	mkdir(below("theirs"), 0700);
	if (chown(below("theirs"), USER, USER))
		abort();
	refuses_step(below("theirs"), "belongs to user 65534");
	refuses_day(below("theirs"), "belongs to user 65534");
	mkdir(below("open"), 0700);
	chmod(below("open"), 0777);
	refuses_step(below("open"), "mode 0777");
	refuses_day(below("open"), "mode 0777");
	chmod(below("open"), 0771);
	refuses_step(below("open"), "nobody else may write it");
	ok(folder_make_step(below("real"), "1.0.n1", USER, USER, path, sizeof path, &error) == -1 && strstr(error.text, "too long"),
	   "no room for the path: %s", error.text);

	/* Somebody was there before. */
	mkdir(below("archive"), 0755);
	if (symlink("/tmp", below("archive/1970")))
		abort();
	refuses_day(below("archive"), "cannot be opened as a folder");
	unlink(below("archive/1970"));
	mkdir(below("archive/1970"), 0755);
	if (chown(below("archive/1970"), USER, 0))
		abort();
	refuses_day(below("archive"), "belongs to user");
}

static void test_step(void)
{
	char first[PATH_MAX], second[PATH_MAX];
	struct error error = {""};

	umask(077);
	int fd = folder_make_step(below("spool"), "1.0.n1", USER, USER, first, sizeof first, &error);
	ok(fd >= 0 && is(below("spool"), 0, 0, 0711) && !strcmp(first, below("spool/1.0.n1")) && is(first, USER, USER, 0700),
	   "the spool and the step's folder: %s", error.text);
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "tasks do not get the descriptor");
	int again = folder_make_step(below("spool"), "1.0.n1", USER, USER, second, sizeof second, &error);
	ok(again >= 0 && !strcmp(second, below("spool/1.0.n1.1")), "one is left from an earlier run: another name");
	int64_t before = folder_step_changed(fd, first);
	usleep(20000);
	ok(before && folder_step_changed(fd, first) == before, "nothing changed");
	close(open(below("spool/1.0.n1/a"), O_CREAT | O_WRONLY, 0600));
	unlink(below("spool/1.0.n1/a"));
	ok(folder_step_changed(fd, first) != before, "something came and went");
	ok(!folder_remove_step(fd, first) && folder_remove_step(fd, first) == -1 && errno == ENOENT, "removed once");
	close(open(below("spool/1.0.n1.1/a"), O_CREAT | O_WRONLY, 0600));
	ok(folder_remove_step(fd, second) == -1 && (errno == ENOTEMPTY || errno == EEXIST), "one with something in it stays");
	close(fd);
	close(again);
}

static void test_day(void)
{
	char path[PATH_MAX];
	struct error error = {""};

	setenv("TZ", "UTC", 1);
	for (int i = 0; i < 2; i++)
		ok(!folder_make_day(below("days"), 951782400, 7, path, sizeof path, &error) && !strcmp(path, below("days/2000/02/29")) &&
		           is(path, 0, 7, 03777) && is(below("days/2000/02"), 0, 0, 0755) && is(below("days/2000"), 0, 0, 0755) &&
		           is(below("days"), 0, 0, 0755),
		   "a day, %s: %s", i ? "again" : "once", error.text);
}

int main(void)
{
	const char *temporary = getenv("TMPDIR");

	if (geteuid() != 0) {
		puts("1..0 # SKIP only root makes folders for others");
		return 0;
	}
	snprintf(work, sizeof work, "%s/folder.XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(work)) {
		perror(work);
		return 1;
	}
	test_bad();
	test_step();
	test_day();
	char command[PATH_MAX];
	snprintf(command, sizeof command, "rm -rf '%s'", work);
	if (system(command))
		return 1;
	return tap_end();
}
