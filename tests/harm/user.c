/* SPDX-License-Identifier: BSD-3-Clause
 * user - uses the stand-in of stub.c and says each answer; with -DPLUGIN a library, whose run() somebody else calls
 */
#include <stdio.h>

#include "stub.h"

int run(void);
#ifndef FORTRAN
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
