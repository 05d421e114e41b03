/* SPDX-License-Identifier: BSD-3-Clause
 * symbol - the loader's own dlsym, from inside a library that has one itself (lookup.c)
 */
#include "preload/symbol.h"

symbol_finder *symbol_next;

/* dlsym itself would find ours. glibc's dlvsym asks for a version: that of 2.34, when it moved into libc.so, or the first one of the
 * architecture (x86-64; aarch64, ppc64le; riscv64; loongarch64; arm; ppc64; s390x; i386). A library without versions matches any. */
SYMBOL_EARLY symbol_finder *symbol_find_next(void)
{
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27", "GLIBC_2.36",
	                                       "GLIBC_2.4",  "GLIBC_2.3",   "GLIBC_2.2",  "GLIBC_2.0"};
	symbol_finder *f = NULL;

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions) && !f; i++)
		*(void **)&f = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	__atomic_store_n(&symbol_next, f, __ATOMIC_RELAXED); /* whoever else is here finds the same */
	return f;
}
