/* SPDX-License-Identifier: BSD-3-Clause
 * foreman - a master that answers whoever asks: each request says who, and what follows is for that rank
 *
 *     foreman TASKS [probe | irecv | waitany]
 *
 * A worker asks, gets the size of a task, works for as long as the task says, and sends what it made. How the master
 * takes a request is the second argument.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ASK = 1, TASK, SIZE, DATA };
static int data[8192];

static int take(const char *how, int *asked, MPI_Status *s)
{
	MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int done = 0, which;
	if (strcmp(how, "probe") == 0) {
		MPI_Probe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, s);
		MPI_Recv(asked, 1, MPI_INT, s->MPI_SOURCE, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (strcmp(how, "irecv") == 0) {
		MPI_Irecv(asked, 1, MPI_INT, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, r);
		while (!done)
			MPI_Test(r, &done, s);
	} else if (strcmp(how, "waitany") == 0) {
		MPI_Irecv(asked, 1, MPI_INT, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, r + 1);
		MPI_Waitany(2, r, &which, s);
	} else
		MPI_Recv(asked, 1, MPI_INT, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, s);
	return s->MPI_SOURCE;
}

static void lead(int tasks, int workers, const char *how)
{
	MPI_Status s;
	int asked, size, stop = -1;
	for (int t = 0; t < tasks + workers; t++) {
		int who = take(how, &asked, &s), task = t < tasks ? (t * 37 + who * 11) % 100 : stop;
		MPI_Send(&task, 1, MPI_INT, who, TASK, MPI_COMM_WORLD);
		if (task < 0)
			continue;
		MPI_Recv(&size, 1, MPI_INT, who, SIZE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(data, size, MPI_INT, who, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void work(int rank)
{
	int task;
	for (;;) {
		MPI_Send(&rank, 1, MPI_INT, 0, ASK, MPI_COMM_WORLD);
		MPI_Recv(&task, 1, MPI_INT, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (task < 0)
			return;
		int size = 1 + task * 40 + rank;
		MPI_Send(&size, 1, MPI_INT, 0, SIZE, MPI_COMM_WORLD);
		MPI_Send(data, size, MPI_INT, 0, DATA, MPI_COMM_WORLD);
		usleep((unsigned)(task * 10 + rank * 150));
	}
}

int main(int argc, char **argv)
{
	int rank, ranks;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rank == 0)
		lead(argc > 1 ? atoi(argv[1]) : 50, ranks - 1, argc > 2 ? argv[2] : "");
	else
		work(rank);
	MPI_Finalize();
	return 0;
}
