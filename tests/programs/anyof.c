/* SPDX-License-Identifier: BSD-3-Clause
 * anyof - of several requests, one that is not the first is found, because messages come in falling order of their tags
 *
 * What was found is received anew, as in an update of a table that is spread over ranks. Without the pauses messages
 * come in any order: a program that repeats these calls must still find the same requests.
 */
#include <mpi.h>
#include <unistd.h>

enum { SLOTS = 4, ROUNDS = 12 };

static int in[SLOTS];
static MPI_Request request[SLOTS];

static void post(int i)
{
	MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &request[i]);
}

/* By one of the four calls. Returns how many were found, at least one. */
static int find(int kind, int indices[SLOTS])
{
	int count = kind < 2, flag = 0;

	if (kind == 0)
		MPI_Waitany(SLOTS, request, indices, MPI_STATUS_IGNORE);
	while (kind == 1 && !flag)
		MPI_Testany(SLOTS, request, indices, &flag, MPI_STATUS_IGNORE);
	if (kind == 2)
		MPI_Waitsome(SLOTS, request, &count, indices, MPI_STATUSES_IGNORE);
	while (count == 0)
		MPI_Testsome(SLOTS, request, &count, indices, MPI_STATUSES_IGNORE);
	return count;
}

static void receive(int kind)
{
	int indices[SLOTS];

	for (int found = 0, count; found < SLOTS; found += count) {
		count = find(kind, indices);
		for (int i = 0; i < count; i++)
			post(indices[i]);
	}
}

int main(void)
{
	int rank, out = 1;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < SLOTS && rank == 0; i++)
		post(i);
	for (int round = 0; round < ROUNDS; round++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			receive(round % 4);
		} else if (rank <= SLOTS) {
			usleep(2000 * (unsigned)(SLOTS - rank));
			MPI_Send(&out, 1, MPI_INT, 0, rank - 1, MPI_COMM_WORLD);
		}
	}
	for (int i = 0; i < SLOTS && rank == 0; i++) {
		MPI_Cancel(&request[i]);
		MPI_Wait(&request[i], MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
