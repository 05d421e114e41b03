/* SPDX-License-Identifier: BSD-3-Clause
 * mpich - a program, or with -DPLUGIN a library, for MPICH; needs its library only, since mpicc is another MPI's
 */
#include <stdio.h>

typedef int MPI_Comm;
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_INT        0x4c000405
#define MPI_SUM        0x58000003
int MPI_Init(int *argc, char ***argv);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Allreduce(const void *in, void *out, int count, int datatype, int op, MPI_Comm comm);
int MPI_Finalize(void);

int run(void);
int run(void)
{
	int status[4], size = -1, one = 1, sum = -1;

	status[0] = MPI_Init(NULL, NULL);
	status[1] = MPI_Comm_size(MPI_COMM_WORLD, &size);
	status[2] = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	status[3] = MPI_Finalize();
	printf("size %d, sum %d, status %d %d %d %d\n", size, sum, status[0], status[1], status[2], status[3]);
	return 3;
}

#ifndef PLUGIN
int main(void)
{
	return run();
}
#endif
