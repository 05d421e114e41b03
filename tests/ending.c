/* SPDX-License-Identifier: BSD-3-Clause
 * ending - an MPI program that ends as its argument says: normal, exit (rank 0 exits with 3), abort (rank 0 calls
 * MPI_Abort)
 *
 * Only rank 0 prints, to stdout and stderr, so that two runs of it are the same byte for byte.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, size, from = -1, sum = 0;
	const char *how = argc > 1 ? argv[1] : "normal";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int step = 0; step < 10; step++) {
		MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, step, &from, 1, MPI_INT, (rank + size - 1) % size,
		             step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Allreduce(&from, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0) {
		printf("%d ranks, sum %d, ending: %s\n", size, sum, how);
		fflush(stdout);
		fprintf(stderr, "this goes to stderr\n");
	}
	if (strcmp(how, "abort") == 0) {
		if (rank == 0)
			MPI_Abort(MPI_COMM_WORLD, 5);
		sleep(60); /* outside MPI: whether a rank in it complains of lost peers before it is killed is chance */
	}
	MPI_Finalize();
	return strcmp(how, "exit") == 0 && rank == 0 ? 3 : 0;
}
