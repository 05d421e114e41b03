/* SPDX-License-Identifier: BSD-3-Clause
 * threads - MPI_THREAD_MULTIPLE: each thread has its own communicator and does its own communication
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 30 };

static int rank, size;
static MPI_Comm comm[THREADS];

static void *work(void *arg)
{
	MPI_Comm c = *(MPI_Comm *)arg;
	int x = 0;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Request q[2];
		int y;

		MPI_Irecv(&y, 1, MPI_INT, (rank + size - 1) % size, i, c, &q[0]);
		MPI_Isend(&x, 1, MPI_INT, (rank + 1) % size, i, c, &q[1]);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		x += y + 1;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
	if (provided == MPI_THREAD_MULTIPLE) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, work, &comm[i]);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
	}
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comm[i]);
	if (rank == 0)
		printf("threads: %d\n", provided == MPI_THREAD_MULTIPLE);
	MPI_Finalize();
	return 0;
}
