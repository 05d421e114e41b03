/* SPDX-License-Identifier: BSD-3-Clause
 * pmix - what PMIx knows of this process: asked of the library that the MPI library has loaded and initialised
 *
 * Open MPI, and MPICH where it was built for that, are started through PMIx. The library is never loaded, initialised
 * or linked here. It is asked only where the launcher named the namespace (PMIX_NAMESPACE), and for what it has in this
 * process already (PMIX_OPTIONAL).
 */
#ifndef SPOOR_PMIX_H
#define SPOOR_PMIX_H

#include <stdbool.h>
#include <stdint.h>

#define PMIX_NAMESPACE_SIZE 256

/* Names and numbers as in the PMIx standard; a name that is "" and a number that is 0 are not known. */
struct pmix {
	char nspace[PMIX_NAMESPACE_SIZE]; /* the world's */
	int local_size;                   /* ranks of the world on this node */
	int apps;                         /* executables of the world */
	char parent[PMIX_NAMESPACE_SIZE]; /* of the world that spawned this one */
	uint32_t parent_rank;
};

/* To be called when MPI was initialised; size: of MPI_COMM_WORLD. A namespace that has another size is not MPI's, and
 * nothing is known then. Waits for PMIx's thread in this process, 0.2 s at most, and never for another
 * process. Not to be called under a filter of system calls: the library wakes its thread. */
void pmix_ask(struct pmix *out, int size);

#endif
