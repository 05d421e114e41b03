/* SPDX-License-Identifier: BSD-3-Clause
 * mpich - the MPICH ABI initiative: MPICH 3.1 to 4, Intel MPI, MVAPICH, Cray MPICH (preload/abi.h)
 */
#ifndef SPOOR_ABI_MPICH_H
#define SPOOR_ABI_MPICH_H

#include <stdbool.h>
#include <stdint.h>

#define ABI_LIBRARY   LIBRARY_MPICH
#define ABI_FILES     "libmpi.", "libmpich", "libmpifort", "libmpl", "libopa", "libfabric", "libucp", "libmvapich"
#define ABI_NULL_COPY /* a null pointer in C */

/* Those of mpif.h are in a few common blocks, one behind the other; a status has five INTEGERs. mpi_f08 has
 * variables. */
#define ABI_SENTINELS                                                                                     \
	[SENTINEL_IN_PLACE] = {{"mpipriv1", 4}, {"MPIR_F08_MPI_IN_PLACE"}},                               \
	[SENTINEL_BOTTOM] = {{"mpipriv1", 0}, {"MPIR_F08_MPI_BOTTOM"}},                                   \
	[SENTINEL_STATUS_IGNORE] = {{"mpipriv1", 8}, {"MPIR_F08_MPI_STATUS_IGNORE_OBJ"}},                 \
	[SENTINEL_STATUSES_IGNORE] = {{"mpipriv2", 0}, {"MPIR_F08_MPI_STATUSES_IGNORE_OBJ"}},             \
	[SENTINEL_UNWEIGHTED] = {{"mpifcmb5", 0}, {"__mpi_f08_link_constants_MOD_mpi_unweighted"}},       \
	[SENTINEL_WEIGHTS_EMPTY] = {{"mpifcmb9", 0}, {"__mpi_f08_link_constants_MOD_mpi_weights_empty"}}, \
	[SENTINEL_ARGV_NULL] = {{"mpiprivc", 1}, {"__mpi_f08_link_constants_MOD_mpi_argv_null"}},         \
	[SENTINEL_ARGVS_NULL] = {{"mpiprivc", 0}, {"__mpi_f08_link_constants_MOD_mpi_argvs_null"}},       \
	[SENTINEL_ERRCODES_IGNORE] = {{"mpipriv2", 20}, {"__mpi_f08_link_constants_MOD_mpi_errcodes_ignore"}}

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
