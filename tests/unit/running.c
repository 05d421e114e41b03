/* SPDX-License-Identifier: BSD-3-Clause
 * running - who looks at the arenas of a running step takes no recorder's lock away, and counts what there is
 */
#include "deliver/running.h"

#include <sys/file.h>
#include <sys/syscall.h>

#include "tests/unit/folder.h"

static unsigned locks;

/* Instead of libc's. */
int flock(int fd, int operation)
{
	locks++;
	return (int)syscall(SYS_flock, fd, operation);
}

static int take(void *context, const uint8_t *bytes, size_t size, struct error *error)
{
	(void)context, (void)bytes, (void)size, (void)error;
	return 0;
}

static struct running look(void)
{
	struct running r = {.take = take};
	struct error error = {""};
	locks = 0;
	ok(running_read(&r, below("step"), &error) == 0, "the folder is read %s", error.text);
	return r;
}

static void write_file(const char *path, const char *text, off_t size)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || ftruncate(fd, size) != 0)
		abort();
	close(fd);
}

static void test_all(void)
{
	mkdir(below("step"), 0700);
	write_file(below("step/rank-1.arena"), "", 1 << 20);
	struct running r = look();
	ok(r.early == 1 && r.arenas == 0 && r.unread == 0, "an arena that is just made is early");
	ok(locks == 0, "and its lock is left to its recorder");
	if (symlink("nothing", below("step/rank-2.arena")))
		abort();
	r = look();
	ok(r.early == 1 && r.arenas == 0 && r.unread == 0, "one that has gone is not counted");
	write_file(below("step/rank-3.arena"), "no arena", 1 << 20);
	r = look();
	ok(r.early == 1 && r.unread == 1 && strstr(r.first.text, "rank-3.arena"), "another file: %s", r.first.text);
}

int main(void)
{
	return run_in_folder(test_all);
}
