/* SPDX-License-Identifier: BSD-3-Clause
 * named - a library of the program's with functions that are called as libc's, which nobody but the program may call
 */
#include <stdlib.h>

#define NAMED(name)      \
	int name(void);  \
	int name(void)   \
	{                \
		abort(); \
	}

NAMED(pread)
NAMED(gnu_get_libc_version)
#ifdef MORE /* MPI's own libraries use these */
NAMED(dlerror)
NAMED(faccessat)
NAMED(open)
NAMED(close)
NAMED(access)
NAMED(dlopen)
NAMED(dl_iterate_phdr)
NAMED(__errno_location)
#endif
