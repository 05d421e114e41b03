/* SPDX-License-Identifier: BSD-3-Clause
 * locks - a tool that stands in front of an allocator, and looks for the next functions under its own lock
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *malloc(size_t size)
{
	void *block;

	pthread_mutex_lock(&lock);
	block = __libc_malloc(size);
	pthread_mutex_unlock(&lock);
	return block;
}

void *memalign(size_t alignment, size_t size)
{
	static void *(*next)(size_t, size_t);
	void *block;

	alarm(10); /* for what would wait for ever */
	pthread_mutex_lock(&lock);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "memalign");
	block = next(alignment, size);
	pthread_mutex_unlock(&lock);
	alarm(0);
	return block;
}
