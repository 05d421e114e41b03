/* SPDX-License-Identifier: BSD-3-Clause
 * stub - a sequential stand-in for MPI (stub.c): its functions, or with -DFORTRAN=SPELL_ (or another SPELL) its Fortran
 * functions in that spelling
 */
#ifndef FORTRAN
int MPI_Init(int *argc, char ***argv);
int MPI_Comm_size(int comm, int *size);
int MPI_Allreduce(const void *in, void *out, int count, int datatype, int op, int comm);
int MPI_Initialized(int *flag);
double MPI_Wtime(void);
int MPI_Finalize(void);
#else
#define SPELL_(lower, UPPER)      lower##_
#define SPELL__(lower, UPPER)     lower##__
#define SPELL(lower, UPPER)       lower
#define SPELL_UPPER(lower, UPPER) UPPER
void FORTRAN(mpi_init, MPI_INIT)(int *ierror);
void FORTRAN(mpi_comm_size, MPI_COMM_SIZE)(const int *comm, int *size, int *ierror);
void FORTRAN(mpi_allreduce, MPI_ALLREDUCE)(const double *in, double *out, const int *count, const int *datatype,
                                           const int *op, const int *comm, int *ierror);
double FORTRAN(mpi_wtime, MPI_WTIME)(void);
void FORTRAN(mpi_finalize, MPI_FINALIZE)(int *ierror);
#endif
