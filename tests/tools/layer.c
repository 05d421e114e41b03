/* SPDX-License-Identifier: BSD-3-Clause
 * layer - libraries that know about the loader: preloaded, before or behind the tracer
 *
 * -DSYMBOLS: has a dlsym itself, which counts, and passes on as such libraries do. Else: stands before getppid and asks
 * with RTLD_NEXT, from its constructor on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef SYMBOLS
static void *(*real)(void *, const char *);

void *dlsym(void *restrict handle, const char *restrict name)
{
	if (!real)
		*(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	return real(handle, name);
}
#else
static pid_t (*next)(void);

static __attribute__((constructor)) void find(void)
{
	Dl_info info, own;

	*(void **)&next = dlsym(RTLD_NEXT, "getppid");
	/* a wrong caller would find ourselves again */
	if (!next || !dladdr((void *)next, &info) || !dladdr((void *)find, &own) || info.dli_fbase == own.dli_fbase) {
		puts("RTLD_NEXT does not know who asks");
		_exit(9);
	}
}

pid_t getppid(void)
{
	return next();
}
#endif
