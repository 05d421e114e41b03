/* SPDX-License-Identifier: BSD-3-Clause
 * ending - runs that do not come to MPI_Finalize, each for a reason that is known
 *
 *     ending KIND     signal, leave, exit, abort, truncate, returned (an error, and then MPI_Abort); missing-for-ever;
 *                     and those that an alarm ends: sends, receives, missing, different, steps
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };
static int data[LARGE];

static void steps(int count)
{
	int one = 1, sum;
	for (int i = 0; i < count; i++) {
		usleep(3000);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
}

/* Each rank does what is planted for it. */
static void end(const char *kind, int rank)
{
	static const char *const hanging[] = {"sends", "receives", "missing", "different", "steps"};
	for (size_t i = 0; i < sizeof hanging / sizeof *hanging; i++)
		if (strcmp(kind, hanging[i]) == 0)
			alarm(4);
	if (strcmp(kind, "signal") == 0 && rank == 2) {
		usleep(100000);
		raise(SIGSEGV);
	} else if (strcmp(kind, "leave") == 0 && rank == 1) {
		_exit(3);
	} else if (strcmp(kind, "exit") == 0 && rank == 3) {
		exit(4);
	} else if (strcmp(kind, "abort") == 0 && rank == 3) {
		MPI_Abort(MPI_COMM_WORLD, 7);
	} else if (strcmp(kind, "truncate") == 0 && rank == 0) {
		MPI_Send(data, 1000, MPI_INT, 1, 5, MPI_COMM_WORLD);
	} else if (strcmp(kind, "truncate") == 0 && rank == 1) {
		MPI_Recv(data, 10, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (strcmp(kind, "returned") == 0) { /* others have errors, too, and go on */
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		if (rank == 0)
			MPI_Recv(data, 10, MPI_INT, 98, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else if (rank == 1)
			MPI_Ssend(data, 10, MPI_INT, 97, 5, MPI_COMM_WORLD);
		else if (rank == 3)
			MPI_Rsend(data, 10, MPI_INT, 96, 5, MPI_COMM_WORLD);
		usleep(50000);
		if (rank == 2 && MPI_Send(data, 10, MPI_INT, 99, 5, MPI_COMM_WORLD) != MPI_SUCCESS)
			MPI_Abort(MPI_COMM_WORLD, 1);
	} else if (strcmp(kind, "receives") == 0 && rank < 2) {
		MPI_Recv(data, 10, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (strncmp(kind, "missing", 7) == 0 && rank == 3) {
		sleep(1000);
	} else if (strcmp(kind, "different") == 0 && rank == 1) {
		MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD);
	} else if (strcmp(kind, "steps") == 0) {
		steps(1000000);
	} else if (strcmp(kind, "sends") == 0 && rank < 2) {
		MPI_Send(data, LARGE, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
		MPI_Recv(data, LARGE, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	int rank;
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	steps(30);
	end(argc > 1 ? argv[1] : "", rank);
	steps(30);
	MPI_Finalize();
	return 0;
}
