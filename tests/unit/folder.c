/* SPDX-License-Identifier: BSD-3-Clause
 * folder - root makes folders only where no user could have put something in the way
 */
#include "deliver/folder.h"

#include "archive/day.h"

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
	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == uid && st.st_gid == gid &&
	       (st.st_mode & 07777) == mode;
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
	ok(folder_make_day(archive, 0, 0, USER, path, sizeof path, &error) == -1 && strstr(error.text, words),
	   "no day: %s", error.text);
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
	mkdir(below("open"), 0700);
	chmod(below("open"), 0777);
	refuses_step(below("open"), "mode 0777");
	refuses_day(below("open"), "mode 0777");
	chmod(below("open"), 0771);
	refuses_step(below("open"), "nobody else may write it");
	ok(folder_make_step(below("real"), "1.0.n1", USER, USER, path, sizeof path, &error) == -1 &&
	           strstr(error.text, "too long"),
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
	ok(fd >= 0 && is(below("spool"), 0, 0, 0711) && !strcmp(first, below("spool/1.0.n1")) &&
	           is(first, USER, USER, 0700),
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
	ok(folder_remove_step(fd, second) == -1 && (errno == ENOTEMPTY || errno == EEXIST),
	   "one with something in it stays");
	close(fd);
	close(again);
}

static void test_day(void)
{
	char path[PATH_MAX], own[PATH_MAX];
	struct error error = {""};
	struct stat st;

	setenv("TZ", "Pacific/Kiritimati", 1); /* the day is that of UTC */
	for (int i = 0; i < 2; i++)
		ok(!folder_make_day(below("days"), 951782399, 7, USER, path, sizeof path, &error) &&
		           !strcmp(path, below("days/2000/02/28")) && is(path, 0, 7, 02751) &&
		           is(below("days/2000/02"), 0, 0, 0755) && is(below("days/2000"), 0, 0, 0755) &&
		           is(below("days"), 0, 0, 0755) && is(below("days/2000/02/28/65534"), USER, 7, 02750),
		   "a day and a user's folder, %s: %s", i ? "again" : "once", error.text);
	ok(!folder_make_day(below("days"), 951782400, 7, FOLDER_AHEAD, path, sizeof path, &error) &&
	           is(below("days/2000/02/29"), 0, 7, 03773),
	   "a day ahead: %s", error.text);
	mkdir(below("days/2000/02/29/65534"), 0700); /* root's: somebody was quicker */
	ok(!folder_make_day(below("days"), 951782400, 7, USER, path, sizeof path, &error) &&
	           is(below("days/2000/02/29/65534"), 0, 7, 02700) && is(path, 0, 7, 03773),
	   "what is there stays as it is: %s", error.text);
	ok(!folder_make_day(below("days"), 951782400, 7, 1, path, sizeof path, &error) &&
	           is(below("days/2000/02/29/1"), 1, 7, 02750),
	   "in a day ahead, root makes the folder all the same: %s", error.text);

	/* The archive of another user: root acts with that user's rights, and has its own again. */
	mkdir(below("foreign"), 0755);
	if (chown(below("foreign"), USER, USER) || chmod(below("foreign"), 0755))
		abort();
	ok(!folder_make_day(below("foreign"), 951782400, USER, 1, path, sizeof path, &error) &&
	           is(path, USER, USER, 03773) && is(below("foreign/2000"), USER, USER, 0755) &&
	           lstat(below("foreign/2000/02/29/1"), &st),
	   "another user's archive: %s", error.text);
	mkdir(below("mine"), 0755);
	ok(is(below("mine"), 0, 0, 0700), "and root is root again");

	/* As a user: the first name that is free or one's own. */
	mkdir(below("foreign/2000/02/29/2"), 0700);
	mkdir(below("foreign/2000/02/29/2.1"), 0700);
	for (int i = 0; i < 2; i++) {
		if (seteuid(2))
			abort();
		int rv = day_own_folder(path, true, own, sizeof own, &error);
		if (seteuid(0))
			abort();
		ok(rv == 0 && is(own, 2, USER, 02750) && !strcmp(own, below("foreign/2000/02/29/2.2")),
		   "names that others took: %s", error.text);
	}
	for (unsigned k = 0; k < DAY_NAMES; k++) {
		char name[DAY_FOLDER_SIZE];
		day_folder_name(3, k, name);
		if ((size_t)snprintf(own, sizeof own, "%s/%s", path, name) >= sizeof own || mkdir(own, 0700))
			abort();
	}
	if (seteuid(3))
		abort();
	ok(day_own_folder(path, true, own, sizeof own, &error) == -1 && strstr(error.text, "are taken by others"),
	   "all names: %s", error.text);
	if (seteuid(0))
		abort();
}

static void test_names(void)
{
	static const char *const none[] = {"",   "x",   "01",    "1.0",        "1.01",
	                                   "1.", "1.x", "1.64",  "4294967295", "99999999999999999999",
	                                   "-1", "1 ",  "1.1.1", ".1"};
	char day[DAY_SIZE];
	uid_t uid;

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		ok(!day_is_folder(none[i], &uid), "no user's folder: \"%s\"", none[i]);
	ok(day_is_folder("0", &uid) && uid == 0 && day_is_folder("4294967294.63", &uid) && uid == 4294967294U,
	   "folders");
	ok(day_of(INT64_MAX, day) && day_of(INT64_C(253402300800), day) && day_of(-INT64_C(9000000000), day),
	   "times that have no day");
	ok(!day_of(0, day) && !strcmp(day, "1970/01/01") && !day_of(INT64_C(253402300799), day) &&
	           !strcmp(day, "9999/12/31"),
	   "times that have one");
	ok(day_age("1970/01/01", 86400 * 3 - 1) == 2 && day_age("1970/01/01", 86400 * 3) == 3 &&
	           day_age("1970/01/05", 0) == 0 && day_age("x", 86400) == 0,
	   "ages");
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
	chmod(work, 0711);
	test_bad();
	test_step();
	test_day();
	test_names();
	char command[PATH_MAX];
	snprintf(command, sizeof command, "rm -rf '%s'", work);
	if (system(command))
		return 1;
	return tap_end();
}
