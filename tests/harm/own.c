/* SPDX-License-Identifier: BSD-3-Clause
 * own - a user's library with functions of its own, in C, that happen to have the names of MPI's in Fortran; and
 * (-DMAIN) a program that uses it
 */
#include <stdio.h>

/* a "multi-purpose interface" */
int mpi_init(const char *name);
double mpi_send(double a, double b);
const char *mpi_comm_size(void);
int mpi_wait_(int x);

#ifndef MAIN
int mpi_init(const char *name)
{
	return printf("own mpi_init %s\n", name) > 0;
}
double mpi_send(double a, double b)
{
	return a * b;
}
const char *mpi_comm_size(void)
{
	return "own size";
}
int mpi_wait_(int x)
{
	return 2 * x;
}
#else
#ifdef WITH_MPI
#include <mpi.h>
#endif
int main(void)
{
	int sum = 1;

#ifdef WITH_MPI
	int one = 1;

	MPI_Init(NULL, NULL);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
	printf("%d %g %s %d %d\n", mpi_init("x"), mpi_send(6, 7), mpi_comm_size(), mpi_wait_(21), sum);
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return 0;
}
#endif
