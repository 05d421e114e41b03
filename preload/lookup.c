/* SPDX-License-Identifier: BSD-3-Clause
 * lookup - programs that ask the MPI library for its functions by its handle, as bindings of Julia, Rust, C# and Python's ctypes do
 *
 * A preloaded library stands before the MPI library where the loader searches the whole process, not where a program says in which
 * library: dlsym(handle, "MPI_Send") never sees it. So there is a dlsym here, which answers such a question with the wrapper if the answer
 * would be the MPI library's own function (real_offer says what else must hold). Every process of a job gets it, so everything else is
 * passed on untouched:
 * - by a jump, not by a call: the loader takes the return address for who asks, on which RTLD_NEXT and RTLD_DEFAULT depend;
 * - after a look at the name's first letters: no lock, no allocation, no system call, nothing thread-local;
 * - also when this library's constructors did not run yet, or in a child of fork: the first call finds the next dlsym.
 * dlvsym is left alone: MPI libraries' symbols have no versions.
 */
#include "preload/real.h"
#include "preload/symbol.h"

#include <stdbool.h>

SYMBOL_EARLY static inline bool is_mpi(const char *name)
{
	if (!name || (name[0] | 32) != 'm' || (name[1] | 32) != 'p' || (name[2] | 32) != 'i')
		return false;
	return name[3] == '_' || ((name[3] | 32) == 'x' && name[4] == '_');
}

/* The last line must be a jump in every build of this file: what could prevent it is switched off. */
#if defined(__clang__)
#define JUMP __attribute__((musttail))
#define JUMPS
#else
#define JUMP
#define JUMPS __attribute__((optimize("O2"), no_sanitize("address", "thread", "undefined"), no_instrument_function))
#endif

__attribute__((visibility("default"))) JUMPS void *dlsym(void *restrict handle, const char *restrict name)
{
	symbol_finder *next = symbol_finder_next();

	if (__builtin_expect(!next, 0))
		return NULL;
	if (__builtin_expect(is_mpi(name), 0) && handle != RTLD_DEFAULT && handle != RTLD_NEXT) {
		void *wrapper = real_offer(handle, name, __builtin_return_address(0));

		if (wrapper)
			return wrapper;
	}
	JUMP return next(handle, name);
}
