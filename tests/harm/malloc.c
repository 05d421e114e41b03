/* SPDX-License-Identifier: BSD-3-Clause
 * malloc - a program's own allocator: never frees; aborts when it is entered while it is at work,
 * or is given what it did not give out. Linked with others
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 256 << 20 };

static char heap[SIZE] __attribute__((aligned(64)));
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;

void *malloc(size_t size)
{
	char *p = NULL;

	if (inside++)
		abort();
	pthread_mutex_lock(&lock);
	size = (size + 79) & ~(size_t)63; /* the size is kept in front, for realloc */
	if (size <= SIZE - used) {
		p = heap + used + 64 - sizeof(size_t);
		memcpy(p, &size, sizeof size);
		p += sizeof size;
		used += size + 64;
	} else {
		errno = ENOMEM;
	}
	pthread_mutex_unlock(&lock);
	inside--;
	return p;
}

void free(void *p)
{
	if (p && ((char *)p < heap || (char *)p >= heap + SIZE))
		abort(); /* not of this allocator */
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size); /* never used before, and so zero */
}

void *realloc(void *old, size_t size)
{
	size_t was = 0;
	void *p = malloc(size);

	if (old && p) {
		memcpy(&was, (char *)old - sizeof was, sizeof was);
		memcpy(p, old, was < size ? was : size);
	}
	return p;
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	char *raw = malloc(size + alignment);
	size_t whole = size;

	if (!raw)
		return ENOMEM;
	raw += alignment - (size_t)raw % alignment;
	if (alignment >= sizeof whole)
		memcpy(raw - sizeof whole, &whole, sizeof whole);
	*p = raw;
	return 0;
}

void *memalign(size_t alignment, size_t size)
{
	void *p = NULL;

	return posix_memalign(&p, alignment, size) ? NULL : p;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}
