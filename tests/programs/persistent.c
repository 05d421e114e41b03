/* SPDX-License-Identifier: BSD-3-Clause
 * persistent - persistent requests: started, completed in every way, inactive, freed
 */
#include <mpi.h>
#include <stdio.h>

enum { STEPS = 12, N = 16 };

int main(int argc, char **argv)
{
	int rank, size, flag, index, n, done[6];
	double out[N] = {0}, in[N], more[N];
	char attached[N * sizeof(double) + MPI_BSEND_OVERHEAD];
	void *detached;
	MPI_Request q[6], extra;
	MPI_Status s[6];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

	MPI_Recv_init(in, N, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &q[0]);
	MPI_Recv_init(more, N, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &q[1]);
	MPI_Send_init(out, N, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &q[2]);
	MPI_Ssend_init(out, N / 2, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &q[3]);
	MPI_Waitall(4, q, s); /* inactive: at once */
	for (int step = 0; step < STEPS; step++) {
		MPI_Startall(4, q);
		switch (step % 4) {
		case 0:
			MPI_Waitall(4, q, s);
			break;
		case 1:
			for (int i = 0; i < 4; i++)
				MPI_Wait(&q[i], &s[i]);
			break;
		case 2:
			for (int left_over = 4; left_over; left_over -= n)
				MPI_Waitsome(4, q, &n, done, s);
			break;
		case 3:
			for (int i = 0; i < 4; i++)
				MPI_Waitany(4, q, &index, &s[0]);
			break;
		}
		/* a new request between: it takes a free number while the persistent ones keep theirs */
		MPI_Irecv(in, N, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &extra);
		MPI_Send(out, step, MPI_DOUBLE, right, 3, MPI_COMM_WORLD);
		MPI_Wait(&extra, MPI_STATUS_IGNORE);
	}
	MPI_Waitany(4, q, &index, &s[0]); /* all inactive: MPI_UNDEFINED */
	MPI_Testall(4, q, &flag, s);
	MPI_Request_free(&q[1]);
	MPI_Request_free(&q[0]);
	MPI_Irecv(in, N, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &q[0]);
	MPI_Wait(&q[0], &s[0]);
	MPI_Request_free(&q[2]);
	MPI_Request_free(&q[3]);

	MPI_Buffer_attach(attached, sizeof(attached));
	MPI_Bsend_init(out, N, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &q[0]);
	MPI_Recv_init(in, N, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &q[1]);
	MPI_Start(&q[1]);
	MPI_Start(&q[0]);
	do
		MPI_Testall(2, q, &flag, s);
	while (!flag);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Buffer_detach(&detached, &n);
	MPI_Rsend_init(out, N, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &q[2]);
	MPI_Start(&q[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Start(&q[2]);
	do
		MPI_Test(&q[2], &flag, MPI_STATUS_IGNORE);
	while (!flag);
	do
		MPI_Testsome(3, q, &n, done, s);
	while (n == 0);
	/* cancelled persistent receive */
	MPI_Recv_init(more, N, MPI_DOUBLE, rank, 77, MPI_COMM_WORLD, &q[3]);
	MPI_Start(&q[3]);
	MPI_Cancel(&q[3]);
	MPI_Wait(&q[3], &s[0]);
	MPI_Test_cancelled(&s[0], &flag);
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&q[i]);
	if (rank == 0)
		printf("persistent: cancelled %d\n", flag);
	MPI_Finalize();
	return 0;
}
