/* SPDX-License-Identifier: BSD-3-Clause
 * polls - what is found when is without a rule, and so is the communicator in which a neighbour is missing
 *
 *     polls [long]    long: one call polls 300,000 times for three of a hundred requests
 */
#include <mpi.h>
#include <unistd.h>

enum { STEPS = 60 };

static unsigned random_bit(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 20 & 1;
}

/* In some steps the left neighbour sends, late: the same call finds that after a while, and nothing in the others. */
static void poll_ring(int rank, int size)
{
	int got[2], flag, index, all = 1;
	unsigned mine = 1 + (unsigned)rank, left = 1 + (unsigned)((rank + size - 1) % size);
	MPI_Request request, sent;

	MPI_Irecv(got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	for (int step = 0; step < STEPS; step++) {
		unsigned come = random_bit(&left), go = random_bit(&mine);
		usleep(go && step % 3 == 0 ? 3000 : 0);
		if (go) {
			MPI_Isend(&all, 1, MPI_INT, (rank + 1) % size, step % 7, MPI_COMM_WORLD, &sent);
			MPI_Wait(&sent, MPI_STATUS_IGNORE);
		}
		do
			MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE);
		while (!flag && come);
		if (flag)
			MPI_Irecv(got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
		MPI_Allreduce(&step, &index, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	}
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void shift(MPI_Comm comm, int distance)
{
	int rank, size, in, out = 1;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	int to = rank + distance < size ? rank + distance : MPI_PROC_NULL;
	int from = rank >= distance ? rank - distance : MPI_PROC_NULL;
	MPI_Sendrecv(&out, 1, MPI_INT, to, 1, &in, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
}

/* The last rank answers what the first one polls for. */
static void poll_long(int rank, int size)
{
	enum { EACH = 50, REQUESTS = 2 * EACH + 1, TURNS = 100000 };
	int got[REQUESTS], to, done;
	MPI_Request request[REQUESTS];
	if (rank != 0 && rank != size - 1)
		return;
	for (int i = 0; rank == 0 && i < REQUESTS; i++)
		MPI_Irecv(&got[i], 1, MPI_INT, size - 1, i, MPI_COMM_WORLD, &request[i]);
	for (int i = 0; i < REQUESTS; i += EACH) {
		for (to = done = 0; rank == 0 && !done; to++) {
			if (to == TURNS)
				MPI_Send(&i, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
			MPI_Test(&request[i], &done, MPI_STATUS_IGNORE);
		}
		if (rank != 0) {
			MPI_Recv(&got[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&got[0], 1, MPI_INT, 0, i, MPI_COMM_WORLD);
		}
	}
	for (int i = 0; i < REQUESTS; i++)
		if (rank == 0)
			MPI_Wait(&request[i], MPI_STATUS_IGNORE);
		else if (i % EACH)
			MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	(void)argv;
	int rank, size;
	MPI_Comm each[3] = {MPI_COMM_WORLD};
	unsigned state = 1;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	poll_ring(rank, size);
	MPI_Barrier(MPI_COMM_WORLD); /* from now on nobody's receive is left */
	if (argc > 1)
		poll_long(rank, size);
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &each[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &each[2]);
	for (int step = 0; step < STEPS; step++)
		shift(each[random_bit(&state) + random_bit(&state)], 1);
	MPI_Comm_free(&each[1]);
	MPI_Comm_free(&each[2]);
	MPI_Finalize();
	return 0;
}
