/* SPDX-License-Identifier: BSD-3-Clause
 * fortran - translates what Fortran callers pass into what C callers pass, for the record_ functions
 *
 * In Fortran, MPI_IN_PLACE, MPI_STATUS_IGNORE and so on are variables that are known by their addresses.
 */
#ifndef SPOOR_FORTRAN_H
#define SPOOR_FORTRAN_H

#include "preload/puts.h"

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's INTEGER is a C int: the wrappers read arrays of it as such");
/* A Fortran status in INTEGERs. */
#define FORTRAN_STATUS_SIZE ((int)(sizeof(MPI_Status) / sizeof(MPI_Fint)))

static inline const void *fortran_place(const void *buffer)
{
	return real_is_sentinel(SENTINEL_IN_PLACE, buffer) ? MPI_IN_PLACE : buffer;
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

/* Fortran counts from 1. */
static inline int fortran_index(int index)
{
	return index == MPI_UNDEFINED ? index : index - 1;
}

#endif
