/* SPDX-License-Identifier: BSD-3-Clause
 * checked - what the compiler calls instead where it checks buffers (-D_FORTIFY_SOURCE) and stacks
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Under the names that the compiler knows; no header declares them. */
#define CHECKED(type, name, ...)          \
	type __##name##_chk(__VA_ARGS__); \
	type __##name##_chk(__VA_ARGS__)

static void check(size_t n, size_t room)
{
	if (n > room)
		__builtin_trap();
}

void __stack_chk_fail(void);
void __stack_chk_fail(void)
{
	__builtin_trap();
}

CHECKED(void *, memcpy, void *to, const void *from, size_t n, size_t room)
{
	check(n, room);
	return memcpy(to, from, n);
}

CHECKED(void *, memmove, void *to, const void *from, size_t n, size_t room)
{
	check(n, room);
	return memmove(to, from, n);
}

CHECKED(void *, memset, void *to, int c, size_t n, size_t room)
{
	check(n, room);
	return memset(to, c, n);
}

CHECKED(char *, strcpy, char *to, const char *from, size_t room)
{
	check(strlen(from) + 1, room);
	return strcpy(to, from);
}

CHECKED(char *, strcat, char *to, const char *from, size_t room)
{
	check(strlen(to) + strlen(from) + 1, room);
	return strcat(to, from);
}

CHECKED(int, vsnprintf, char *to, size_t n, int flag, size_t room, const char *format, va_list ap)
{
	(void)flag;
	check(n, room);
	return vsnprintf(to, n, format, ap);
}

CHECKED(int, snprintf, char *to, size_t n, int flag, size_t room, const char *format, ...)
{
	va_list ap;

	(void)flag;
	check(n, room);
	va_start(ap, format);
	int rv = vsnprintf(to, n, format, ap);
	va_end(ap);
	return rv;
}

CHECKED(int, sprintf, char *to, int flag, size_t room, const char *format, ...)
{
	va_list ap;

	(void)flag;
	va_start(ap, format);
	int rv = vsnprintf(to, room, format, ap);
	va_end(ap);
	check((size_t)rv, room - 1);
	return rv;
}

CHECKED(ssize_t, read, int fd, void *to, size_t n, size_t room)
{
	check(n, room);
	return read(fd, to, n);
}

CHECKED(ssize_t, pread, int fd, void *to, size_t n, off_t at, size_t room)
{
	check(n, room);
	return pread(fd, to, n, at);
}

CHECKED(ssize_t, readlink, const char *path, char *to, size_t n, size_t room)
{
	check(n, room);
	return readlink(path, to, n);
}

CHECKED(int, gethostname, char *to, size_t n, size_t room)
{
	check(n, room);
	return gethostname(to, n);
}

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int __openat_2(int folder, const char *path, int flags);
int __openat_2(int folder, const char *path, int flags)
{
	return openat(folder, path, flags);
}
