/* SPDX-License-Identifier: BSD-3-Clause
 * standard - the ABI of MPI 5: libmpi_abi.so.0, of whatever maker (preload/abi.h)
 */
#ifndef SPOOR_ABI_STANDARD_H
#define SPOOR_ABI_STANDARD_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/abi/mpich_fortran.h" /* the standard says nothing of Fortran: MPICH's, as it was in its other ABI */
#include "preload/calls.h"             /* a status is asked of the library */

#define ABI_LIBRARY LIBRARY_STANDARD
/* What the library itself is made of is below it: these are those of the makers. */
#define ABI_FILES \
	"libmpi", "libmpl", "libopa", "libopen", "libmca_", "mca_", "libpmix", "libfabric", "libucp", "libmvapich"
#define ABI_SENDER          ""
#define ABI_DROPS_OPEN      ""
#define ABI_LATE_DUPLICATES false
#define ABI_NULL_COPY       /* a null pointer in C */

/* What a predefined attribute's keyval in C is in Fortran. */
static inline int abi_fortran_keyval(int value)
{
	return value;
}

static inline bool abi_cancelled(const MPI_Status *s)
{
	int flag = 0;

	return real.MPI_Test_cancelled(s, &flag) == MPI_SUCCESS && flag;
}

static inline int64_t abi_bytes(const MPI_Status *s)
{
	MPI_Count bytes = 0;

	return real.MPI_Get_elements_c(s, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0 ? bytes : 0;
}

/* The standard gives the classes' values. What other codes mean the library knows, which would call an error handler
 * for one that is none. */
static inline int abi_error_class(int code)
{
	return code <= MPI_ERR_ABI ? code : -1;
}

#endif
