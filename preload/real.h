/* SPDX-License-Identifier: BSD-3-Clause
 * real - the MPI library of this process, found at run time
 *
 * The tracer is loaded into every process of a job, whether that uses MPI or not, so it has no undefined symbol of any
 * MPI library. mpi.h is only read at build time, for types and prototypes (calls.h is generated from it); functions and
 * the addresses of predefined handles are looked up when the process makes its first MPI call. After including this
 * header use
 *
 *     real.MPI_Send(...)      the library's own function, PMPI_Send: for what the tracer itself does
 *     next.MPI_Send(...)      where a wrapper passes the application's call on: the same, or another tool's MPI_Send if
 *                             one is loaded behind us
 *     MPI_COMM_WORLD, MPI_INT ...  as always: they are redefined as look-ups
 *
 * A function that the library does not have is a stub that returns MPI_ERR_OTHER. So is every function in a process
 * without an MPI library: calling them is harmless.
 */
#ifndef SPOOR_REAL_H
#define SPOOR_REAL_H

#define OMPI_OMIT_MPI1_COMPAT_DECLS 0 /* Open MPI: declare the removed functions too */
#define OMPI_SKIP_MPICXX            1
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* Open MPI: MPIX_... */
#endif
#include <stdbool.h>

#include "preload/calls.h" /* generated: struct mpi_calls, struct mpi_fortran_calls, real_predefined[], macros */

extern struct mpi_calls real, next __attribute__((visibility("hidden")));
/* mpif.h and `use mpi`; mpi_f08; mpi_f08 with descriptors (fortran.h). */
enum fortran { FORTRAN_MPIF_H, FORTRAN_MPI_F08, FORTRAN_MPI_F08TS, FORTRAN_COUNT };
extern struct mpi_fortran_calls next_fortran, next_f08, next_f08ts;

enum real_state {
	REAL_UNKNOWN, /* no MPI call yet, or no MPI library found yet */
	REAL_PASSIVE, /* another tool is in front of us, or MPI was initialized behind our back: only pass calls on, for
	                 good */
	REAL_ACTIVE
};
extern enum real_state real_state;

/* Called by a wrapper while the state is not REAL_ACTIVE, with its return address: looks for the MPI library (in the
 * whole process, else in what the calling module depends on). Returns whether the state is REAL_ACTIVE now. Keeps
 * errno. */
bool real_wake(void *return_address);
/* The same for a Fortran wrapper: finds the entries of its binding, too. */
bool real_wake_fortran(void *return_address, enum fortran binding);
extern bool real_fortran_found[FORTRAN_COUNT];

/* For a program that asks a library by its handle for a function `name`, from this return address: our wrapper, if what the library has is the
 * function of the MPI library that the wrapper passes calls on to. NULL: the program must get what the library has, as it is. So it is if another tool is
 * in the process or asks (it wants what is behind the wrappers), if a layer asks that translates between MPI libraries, for another MPI library
 * than that of the process, and in another namespace of the loader. May wake as a call does; keeps errno, and what dlerror says. */
void *real_offer(void *handle, const char *name, void *return_address);

/* Is this return address inside the MPI library or one of its plug-ins? For calls made while another one runs: such a
 * call comes from the library itself, or from the application's callback (error handler, attribute function, user
 * operation). */
bool real_is_library(void *return_address);

/* The addresses of the common-block variables that stand for a sentinel in Fortran; NULL where there is none. */
#define REAL_SPELLINGS 4
struct real_sentinel {
	const void *address[REAL_SPELLINGS];
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

	return p && (p == r->address[0] || p == r->address[1] || p == r->address[2] || p == r->address[3]);
}

#endif
