/* SPDX-License-Identifier: BSD-3-Clause
 * polls - what is found when is without a rule, and so is the communicator in which a neighbour is missing
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

int main(void)
{
	int rank, size;
	MPI_Comm each[3] = {MPI_COMM_WORLD};
	unsigned state = 1;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	poll_ring(rank, size);
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &each[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &each[2]);
	for (int step = 0; step < STEPS; step++)
		shift(each[random_bit(&state) + random_bit(&state)], 1);
	MPI_Comm_free(&each[1]);
	MPI_Comm_free(&each[2]);
	MPI_Finalize();
	return 0;
}
