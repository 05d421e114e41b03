/* SPDX-License-Identifier: BSD-3-Clause
 * system - the functions of libc that are system calls, under libc's names
 */
#include "preload/own/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* -1 and errno, as libc's functions return it. */
static long result(long rv)
{
	if (rv >= 0 || rv < -4095)
		return rv;
	errno = (int)-rv;
	return -1;
}

#define CALL6(name, a, b, c, d, e, f, ...) \
	result(system_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
#define CALL(...) CALL6(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

long syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return result(system_call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

/* ---- files ---- */

int openat(int folder, const char *path, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	int mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return (int)CALL(openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	int mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return (int)CALL(openat, AT_FDCWD, path, flags, mode);
}

int close(int fd)
{
	return (int)CALL(close, fd);
}

ssize_t read(int fd, void *to, size_t n)
{
	return CALL(read, fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	return CALL(pread64, fd, to, n, at);
}

ssize_t write(int fd, const void *from, size_t n)
{
	return CALL(write, fd, from, n);
}

int fstat(int fd, struct stat *st)
{
	return (int)CALL(fstat, fd, st);
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	return (int)CALL(newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int access(const char *path, int mode)
{
	return (int)CALL(faccessat, AT_FDCWD, path, mode);
}

ssize_t readlink(const char *restrict path, char *restrict to, size_t n)
{
	return CALL(readlinkat, AT_FDCWD, path, to, n);
}

int rename(const char *from, const char *to)
{
	return (int)CALL(renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int link(const char *from, const char *to)
{
	return (int)CALL(linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
	return (int)CALL(unlinkat, AT_FDCWD, path, 0);
}

int fchmod(int fd, mode_t mode)
{
	return (int)CALL(fchmod, fd, mode);
}

int flock(int fd, int how)
{
	return (int)CALL(flock, fd, how);
}

int fallocate(int fd, int mode, off_t from, off_t n)
{
	return (int)CALL(fallocate, fd, mode, from, n);
}

int fstatfs(int fd, struct statfs *fs)
{
	return (int)CALL(fstatfs, fd, fs);
}

int fsync(int fd)
{
	return (int)CALL(fsync, fd);
}

int fcntl(int fd, int what, ...)
{
	va_list ap;

	va_start(ap, what);
	long argument = va_arg(ap, long);
	va_end(ap);
	return (int)CALL(fcntl, fd, what, argument);
}

int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict size)
{
	return (int)CALL(getsockopt, fd, level, name, value, size);
}

/* ---- folders ---- */

struct __dirstream {
	int fd;
	long at, end; /* of the entries that were read */
	char entries[8192] __attribute__((aligned(16)));
};

DIR *fdopendir(int fd)
{
	DIR *d = malloc(sizeof *d);

	if (d) {
		d->fd = fd;
		d->at = d->end = 0;
	}
	return d;
}

DIR *opendir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !d)
		close(fd);
	return d;
}

/* The kernel's entries are those of libc. */
struct dirent *readdir(DIR *d)
{
	if (d->at >= d->end) {
		d->end = CALL(getdents64, d->fd, d->entries, sizeof d->entries);
		d->at = 0;
		if (d->end <= 0)
			return NULL;
	}
	struct dirent *e = (struct dirent *)(void *)(d->entries + d->at);
	d->at += e->d_reclen;
	return e;
}

int closedir(DIR *d)
{
	int rv = close(d->fd);

	free(d);
	return rv;
}

/* ---- memory ---- */

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return (void *)CALL(mmap, at, n, protection, flags, fd, offset); /* NOLINT */
}

int munmap(void *at, size_t n)
{
	return (int)CALL(munmap, at, n);
}

int mprotect(void *at, size_t n, int protection)
{
	return (int)CALL(mprotect, at, n, protection);
}

int madvise(void *at, size_t n, int advice)
{
	return (int)CALL(madvise, at, n, advice);
}

int mincore(void *at, size_t n, unsigned char *there)
{
	return (int)CALL(mincore, at, n, there);
}

void *mremap(void *at, size_t n, size_t more, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	void *to = va_arg(ap, void *);
	va_end(ap);
	return (void *)CALL(mremap, at, n, more, flags, to); /* NOLINT */
}

/* ---- processes, and the rest ---- */

pid_t getpid(void)
{
	return (pid_t)CALL(getpid);
}

pid_t getppid(void)
{
	return (pid_t)CALL(getppid);
}

pid_t gettid(void)
{
	return (pid_t)CALL(gettid);
}

int sched_yield(void)
{
	return (int)CALL(sched_yield);
}

int nanosleep(const struct timespec *how_long, struct timespec *left)
{
	return (int)CALL(clock_nanosleep, CLOCK_REALTIME, 0, how_long, left);
}

int getrlimit(__rlimit_resource_t which, struct rlimit *limit)
{
	return (int)CALL(prlimit64, 0, which, NULL, limit);
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	return (int)CALL(getrusage, who, usage);
}

int gethostname(char *to, size_t n)
{
	struct utsname names;

	if (CALL(uname, &names) != 0)
		return -1;
	snprintf(to, n, "%s", names.nodename);
	return 0;
}

long sysconf(int name)
{
	return name == _SC_PAGESIZE ? (long)getauxval(AT_PAGESZ) : -1;
}

void abort(void)
{
	CALL(tgkill, getpid(), gettid(), SIGABRT);
	__builtin_trap();
}

void __assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
	char text[512];
	int n = snprintf(text, sizeof text, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, what);

	write(STDERR_FILENO, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
	abort();
}
