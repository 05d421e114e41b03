/* SPDX-License-Identifier: BSD-3-Clause
 * symbol - the loader's own dlsym, from inside a library that has one itself (lookup.c)
 */
#ifndef SPOOR_SYMBOL_H
#define SPOOR_SYMBOL_H

#include <dlfcn.h>
#include <stddef.h>

/* Of whatever runs in dlsym: a sanitizer's run-time library calls that before it is ready to be called itself. */
#define SYMBOL_EARLY __attribute__((no_sanitize("address", "thread", "undefined")))

typedef void *symbol_finder(void *handle, const char *name);

/* The next dlsym after ours: the C library's, or that of another library that was preloaded behind us. NULL if there is none, which no C
 * library does. */
extern symbol_finder *symbol_next __attribute__((visibility("hidden")));
SYMBOL_EARLY symbol_finder *symbol_find_next(void);

SYMBOL_EARLY static inline symbol_finder *symbol_finder_next(void)
{
	symbol_finder *f = __atomic_load_n(&symbol_next, __ATOMIC_RELAXED);
	return __builtin_expect(f != NULL, 1) ? f : symbol_find_next();
}

/* dlsym as this library's own code means it. */
static inline void *symbol_find(void *handle, const char *name)
{
	symbol_finder *f = symbol_finder_next();
	return f ? f(handle, name) : NULL;
}

#endif
