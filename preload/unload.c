/* SPDX-License-Identifier: BSD-3-Clause
 * unload - notices when a file is unloaded: another one may be loaded where it was, and return addresses mean something else then
 *
 * The memo of call paths compares addresses, not what is there. Nothing else tells of that at a price that could be paid at each event: the
 * loader's counters take a lock. Whoever unloads without dlclose (the loader itself, for what it loaded itself) unloads no callers of MPI.
 */
#include <dlfcn.h>

#include "preload/recorder.h"
#include "preload/symbol.h"

__attribute__((visibility("default"))) int dlclose(void *handle)
{
	static int (*next)(void *);
	int (*f)(void *) = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
	if (!f) {
		*(void **)&f = symbol_find(RTLD_NEXT, "dlclose");
		if (!f)
			return 0; /* it stays loaded */
		__atomic_store_n(&next, f, __ATOMIC_RELEASE);
	}
	int rv = f(handle);
	recorder_unloaded();
	return rv;
}
