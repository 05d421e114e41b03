/* SPDX-License-Identifier: BSD-3-Clause
 * f08 - the hand-written wrappers of mpi_f08: those of mpif.h, compiled again under their other names (fortran.h)
 */
#define FORTRAN_F08
#include "preload/spawn_fortran.c"
#include "preload/special_fortran.c"
