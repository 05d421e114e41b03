/* SPDX-License-Identifier: BSD-3-Clause
 * library - which ABI an MPI library in this process has
 *
 * Told by what the library defines, whatever its file is called: Intel MPI, MVAPICH and Cray MPICH have the ABI and the
 * internal names of MPICH. Only of the standard's ABI the library's own name (DT_SONAME) is asked as well: it is the
 * standard's, and such a library may have its makers' internal names, too.
 */
#ifndef SPOOR_LIBRARY_H
#define SPOOR_LIBRARY_H

#include "gate/module.h"

enum library_abi {
	LIBRARY_OPENMPI,  /* Open MPI 4 and 5: libmpi.so.40 */
	LIBRARY_MPICH,    /* MPICH's ABI initiative: libmpi.so.12, libmpich.so.12, libmpi_cray.so.12 ... */
	LIBRARY_STANDARD, /* of MPI 5: libmpi_abi.so.0 */
	LIBRARY_ABIS,
	LIBRARY_UNKNOWN = LIBRARY_ABIS
};

/* It has the profiling interface, which tools and replacements for MPI have not. */
static inline bool library_is_mpi(const struct module *m)
{
	return module_find(m, "PMPI_Init") != NULL;
}

/* Does the library give itself a name that begins so? */
static inline bool library_named(const struct module *m, const char *begin)
{
	for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
		const char *name = m->strings + d->d_un.d_val, *b = begin;

		if (d->d_tag != DT_SONAME)
			continue;
		while (*b && *b == *name) {
			b++;
			name++;
		}
		return !*b;
	}
	return false;
}

/* The ABI of an MPI library. */
static inline enum library_abi library_abi(const struct module *m)
{
	if (library_named(m, "libmpi_abi.") && module_find(m, "MPI_Abi_get_version"))
		return LIBRARY_STANDARD;
	if (module_find(m, "ompi_mpi_comm_world"))
		return LIBRARY_OPENMPI;
	return module_find(m, "MPIR_Dup_fn") ? LIBRARY_MPICH : LIBRARY_UNKNOWN;
}

#endif
