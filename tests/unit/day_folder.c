/* SPDX-License-Identifier: BSD-3-Clause
 * day_folder - root makes folders of days and users only where no user could have put something in the way
 */
#include "deliver/day_folder.h"

#include "archive/day.h"
#include "tests/unit/folder.h"

static void refuses_day(const char *archive, const char *words)
{
	char path[PATH_MAX];
	struct error error = {""};
	ok(day_folder_make(archive, 0, 0, USER, path, sizeof path, &error) == -1 && strstr(error.text, words),
	   "no day: %s", error.text);
}

static void test_bad(void)
{
	mkdir(below("real"), 0711);
	if (symlink("real", below("link")))
		abort();
	refuses_day(below("link"), "cannot be opened as a folder");
	mkdir(below("open"), 0700);
	chmod(below("open"), 0777);
	refuses_day(below("open"), "mode 0777");

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

static void test_day(void)
{
	char path[PATH_MAX], own[PATH_MAX];
	struct error error = {""};
	struct stat st;

	umask(077);
	setenv("TZ", "Pacific/Kiritimati", 1); /* the day is that of UTC */
	for (int i = 0; i < 2; i++)
		ok(!day_folder_make(below("days"), 951782399, 7, USER, path, sizeof path, &error) &&
		           !strcmp(path, below("days/2000/02/28")) && is(path, 0, 7, 02751) &&
		           is(below("days/2000/02"), 0, 0, 0755) && is(below("days/2000"), 0, 0, 0755) &&
		           is(below("days"), 0, 0, 0755) && is(below("days/2000/02/28/65534"), USER, 7, 02750),
		   "a day and a user's folder, %s: %s", i ? "again" : "once", error.text);
	ok(!day_folder_make(below("days"), 951782400, 7, DAY_FOLDER_AHEAD, path, sizeof path, &error) &&
	           is(below("days/2000/02/29"), 0, 7, 03773),
	   "a day ahead: %s", error.text);
	mkdir(below("days/2000/02/29/65534"), 0700); /* root's: somebody was quicker */
	ok(!day_folder_make(below("days"), 951782400, 7, USER, path, sizeof path, &error) &&
	           is(below("days/2000/02/29/65534"), 0, 7, 02700) && is(path, 0, 7, 03773),
	   "what is there stays as it is: %s", error.text);
	ok(!day_folder_make(below("days"), 951782400, 7, 1, path, sizeof path, &error) &&
	           is(below("days/2000/02/29/1"), 1, 7, 02750),
	   "in a day ahead, root makes the folder all the same: %s", error.text);

	/* The archive of another user: root acts with that user's rights, and has its own again. */
	mkdir(below("foreign"), 0755);
	if (chown(below("foreign"), USER, USER) || chmod(below("foreign"), 0755))
		abort();
	ok(!day_folder_make(below("foreign"), 951782400, USER, 1, path, sizeof path, &error) &&
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

static void test_all(void)
{
	test_bad();
	test_day();
	test_names();
}

int main(void)
{
	return run_in_folder(test_all);
}
