/* SPDX-License-Identifier: BSD-3-Clause
 * tasks - of how many tasks of an MPI job this process is one, and whose MPI library started it
 */
#ifndef SPOOR_TASKS_H
#define SPOOR_TASKS_H

#include <stdint.h>

/* How many tasks the launcher says that there are (srun, mpirun, mpiexec), and which of them this is. 1 without one. */
unsigned tasks_expected(unsigned *rank);

/* The MPI libraries that there are programs for, as their names end; NULL is behind the last. */
#define TASKS_MPI ((const char *const[]){"openmpi", "mpich", NULL})
/* The one whose launcher started this process; NULL: none of them did. */
const char *tasks_mpi(void);

#endif
