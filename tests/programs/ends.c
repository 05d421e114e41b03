/* SPDX-License-Identifier: BSD-3-Clause
 * ends - the ways in which a program ends
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ends normal|exit3|abort|segv|nofinalize|loud|empty|nompi|fork */
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "normal";
	int rank, size, x = 1, sum;

	if (!strcmp(how, "nompi")) {
		printf("no MPI here\n");
		fprintf(stderr, "nor here\n");
		return 0;
	}
	MPI_Init(&argc, &argv);
	if (!strcmp(how, "empty")) {
		MPI_Finalize();
		return 0;
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 10; i++)
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!strcmp(how, "abort")) {
		if (rank == size - 1) {
			printf("before the end\n");
			fflush(stdout);
			MPI_Abort(MPI_COMM_WORLD, 7);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!strcmp(how, "segv")) {
		if (rank == size - 1)
			raise(11);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!strcmp(how, "fork")) {
		/* children that end with and without exit's work, and one that executes something else */
		int status;

		fflush(stdout);
		if (fork() == 0)
			exit(0);
		if (fork() == 0)
			_exit(0);
		wait(&status);
		wait(&status);
		if (rank == 0 && system("echo a shell") != 0)
			return 9;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!strcmp(how, "nofinalize"))
		_exit(0);
	if (!strcmp(how, "loud"))
		for (int i = 0; rank == 0 && i < 20000; i++)
			fprintf(i % 10 ? stdout : stderr, "line %d of what a program says: \001 \t \xc3\xa9 %d\n", i, sum);
	if (rank == 0)
		printf("sum %d\n", sum);
	fflush(stdout); /* mpirun may kill the others once the first has ended with 3 */
	MPI_Finalize();
	return strcmp(how, "exit3") ? 0 : 3;
}
