/* SPDX-License-Identifier: BSD-3-Clause
 * unseen - makes requests by MPI functions, and completes them by PMPI functions, as a layer does: unseen PAIRS. Says
 * how much memory it had at most, in KiB.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
	long pairs = argc > 1 ? atol(argv[1]) : 1;
	int out = 1, in = 0;
	struct rusage used;

	MPI_Init(&argc, &argv);
	for (long i = 0; i < pairs; i++) {
		MPI_Request r[2];

		MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[0]);
		MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[1]);
		PMPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	getrusage(RUSAGE_SELF, &used);
	printf("%ld\n", used.ru_maxrss);
	MPI_Finalize();
	return 0;
}
