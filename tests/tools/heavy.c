/* SPDX-License-Identifier: BSD-3-Clause
 * heavy - glibc's malloc, whose large blocks are HEAVY times as large as was asked for, as malloc_usable_size says: a
 * budget of memory ends early
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);

enum { LARGE = 4096 };

void *malloc(size_t size)
{
	return __libc_malloc(size);
}

size_t malloc_usable_size(void *p)
{
	static size_t (*real)(void *);
	static double times;
	if (!real) {
		*(void **)&real = dlsym(RTLD_NEXT, "malloc_usable_size");
		times = getenv("HEAVY") ? strtod(getenv("HEAVY"), NULL) : 1;
	}
	size_t size = real(p);
	return size < LARGE ? size : (size_t)(times * (double)size);
}
