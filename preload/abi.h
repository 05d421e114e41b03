/* SPDX-License-Identifier: BSD-3-Clause
 * abi - what the ABI of an MPI library has of its own, for the tracer that is compiled for it
 *
 * There is one tracer for each ABI, all of the same sources. Types, constants and which functions there are come from
 * that library's mpi.h (preload/generator/library.py). The standard's ABI has an mpi.h of ours,
 * preload/abi/standard/mpi.h. What no mpi.h says is in one header for each ABI, which has:
 *
 *     ABI_LIBRARY          which one it is (gate/library.h)
 *     ABI_FILES            how the names of its files begin: the library's own, and those of its plug-ins
 *     ABI_NULL_COPY        functions that copy no attribute, by name
 *     ABI_SENTINELS        where the variables are that stand for MPI_IN_PLACE and so on in Fortran (real.h)
 *     ABI_SENDER           the library's variable that names what sends its messages, or ""; and
 *     ABI_DROPS_OPEN       with which name in it MPI_Finalize says nothing of operations that are open
 *     ABI_LATE_DUPLICATES  MPI_Psend_init has MPI_COMM_WORLD duplicated later, by whichever call comes to it
 *     abi_fortran_keyval   a keyval of a predefined attribute, as Fortran has it
 *     abi_cancelled, abi_bytes   what is in an MPI_Status: was it cancelled; the bytes of the message
 *     abi_error_class      the class of a code. MPI_Error_class is not asked: a callback's own code, or one that the
 *                          library invented, may be none, and then it calls MPI_COMM_WORLD's error handler
 */
#ifndef SPOOR_ABI_H
#define SPOOR_ABI_H

#define OMPI_OMIT_MPI1_COMPAT_DECLS 0 /* Open MPI: declare the removed functions too */
#define OMPI_SKIP_MPICXX            1
#define MPICH_SKIP_MPICXX           1
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* Open MPI: MPIX_... */
#endif

#if defined OPEN_MPI
#include "preload/abi/openmpi.h"
#elif defined MPICH_NUMVERSION
#include "preload/abi/mpich.h"
#elif defined MPI_ABI_VERSION
#include "preload/abi/standard.h"
#else
#error "mpi.h is of an MPI library whose ABI is not known: expected Open MPI's, MPICH's, or the standard's"
#endif

#endif
