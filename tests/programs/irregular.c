/* SPDX-License-Identifier: BSD-3-Clause
 * irregular - steps that differ: numbers of messages, completions in any order, calls in some steps only
 */
#include <mpi.h>
#include <stdlib.h>

enum { MOST = 17, KINDS = 5 };

static unsigned state = 1;

static unsigned chance(unsigned n)
{
	state = state * 1103515245 + 12345;
	return state / 65536 % n;
}

/* Each kind of message is answered at a place of its own. */
static void handle(int kind)
{
	int flag;
	switch (kind) {
	case 0:
		MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		break;
	case 1:
		MPI_Iprobe(MPI_ANY_SOURCE, 98, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		break;
	case 2:
		MPI_Iprobe(MPI_ANY_SOURCE, 97, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		MPI_Comm_rank(MPI_COMM_SELF, &flag);
		break;
	case 3:
		MPI_Comm_size(MPI_COMM_SELF, &flag);
		break;
	default:
		for (unsigned i = 1 + chance(3); i > 0; i--)
			MPI_Comm_rank(MPI_COMM_WORLD, &flag);
	}
}

static void exchange(int rank, int size, int n)
{
	MPI_Request requests[2 * MOST];
	static int in[MOST], out[MOST];
	for (int i = 0; i < n; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < n; i++)
		MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[n + i]);
	for (int left = 2 * n; left > 0;) {
		int done, places[2 * MOST];
		MPI_Waitsome(2 * n, requests, &done, places, MPI_STATUSES_IGNORE);
		left -= done;
		for (unsigned mask = 0; mask != (1 << KINDS) - 1;) {
			unsigned kind = chance(KINDS);
			if (!(mask >> kind & 1))
				handle((int)kind);
			mask |= 1U << kind;
		}
	}
}

int main(int argc, char **argv)
{
	int rank, size, steps = argc > 1 ? atoi(argv[1]) : 200, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int step = 0; step < steps; step++) {
		exchange(rank, size, 3 + (int)chance(MOST - 2));
		state = (unsigned)(step + 7) * 2654435761U; /* the same in all ranks, whatever was completed when */
		if (chance(8) == 0)
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		for (unsigned i = chance(4); i > 0; i--) {
			MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
	return MPI_Finalize();
}
