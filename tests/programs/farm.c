/* SPDX-License-Identifier: BSD-3-Clause
 * farm - a master that hands out work in the order in which workers ask: nothing here is the same twice
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ASK = 1, WORK, STOP, ROUNDS = 40, SLOTS = 5 };

static int rank, size;

/* Hands out work to whoever asks; the message's tag says whether there was a result with it. */
static void master(void)
{
	int stopped = 0, given = 0, answer, sum = 0;
	MPI_Status s;

	while (stopped < size - 1) {
		MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
		sum += answer;
		if (given < ROUNDS * (size - 1)) {
			MPI_Send(&given, 1, MPI_INT, s.MPI_SOURCE, WORK, MPI_COMM_WORLD);
			given++;
		} else {
			MPI_Send(NULL, 0, MPI_INT, s.MPI_SOURCE, STOP, MPI_COMM_WORLD);
			stopped++;
		}
	}
	printf("farm: sum %d\n", sum);
}

static void worker(void)
{
	int work, answer = 0;
	MPI_Status s;

	for (;;) {
		MPI_Send(&answer, 1, MPI_INT, 0, ASK + answer % 3, MPI_COMM_WORLD);
		MPI_Recv(&work, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
		if (s.MPI_TAG == STOP)
			break;
		answer = work % 7;
	}
}

/* The master keeps SLOTS receives open and completes them with every function of the family in turn. */
static void polled(void)
{
	int total = ROUNDS * (size - 1), got = 0, values[SLOTS], kind = 0;
	MPI_Request q[SLOTS];

	if (rank) {
		for (int i = 0; i < ROUNDS; i++)
			MPI_Send(&i, 1, MPI_INT, 0, rank * 100 + i, MPI_COMM_WORLD);
		return;
	}
	int posted = 0;
	for (int i = 0; i < SLOTS; i++, posted++)
		MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q[i]);
	while (got < total) {
		int done[SLOTS], n = 0, flag = 0;
		MPI_Status s[SLOTS];

		switch (kind++ % 5) {
		case 0:
			MPI_Waitany(SLOTS, q, &done[0], &s[0]);
			n = 1;
			break;
		case 1:
			MPI_Testany(SLOTS, q, &done[0], &flag, kind % 2 ? &s[0] : MPI_STATUS_IGNORE);
			n = flag && done[0] != MPI_UNDEFINED;
			break;
		case 2:
			MPI_Waitsome(SLOTS, q, &n, done, s);
			break;
		case 3:
			MPI_Testsome(SLOTS, q, &n, done, kind % 2 ? s : MPI_STATUSES_IGNORE);
			break;
		case 4:
			MPI_Testall(SLOTS, q, &flag, s);
			for (n = 0; flag && n < SLOTS; n++)
				done[n] = n;
			break;
		}
		if (n == MPI_UNDEFINED)
			break;
		for (int i = 0; i < n; i++) {
			if (q[done[i]] != MPI_REQUEST_NULL)
				continue;
			got++;
			if (posted < total) {
				MPI_Irecv(&values[done[i]], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
				          &q[done[i]]);
				posted++;
			}
		}
	}
	int index, flag, n, done[SLOTS];
	MPI_Waitany(SLOTS, q, &index, MPI_STATUS_IGNORE);
	MPI_Waitsome(SLOTS, q, &n, done, MPI_STATUSES_IGNORE);
	MPI_Testany(SLOTS, q, &index, &flag, MPI_STATUS_IGNORE);
	MPI_Testall(SLOTS, q, &flag, MPI_STATUSES_IGNORE);
	printf("farm: got %d\n", got);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0)
		master();
	else
		worker();
	MPI_Barrier(MPI_COMM_WORLD);
	polled();
	MPI_Finalize();
	return 0;
}
