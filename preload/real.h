/* SPDX-License-Identifier: BSD-3-Clause
 * real - the MPI library of this process, found at run time
 *
 * mpi.h is only read at build time, for types and prototypes (calls.h is generated from it); functions and the
 * addresses of predefined handles are looked up in the process. After including this header use
 *
 *     real.MPI_Send(...)      the library's own function, PMPI_Send: for what the tracer itself does
 *     next.MPI_Send(...)      where a wrapper passes the application's call on: what the application called without us,
 *                             which is the library's MPI_Send, or that of a tool between the application and the
 *                             library
 *     MPI_COMM_WORLD, MPI_INT ...  as always: they are redefined as look-ups
 *
 * A function that the library does not have is a stub that returns MPI_ERR_OTHER.
 */
#ifndef SPOOR_REAL_H
#define SPOOR_REAL_H

#include <stdbool.h>

#include "preload/abi.h"
#include "preload/calls.h" /* generated: struct mpi_calls, struct mpi_fortran_calls, real_predefined[], macros */

extern struct mpi_calls real, next __attribute__((visibility("hidden")));
/* mpif.h and `use mpi`; its functions of TYPE(C_PTR); mpi_f08; mpi_f08 with descriptors (fortran.h). */
extern struct mpi_fortran_calls next_fortran, next_cptr, next_f08, next_f08ts;

enum real_state {
	REAL_UNKNOWN, /* no MPI call yet */
	/* the MPI library is in the program, or was initialized behind our back: only pass calls on, for good */
	REAL_PASSIVE,
	REAL_ACTIVE
};
extern enum real_state real_state;

/* The gate's word for whose process this is. With two MPI libraries there are two tracers. The one whose library is
 * called first puts a pointer there, and the other one stays REAL_PASSIVE: its library is not used, or is what the
 * first one itself is made on. */
extern void **real_owner;

/* The MPI library is there: its path, its PMPI_Init. The wrappers are bound (bind.h), unless aside says why not. To be
 * called once, before any wrapper. */
void real_begin(const char *path, void *init, const char *aside);
/* Further libraries of it are there, too: those of Fortran. */
void real_more(void);

/* Called by a wrapper while the state is not REAL_ACTIVE. Returns whether it is now. Keeps errno. */
bool real_wake(void);

/* Is this the name of what sends the library's messages? To be asked while MPI is initialized. Where the library does
 * not say what sends: no. */
bool real_sends_by(const char *name);

/* The addresses of the variables that stand for a sentinel in Fortran: a common block's, by how compilers spell its
 * name, and one with a name of its own; NULL where there is none. */
#define REAL_SPELLINGS 4
struct real_sentinel {
	const void *address[REAL_SPELLINGS + 1];
};
/* Where such a variable is: offset bytes into the common block, or the symbol of this very name. */
struct real_sentinel_name {
	struct {
		const char *name;
		size_t offset;
	} common, symbol;
};
enum sentinel {
	SENTINEL_IN_PLACE,
	SENTINEL_BOTTOM,
	SENTINEL_STATUS_IGNORE,
	SENTINEL_STATUSES_IGNORE,
	SENTINEL_UNWEIGHTED,
	SENTINEL_WEIGHTS_EMPTY,
	SENTINEL_ARGV_NULL,
	SENTINEL_ARGVS_NULL,
	SENTINEL_ERRCODES_IGNORE,
	SENTINEL_COUNT
};
extern struct real_sentinel real_sentinel[SENTINEL_COUNT];

static inline bool real_is_sentinel(enum sentinel s, const void *p)
{
	const struct real_sentinel *r = &real_sentinel[s];

	return p && (p == r->address[0] || p == r->address[1] || p == r->address[2] || p == r->address[3] ||
	             p == r->address[4]);
}

#endif
