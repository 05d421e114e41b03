/* SPDX-License-Identifier: BSD-3-Clause
 * bind - has the program's calls of the MPI library come to our wrappers
 *
 * Nothing of ours has a name of MPI's. Instead, what the MPI library itself says about its functions is changed, in
 * memory: in its table of symbols, MPI_Send is where our wrapper is, so that whatever the loader binds from then on (at
 * the first call, in modules that are opened later, for dlsym with whatever handle) leads to it; and what is bound
 * already (GOT entries) is redirected. A name that somebody else defines is never met; PMPI_Send is as ever; where no
 * MPI library is, nothing is.
 *
 * Tools that use MPI's profiling interface stand between the program and the library, and so between the program and
 * us: they define MPI_Send and call PMPI_Send. Nothing of them is changed but where their calls of PMPI_Send lead to.
 * So a tool sees the program's own calls, with the program's return addresses, and we see what comes out of the tool:
 * the program's calls as it passes them on, and its own ones.
 */
#ifndef SPOOR_BIND_H
#define SPOOR_BIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function that has a wrapper, and where the wrapper passes its calls on to. Generated (calls.c), ordered by name. */
struct binding {
	const char
		*name; /* MPI_Send; of a Fortran function mpi_send, mpi_send_f08, which compilers spell in four ways */
	void *wrapper;
	void **next; /* a field of `next`, next_fortran, next_cptr, next_f08 or next_f08ts; null until it is bound */
};
extern const struct binding mpi_bindings[], mpi_fortran_bindings[] __attribute__((visibility("hidden")));
extern const size_t mpi_bindings_count, mpi_fortran_bindings_count __attribute__((visibility("hidden")));

/* The function that has this name, as a linker sees it; NULL: none of ours. */
const struct binding *bind_find(const char *name);
/* Have symbols of the file that is mapped with this base been changed? At any time. */
bool bind_has_bound(uintptr_t base);

/* Looks at what the loader has mapped since the last time: binds the MPI library's functions, also those of its Fortran
 * libraries where these come later; forgets call paths when something was unmapped. Called by the gate when something
 * has changed, and by nobody else. owner: see real_owner. The number in the name becomes another when the parameters
 * do: a gate and a tracer of different versions do not find each other. */
void spoor_look_2(void **owner);

#endif
