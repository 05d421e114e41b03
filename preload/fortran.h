/* SPDX-License-Identifier: BSD-3-Clause
 * fortran - translates what Fortran callers pass into what C callers pass, for the record_ functions
 *
 * In Fortran, MPI_IN_PLACE, MPI_STATUS_IGNORE and so on are variables that are known by their addresses.
 *
 * There are four bindings, which differ in the names of the functions and in nothing else that a wrapper sees: handles
 * of mpi_f08 are derived types of one INTEGER, its statuses are laid out like C's, its ierror may be absent (a null
 * pointer).
 *
 *     mpif.h and `use mpi`   mpi_send_         all arguments by address, then the lengths of strings by value
 *     the same, TYPE(C_PTR)  mpi_alloc_mem_cptr_   the same; in some libraries the same function
 *     mpi_f08                mpi_send_f08_     the same
 *     mpi_f08 with TS 29113  mpi_send_f08ts_   choice buffers come as descriptors, whose first word is the address
 *
 * A generated function has one body, which the wrapper of each binding tells who called, and where to pass the call on.
 * Those written by hand are for mpif.h, and become those of mpi_f08 when they are compiled with FORTRAN_F08 (f08.c);
 * none has a choice buffer.
 */
#ifndef SPOOR_FORTRAN_H
#define SPOOR_FORTRAN_H

#include "preload/wrap.h"

#ifdef FORTRAN_F08
#define FORTRAN_NAME(lower) wrap_##lower##_f08_
#define FORTRAN_NEXT        next_f08
#else
#define FORTRAN_NAME(lower) wrap_##lower##_
#define FORTRAN_NEXT        next_fortran
#endif

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's INTEGER is a C int: the wrappers read arrays of it as such");
/* A Fortran status in INTEGERs. */
#define FORTRAN_STATUS_SIZE ((int)(sizeof(MPI_Status) / sizeof(MPI_Fint)))

/* The address of a choice buffer that came as a descriptor: in all compilers' descriptors, as in the standard's
 * CFI_cdesc_t, it is the first word. */
static inline const void *fortran_descriptor(const void *descriptor)
{
	return descriptor ? *(const void *const *)descriptor : NULL;
}

/* Who called a function that has one body for all bindings. */
struct fortran_caller {
	const struct mpi_fortran_calls *next; /* of its binding */
	void *return_address, *cfa;           /* of the binding's wrapper */
	bool descriptors;                     /* choice buffers come as such */
};

/* Must be expanded in the wrapper itself. */
#define FORTRAN_CALLER(next, descriptors)                                                 \
	{                                                                                 \
		(next), __builtin_return_address(0), __builtin_dwarf_cfa(), (descriptors) \
	}

/* wrap_begin in such a body, for its `from`. */
#define FORTRAN_BEGIN(c, f) wrap_begin_from((c), (f), from->return_address, from->cfa)

static inline const void *fortran_choice(const struct fortran_caller *from, const void *buffer)
{
	return from->descriptors ? fortran_descriptor(buffer) : buffer;
}

static inline const void *fortran_in_place(const void *buffer)
{
	return real_is_sentinel(SENTINEL_IN_PLACE, buffer) ? MPI_IN_PLACE : buffer;
}

/* The same where buffers are recorded. */
static inline const void *fortran_buffer(const void *buffer)
{
	return real_is_sentinel(SENTINEL_BOTTOM, buffer) ? MPI_BOTTOM : fortran_in_place(buffer);
}

static inline const int *fortran_weights(const MPI_Fint *weights)
{
	if (real_is_sentinel(SENTINEL_UNWEIGHTED, weights))
		return MPI_UNWEIGHTED;
	if (real_is_sentinel(SENTINEL_WEIGHTS_EMPTY, weights))
		return MPI_WEIGHTS_EMPTY;
	return weights;
}

/* Did the caller ignore the status, or the statuses? */
static inline bool fortran_ignores(const MPI_Fint *status)
{
	return !status || real_is_sentinel(SENTINEL_STATUS_IGNORE, status) ||
	       real_is_sentinel(SENTINEL_STATUSES_IGNORE, status);
}

/* The status in C's form, in *translated; NULL if there is none (valid is false, or it is ignored). */
static inline const MPI_Status *fortran_status(const MPI_Fint *status, MPI_Status *translated, bool valid)
{
	if (!valid || fortran_ignores(status) || real.MPI_Status_f2c(status, translated) != MPI_SUCCESS)
		return NULL;
	return translated;
}

#endif
