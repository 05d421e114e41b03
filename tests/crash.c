/* SPDX-License-Identifier: BSD-3-Clause
 * crash - an MPI program that ends badly: crash HOW [SECONDS]
 *
 * Half a second of messages around a ring, then HOW: kill-one, kill-all, abort, exit0, segv, late (the last rank comes
 * to MPI_Finalize after SECONDS), hang (it never does), bcast (nor to an MPI_Bcast), loop (messages for ever), wait (as
 * many messages, SECONDS without any, then the normal end), memory (after SECONDS the last rank takes ever more, up to
 * 2 GiB).
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size;

static void turn(int step)
{
	int from = -1, sum = 0;
	MPI_Request request;
	MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, step % 5, MPI_COMM_WORLD, &request);
	MPI_Recv(&from, 1, MPI_INT, (rank + size - 1) % size, step % 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (step % 10 == 9)
		MPI_Allreduce(&from, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	usleep(5000);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int last = rank == size - 1;
	for (int step = 0; step < 100 || !strcmp(how, "loop"); step++)
		turn(step);
	if (!strcmp(how, "kill-all") || (!strcmp(how, "kill-one") && last))
		raise(SIGKILL);
	if (!strcmp(how, "abort") && last)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (!strcmp(how, "exit0"))
		_exit(0);
	if (!strcmp(how, "segv") && last) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	if (!strcmp(how, "wait") || (!strcmp(how, "late") && last))
		sleep(seconds);
	if (!strcmp(how, "memory") && last)
		sleep(seconds);
	for (int i = 0; i < 2048 && !strcmp(how, "memory") && last; i++)
		memset(malloc(1 << 20), i, 1 << 20);
	while ((!strcmp(how, "hang") || !strcmp(how, "bcast")) && last)
		sleep(60);
	if (!strcmp(how, "bcast"))
		MPI_Bcast(&last, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
	if (!strcmp(how, "kill-one") || !strcmp(how, "abort") || !strcmp(how, "segv") || !strcmp(how, "memory"))
		turn(100); /* never comes back: the one before is gone, or all are ended here */
	MPI_Finalize();
	return 0;
}
