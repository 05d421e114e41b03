/* SPDX-License-Identifier: BSD-3-Clause
 * children - an MPI program that starts processes in every way, with a child that calls no MPI, while it goes on
 * calling MPI itself
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int waited(pid_t pid)
{
	int status = -1;

	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(int argc, char **argv)
{
	char *command[] = {"/bin/sh", "-c", "exit 5", NULL};
	int one = 1, sum = 0;
	pid_t pid = -1;

	if (argc != 2)
		return 1;
	MPI_Init(NULL, NULL);
	for (int i = 0; i < 20; i++) {
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (!strcmp(argv[1], "vfork")) {
			pid = vfork();
			if (!pid) {
				execv(command[0], command);
				_exit(1);
			}
		} else if (!strcmp(argv[1], "spawn")) {
			if (posix_spawn(&pid, command[0], NULL, NULL, command, environ))
				return 1;
		} else if (!strcmp(argv[1], "system")) {
			printf("%d ", system("exit 6"));
			continue;
		} else { /* without exec: ends by _exit, and once by exit, with all that runs then */
			fflush(NULL);
			pid = fork();
			if (!pid) {
				free(malloc(1 << 20));
				if (i == 10)
					exit(7);
				_exit(7);
			}
		}
		printf("%d ", waited(pid));
	}
	printf("sum %d\n", sum);
	MPI_Finalize();
	return 0;
}
