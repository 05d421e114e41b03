/* SPDX-License-Identifier: BSD-3-Clause
 * mpich - the MPICH ABI initiative: MPICH 3.1 to 4, Intel MPI, MVAPICH, Cray MPICH (preload/abi.h)
 */
#ifndef SPOOR_ABI_MPICH_H
#define SPOOR_ABI_MPICH_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/abi/mpich_fortran.h"

#define ABI_LIBRARY         LIBRARY_MPICH
#define ABI_FILES           "libmpi.", "libmpich", "libmpifort", "libmpl", "libopa", "libfabric", "libucp", "libmvapich"
#define ABI_SENDER          ""
#define ABI_DROPS_OPEN      ""
#define ABI_LATE_DUPLICATES false
#define ABI_NULL_COPY       /* a null pointer in C */

/* What a predefined attribute's keyval in C is in Fortran: C has the odd numbers. */
static inline int abi_fortran_keyval(int value)
{
	return value == MPI_KEYVAL_INVALID ? value : value + 1;
}

static inline bool abi_cancelled(const MPI_Status *s)
{
	return s->count_hi_and_cancelled & 1;
}

/* The upper bits are shifted by that one. */
static inline int64_t abi_bytes(const MPI_Status *s)
{
	return (int64_t)((uint64_t)(unsigned)s->count_hi_and_cancelled >> 1 << 32 | (unsigned)s->count_lo);
}

/* It is in the code's low bits; codes of the application are marked. */
static inline int abi_error_class(int code)
{
	return code & 0x40000000 ? -1 : code & 0x7f;
}

#endif
