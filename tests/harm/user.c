/* SPDX-License-Identifier: BSD-3-Clause
 * user - uses the stand-in of stub.c and says each answer; with -DPLUGIN a library, whose run() somebody else calls
 */
#include <stdio.h>

int run(void);
#ifndef FORTRAN
int MPI_Init(int *argc, char ***argv);
int MPI_Comm_size(int comm, int *size);
int MPI_Allreduce(const void *in, void *out, int count, int datatype, int op, int comm);
int MPI_Initialized(int *flag);
double MPI_Wtime(void);
int MPI_Finalize(void);

int run(void)
{
	double in[3] = {1, 2, 3}, out[3] = {0};
	int flag = -1, size = -1, status[4];

	status[0] = MPI_Init(NULL, NULL);
	status[1] = MPI_Comm_size(91, &size);
	status[2] = MPI_Allreduce(in, out, 3, 7, 8, 91);
	MPI_Initialized(&flag);
	printf("size %d, sums %g %g %g, initialized %d, time %g\n", size, out[0], out[1], out[2], flag, MPI_Wtime());
	status[3] = MPI_Finalize();
	return status[0] + status[1] + status[2] + status[3];
}
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

int run(void)
{
	const double in[3] = {1, 2, 3};
	const int comm = 91, three = 3, datatype = 7, op = 8;
	double out[3] = {0};
	int size = -1, ierror[4] = {-1, -1, -1, -1};

	FORTRAN(mpi_init, MPI_INIT)(&ierror[0]);
	FORTRAN(mpi_comm_size, MPI_COMM_SIZE)(&comm, &size, &ierror[1]);
	FORTRAN(mpi_allreduce, MPI_ALLREDUCE)(in, out, &three, &datatype, &op, &comm, &ierror[2]);
	printf("size %d, sums %g %g %g, time %g\n", size, out[0], out[1], out[2], FORTRAN(mpi_wtime, MPI_WTIME)());
	FORTRAN(mpi_finalize, MPI_FINALIZE)(&ierror[3]);
	return ierror[0] + ierror[1] + ierror[2] + ierror[3];
}
#endif

#ifndef PLUGIN
int main(void)
{
	return run();
}
#endif
