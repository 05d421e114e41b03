/* SPDX-License-Identifier: BSD-3-Clause
 * program - three sends in a ring; says whether errno is what it was
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>

/* Also built as a module that is loaded with RTLD_LOCAL, as interpreters do. */
int run(void)
{
	int rank, size, x = 0, y;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 3; i++) {
		MPI_Request request;

		errno = 4711;
		MPI_Irecv(&y, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &request);
		if (errno != 4711)
			printf("errno is %d\n", errno);
		MPI_Send(&x, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}

#ifndef MODULE
int main(void)
{
	return run();
}
#endif
