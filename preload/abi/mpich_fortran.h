/* SPDX-License-Identifier: BSD-3-Clause
 * mpich_fortran - where MPICH's Fortran libraries have the variables that stand for MPI_IN_PLACE and so on
 */
#ifndef SPOOR_ABI_MPICH_FORTRAN_H
#define SPOOR_ABI_MPICH_FORTRAN_H

/* Those of mpif.h are in a few common blocks, one behind the other; a status has five INTEGERs. mpi_f08 has
 * variables. */
#define ABI_SENTINELS                                                                                        \
	[SENTINEL_IN_PLACE] = {{"mpipriv1", 4}, {"MPIR_F08_MPI_IN_PLACE", 0}},                               \
	[SENTINEL_BOTTOM] = {{"mpipriv1", 0}, {"MPIR_F08_MPI_BOTTOM", 0}},                                   \
	[SENTINEL_STATUS_IGNORE] = {{"mpipriv1", 8}, {"MPIR_F08_MPI_STATUS_IGNORE_OBJ", 0}},                 \
	[SENTINEL_STATUSES_IGNORE] = {{"mpipriv2", 0}, {"MPIR_F08_MPI_STATUSES_IGNORE_OBJ", 0}},             \
	[SENTINEL_UNWEIGHTED] = {{"mpifcmb5", 0}, {"__mpi_f08_link_constants_MOD_mpi_unweighted", 0}},       \
	[SENTINEL_WEIGHTS_EMPTY] = {{"mpifcmb9", 0}, {"__mpi_f08_link_constants_MOD_mpi_weights_empty", 0}}, \
	[SENTINEL_ARGV_NULL] = {{"mpiprivc", 1}, {"__mpi_f08_link_constants_MOD_mpi_argv_null", 0}},         \
	[SENTINEL_ARGVS_NULL] = {{"mpiprivc", 0}, {"__mpi_f08_link_constants_MOD_mpi_argvs_null", 0}},       \
	[SENTINEL_ERRCODES_IGNORE] = {{"mpipriv2", 20}, {"__mpi_f08_link_constants_MOD_mpi_errcodes_ignore", 0}}

#endif
