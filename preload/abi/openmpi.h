/* SPDX-License-Identifier: BSD-3-Clause
 * openmpi - Open MPI 4 and 5: libmpi.so.40 (preload/abi.h)
 */
#ifndef SPOOR_ABI_OPENMPI_H
#define SPOOR_ABI_OPENMPI_H

#include <stdbool.h>
#include <stdint.h>

#define ABI_LIBRARY         LIBRARY_OPENMPI
#define ABI_FILES           "libmpi.", "libmpi_mpifh", "libmpi_usempi", "libopen-", "libmca_", "mca_", "libpmix"
#define ABI_SENDER          "mca_pml_base_selected_component"
#define ABI_DROPS_OPEN      "ob1"
#define ABI_LATE_DUPLICATES true
#define ABI_NULL_COPY       "OMPI_C_MPI_COMM_NULL_COPY_FN", "OMPI_C_MPI_NULL_COPY_FN"

/* One common block each. */
#define ABI_SENTINELS                                                                 \
	[SENTINEL_IN_PLACE] = {{"mpi_fortran_in_place", 0}, {NULL, 0}},               \
	[SENTINEL_BOTTOM] = {{"mpi_fortran_bottom", 0}, {NULL, 0}},                   \
	[SENTINEL_STATUS_IGNORE] = {{"mpi_fortran_status_ignore", 0}, {NULL, 0}},     \
	[SENTINEL_STATUSES_IGNORE] = {{"mpi_fortran_statuses_ignore", 0}, {NULL, 0}}, \
	[SENTINEL_UNWEIGHTED] = {{"mpi_fortran_unweighted", 0}, {NULL, 0}},           \
	[SENTINEL_WEIGHTS_EMPTY] = {{"mpi_fortran_weights_empty", 0}, {NULL, 0}},     \
	[SENTINEL_ARGV_NULL] = {{"mpi_fortran_argv_null", 0}, {NULL, 0}},             \
	[SENTINEL_ARGVS_NULL] = {{"mpi_fortran_argvs_null", 0}, {NULL, 0}},           \
	[SENTINEL_ERRCODES_IGNORE] = {{"mpi_fortran_errcodes_ignore", 0}, {NULL, 0}}

/* What a predefined attribute's keyval in C is in Fortran. */
static inline int abi_fortran_keyval(int value)
{
	return value;
}

static inline bool abi_cancelled(const MPI_Status *s)
{
	return s->_cancelled;
}

static inline int64_t abi_bytes(const MPI_Status *s)
{
	return (int64_t)s->_ucount;
}

/* The classes are the only codes but those that the application added. */
static inline int abi_error_class(int code)
{
	return code;
}

#endif
