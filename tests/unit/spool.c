/* SPDX-License-Identifier: BSD-3-Clause
 * spool - root makes folders of steps only where no user could have put something in the way
 */
#include "deliver/spool.h"

#include "tests/unit/folder.h"

static void refuses_step(const char *spool, const char *words)
{
	char path[PATH_MAX];
	struct error error = {""};
	ok(spool_make_step(spool, "1.0.n1", USER, USER, path, sizeof path, &error) == -1 && strstr(error.text, words),
	   "no step folder: %s", error.text);
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
	close(open(below("file"), O_CREAT | O_WRONLY, 0644));
	refuses_step(below("file"), "cannot be opened as a folder");
	mkdir(below("theirs"), 0700);
	if (chown(below("theirs"), USER, USER))
		abort();
	refuses_step(below("theirs"), "belongs to user 65534");
	mkdir(below("open"), 0700);
	chmod(below("open"), 0777);
	refuses_step(below("open"), "mode 0777");
	chmod(below("open"), 0771);
	refuses_step(below("open"), "nobody else may write it");
	ok(spool_make_step(below("real"), "1.0.n1", USER, USER, path, sizeof path, &error) == -1 &&
	           strstr(error.text, "too long"),
	   "no room for the path: %s", error.text);
}

static void test_step(void)
{
	char first[PATH_MAX], second[PATH_MAX];
	struct error error = {""};

	umask(077);
	int fd = spool_make_step(below("spool"), "1.0.n1", USER, USER, first, sizeof first, &error);
	ok(fd >= 0 && is(below("spool"), 0, 0, 0711) && !strcmp(first, below("spool/1.0.n1")) &&
	           is(first, USER, USER, 0700),
	   "the spool and the step's folder: %s", error.text);
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "tasks do not get the descriptor");
	int again = spool_make_step(below("spool"), "1.0.n1", USER, USER, second, sizeof second, &error);
	ok(again >= 0 && !strcmp(second, below("spool/1.0.n1.1")), "one is left from an earlier run: another name");
	int64_t before = spool_step_changed(fd, first);
	usleep(20000);
	ok(before && spool_step_changed(fd, first) == before, "nothing changed");
	close(open(below("spool/1.0.n1/a"), O_CREAT | O_WRONLY, 0600));
	unlink(below("spool/1.0.n1/a"));
	ok(spool_step_changed(fd, first) != before, "something came and went");
	ok(!spool_remove_step(fd, first) && spool_remove_step(fd, first) == -1 && errno == ENOENT, "removed once");
	close(open(below("spool/1.0.n1.1/a"), O_CREAT | O_WRONLY, 0600));
	ok(spool_remove_step(fd, second) == -1 && (errno == ENOTEMPTY || errno == EEXIST),
	   "one with something in it stays");
	close(fd);
	close(again);
}

static void test_all(void)
{
	test_bad();
	test_step();
}

int main(void)
{
	return run_in_folder(test_all);
}
