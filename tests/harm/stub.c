/* SPDX-License-Identifier: BSD-3-Clause
 * stub - a sequential stand-in for MPI, as LAMMPS, MUMPS and others have one: some MPI functions, no PMPI functions,
 * constants of its own
 *
 * With -DPROFILED it has some PMPI functions as well, as a library has that may be profiled.
 * With -DFORTRAN it has the Fortran functions instead (stub.h).
 */
#include "stub.h"

#ifndef FORTRAN
#ifdef PROFILED
int PMPI_Init(int *argc, char ***argv) __attribute__((alias("MPI_Init")));
int PMPI_Comm_size(int comm, int *size) __attribute__((alias("MPI_Comm_size")));
int PMPI_Finalize(void) __attribute__((alias("MPI_Finalize")));
#endif

int MPI_Init(int *argc, char ***argv)
{
	return argc && argv ? 0 : 0;
}
int MPI_Comm_size(int comm, int *size)
{
	*size = comm == 91 ? 1 : -1;
	return 0;
}
int MPI_Allreduce(const void *in, void *out, int count, int datatype, int op, int comm)
{
	for (int i = 0; i < count && datatype == 7 && op == 8 && comm == 91; i++)
		((double *)out)[i] = ((const double *)in)[i];
	return 0;
}
int MPI_Initialized(int *flag)
{
	*flag = 1;
	return 0;
}
double MPI_Wtime(void)
{
	return 42.5;
}
int MPI_Finalize(void)
{
	return 0;
}
#else
void FORTRAN(mpi_init, MPI_INIT)(int *ierror)
{
	*ierror = 0;
}
void FORTRAN(mpi_comm_size, MPI_COMM_SIZE)(const int *comm, int *size, int *ierror)
{
	*size = *comm == 91 ? 1 : -1;
	*ierror = 0;
}
void FORTRAN(mpi_allreduce, MPI_ALLREDUCE)(const double *in, double *out, const int *count, const int *datatype,
                                           const int *op, const int *comm, int *ierror)
{
	for (int i = 0; i < *count && *datatype == 7 && *op == 8 && *comm == 91; i++)
		out[i] = in[i];
	*ierror = 0;
}
double FORTRAN(mpi_wtime, MPI_WTIME)(void)
{
	return 42.5;
}
void FORTRAN(mpi_finalize, MPI_FINALIZE)(int *ierror)
{
	*ierror = 0;
}
#endif
