/* SPDX-License-Identifier: BSD-3-Clause
 * started - a ring of persistent requests whose sizes differ from rank to rank, started one by one and all together
 *
 *     started [STEPS]        default 50
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, size, steps = argc > 1 ? atoi(argv[1]) : 50;
	static double out[2][64], in[2][64];
	MPI_Request q[4];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Send_init(out[0], 1 + rank, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD, &q[0]);
	MPI_Recv_init(in[0], 64, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &q[1]);
	MPI_Ssend_init(out[1], 7, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 2, MPI_COMM_WORLD, &q[2]);
	MPI_Recv_init(in[1], 64, MPI_INT, rank > 0 ? rank - 1 : MPI_PROC_NULL, 2, MPI_COMM_WORLD, &q[3]);
	for (int i = 0; i < steps; i++) {
		if (i % 3) {
			MPI_Startall(4, q);
		} else {
			for (int k = 3; k >= 0; k--)
				MPI_Start(&q[k]);
		}
		MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
	}
	for (int k = 0; k < 4; k++)
		MPI_Request_free(&q[k]);
	MPI_Finalize();
	return 0;
}
