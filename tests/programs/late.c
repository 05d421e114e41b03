/* SPDX-License-Identifier: BSD-3-Clause
 * late - ranks that come to MPI_Finalize late, or not at all
 *
 *     late                  all together
 *     late RANK SECONDS     RANK computes for so long while the others are in MPI_Finalize
 *     late RANK stop        RANK is stopped in MPI_Finalize, where it waits for the others, and goes on after two
 *                           seconds
 *     late RANK kill|exit   RANK is killed before, or leaves without it
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A child that stops this process and has it go on: in_front and stopped are seconds. */
static void stop_soon(unsigned in_front, unsigned stopped)
{
	pid_t parent = getpid();

	if (fork() != 0)
		return;
	sleep(in_front);
	kill(parent, SIGSTOP);
	sleep(stopped);
	kill(parent, SIGCONT);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	int rank, who = argc > 2 ? atoi(argv[1]) : -1, one = 1, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++)
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!strcmp(what, "stop")) {
		if (rank == who)
			stop_soon(1, 2);
		else
			sleep(2);
	} else if (rank == who) {
		if (!strcmp(what, "kill"))
			raise(SIGKILL);
		if (!strcmp(what, "exit"))
			exit(0);
		usleep((useconds_t)(strtod(what, NULL) * 1e6));
	}
	MPI_Finalize();
	if (rank == 0)
		printf("%d ranks\n", sum);
	return 0;
}
