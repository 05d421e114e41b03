/* SPDX-License-Identifier: BSD-3-Clause
 * meter - interposes functions of libc, and says at the end which file of the process called them how often
 *
 * -DMEMORY: malloc and its kin (heaptrack's kind). Else: open, read, write, and their kin (Darshan's kind).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACES = 4096 };
static struct place {
	void *address;
	long calls, bytes;
} places[PLACES];
static int used;
static __thread int inside;

/* One thread at a time finds its place; another one that comes meanwhile may count twice, which the test does not see:
 * it looks at the program's main thread. */
static void count(void *address, size_t bytes)
{
	int i = 0;

	if (inside)
		return;
	while (i < used && places[i].address != address)
		i++;
	if (i == PLACES)
		return;
	if (i == used)
		places[used++].address = address;
	places[i].calls++;
	places[i].bytes += (long)bytes;
}

#define COUNT(bytes) count(__builtin_return_address(0), (bytes))

#define NEXT(name)                                         \
	static __typeof__(&name) next;                     \
	if (!next) {                                       \
		inside++;                                  \
		*(void **)&next = dlsym(RTLD_NEXT, #name); \
		inside--;                                  \
	}

#ifdef MEMORY
/* What dlsym itself allocates. */
static char early[65536];
static size_t early_used;

void *malloc(size_t size)
{
	if (inside) {
		void *p = early + early_used;

		early_used += (size + 15) & ~(size_t)15;
		return early_used <= sizeof early ? p : NULL;
	}
	NEXT(malloc)
	COUNT(size);
	return next(size);
}

void *calloc(size_t n, size_t size)
{
	if (inside)
		return malloc(n * size);
	NEXT(calloc)
	COUNT(n * size);
	return next(n, size);
}

void *realloc(void *p, size_t size)
{
	NEXT(realloc)
	COUNT(size);
	return next(p, size);
}

void free(void *p)
{
	if ((char *)p >= early && (char *)p < early + sizeof early)
		return;
	NEXT(free)
	next(p);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	NEXT(posix_memalign)
	COUNT(size);
	return next(p, alignment, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	NEXT(mmap)
	COUNT(size);
	return next(at, size, protection, flags, fd, offset);
}

int munmap(void *at, size_t size)
{
	NEXT(munmap)
	COUNT(0);
	return next(at, size);
}
#else
#define OPEN(name, declared, passed)         \
	int name declared                    \
	{                                    \
		va_list rest;                \
		mode_t mode;                 \
		NEXT(name)                   \
		va_start(rest, flags);       \
		mode = va_arg(rest, mode_t); \
		va_end(rest);                \
		COUNT(0);                    \
		return next passed;          \
	}
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int fd, const char *path, int flags, ...), (fd, path, flags, mode))

FILE *fopen(const char *path, const char *how)
{
	NEXT(fopen)
	COUNT(0);
	return next(path, how);
}

int fclose(FILE *f)
{
	NEXT(fclose)
	COUNT(0);
	return next(f);
}

int close(int fd)
{
	NEXT(close)
	COUNT(0);
	return next(fd);
}

ssize_t read(int fd, void *buffer, size_t size)
{
	NEXT(read)
	COUNT(0);
	return next(fd, buffer, size);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
	NEXT(write)
	COUNT(size);
	return next(fd, buffer, size);
}

int unlink(const char *path)
{
	NEXT(unlink)
	COUNT(0);
	return next(path);
}

int rename(const char *from, const char *to)
{
	NEXT(rename)
	COUNT(0);
	return next(from, to);
}

int fsync(int fd)
{
	NEXT(fsync)
	COUNT(0);
	return next(fd);
}

int ftruncate(int fd, off_t size)
{
	NEXT(ftruncate)
	COUNT(0);
	return next(fd, size);
}
#endif

static const char *file_of(void *address, Dl_info *info)
{
	const char *slash;

	if (!dladdr(address, info))
		return "nowhere";
	slash = strrchr(info->dli_fname, '/');
	return slash ? slash + 1 : info->dli_fname;
}

/* The next process is not to be measured, and has nothing of ours in its environment. */
static __attribute__((constructor)) void leave(void)
{
	unsetenv("METER_TIMES");
	unsetenv("METER_PLACES");
}

/* Each file that called, once; and of the program how often and for how many bytes. */
static __attribute__((destructor)) void say(void)
{
	const char *path = getenv("METER");
	char name[512];
	FILE *out;
	Dl_info info;

	inside++;
	snprintf(name, sizeof name, "%s.%ld", path ? path : "/dev/null", (long)getpid());
	out = path ? fopen(name, "w") : NULL;
	for (int i = 0; out && i < used; i++) {
		const char *file = file_of(places[i].address, &info);

		if (!strncmp(file, "plays", 5))
			fprintf(out, "%s+%#lx %ld %ld\n", file,
			        (unsigned long)((char *)places[i].address - (char *)info.dli_fbase), places[i].calls,
			        places[i].bytes);
		else
			fprintf(out, "%s\n", file);
	}
	if (out)
		fclose(out);
	_exit(0);
}
