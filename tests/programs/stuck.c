/* SPDX-License-Identifier: BSD-3-Clause
 * stuck - a job that hangs until it is killed: stuck SECONDS [WHERE]
 *
 * After some turns the last rank does not come to MPI_Bcast (it is the root), or sends no message (WHERE is receive).
 * It sleeps, and after SECONDS kills itself, and so all; 0: it waits to be killed.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void turn(int step, int receive)
{
	int value = step, last = size - 1;
	if (receive && rank == last)
		MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	else if (receive && rank == 0)
		MPI_Recv(&value, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (!receive)
		MPI_Bcast(&value, 1, MPI_INT, last, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	int receive = argc > 2 && !strcmp(argv[2], "receive");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int step = 0; step < 20; step++)
		turn(step, receive);
	if (rank == size - 1) {
		sleep(seconds ? seconds : 1000);
		raise(SIGKILL);
	}
	turn(20, receive);
	MPI_Finalize();
	return 0;
}
