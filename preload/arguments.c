/* SPDX-License-Identifier: BSD-3-Clause
 * arguments - what a call that can wait for others is passed
 */
#include "preload/arguments.h"

int64_t arguments_named_peer(int64_t v)
{
	return v == MPI_ANY_SOURCE  ? PASSED_CONSTANT + CONST_MPI_ANY_SOURCE
	       : v == MPI_PROC_NULL ? PASSED_CONSTANT + CONST_MPI_PROC_NULL
	       : v == MPI_ROOT      ? PASSED_CONSTANT + CONST_MPI_ROOT
	                            : PASSED_CONSTANT + CONST_ABSENT;
}

int64_t arguments_named_tag(int64_t v)
{
	return PASSED_CONSTANT + (v == MPI_ANY_TAG ? CONST_MPI_ANY_TAG : CONST_ABSENT);
}

int64_t arguments_lock(int64_t v)
{
	return PASSED_CONSTANT + (v == MPI_LOCK_EXCLUSIVE ? CONST_MPI_LOCK_EXCLUSIVE
	                          : v == MPI_LOCK_SHARED  ? CONST_MPI_LOCK_SHARED
	                                                  : CONST_ABSENT);
}
