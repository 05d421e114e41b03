/* SPDX-License-Identifier: BSD-3-Clause
 * mumps - serial MUMPS solves diag(1, 2) x = (1, 4), as in its own example: x = 1 2. With -DWITH_MPI inside an MPI
 * program
 */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <dmumps_c.h>
#include <stdio.h>

int main(void)
{
	DMUMPS_STRUC_C id = {0};
	MUMPS_INT rows[] = {1, 2}, columns[] = {1, 2};
	double values[] = {1, 2}, right[] = {1, 4};

#ifdef WITH_MPI
	int rank, one = 1, sum;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d, sum %d\n", rank, sum);
#endif
	id.comm_fortran = -987654;
	id.par = 1;
	id.job = -1;
	dmumps_c(&id);
	id.n = 2;
	id.nnz = 2;
	id.irn = rows;
	id.jcn = columns;
	id.a = values;
	id.rhs = right;
	for (int i = 0; i < 4; i++)
		id.icntl[i] = i == 3 ? 0 : -1;
	id.job = 6;
	dmumps_c(&id);
	printf("status %d, solution %g %g\n", (int)id.infog[0], right[0], right[1]);
	id.job = -2;
	dmumps_c(&id);
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return 0;
}
