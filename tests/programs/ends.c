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

/* The last rank is killed while the others are in calls that wait for it, or it holds what they wait for. */
static void killed(const char *how, const char *path, int rank, int size)
{
	int last = rank == size - 1, data[8] = {0}, first = 0;
	MPI_Group all, some;
	MPI_Comm half, both;
	MPI_Win win;
	MPI_File file;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Win_create(data, sizeof data, sizeof *data, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	if (!strcmp(how, "fence")) {
		for (int i = 0; i < 5; i++) {
			MPI_Win_fence(0, win);
			MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, i, 1, MPI_INT, win);
		}
		if (last)
			raise(SIGKILL);
		MPI_Win_fence(0, win);
	} else if (!strcmp(how, "post")) { /* everybody puts to rank 0 */
		for (int i = 0; i < 3; i++) {
			if (last && i == 2)
				raise(SIGKILL);
			if (rank == 0) {
				MPI_Group_excl(all, 1, &first, &some);
				MPI_Win_post(some, 0, win);
				MPI_Win_wait(win);
			} else {
				MPI_Group_incl(all, 1, &first, &some);
				MPI_Win_start(some, 0, win);
				MPI_Put(&rank, 1, MPI_INT, 0, rank % 8, 1, MPI_INT, win);
				MPI_Win_complete(win);
			}
			MPI_Group_free(&some);
		}
	} else if (!strcmp(how, "lock")) {
		for (int i = 0; i < 3; i++) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
			MPI_Put(&rank, 1, MPI_INT, 0, i, 1, MPI_INT, win);
			if (last && i == 2)
				raise(SIGKILL);
			MPI_Win_unlock(0, win);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (!strcmp(how, "file")) {
		/* Else opening it hangs now and then: in Open MPI 4.1 others open it before rank 0 has made it. */
		fclose(fopen(path, "a"));
		MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
		MPI_File_set_view(file, rank * (MPI_Offset)sizeof data, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
		for (int i = 0; i < 3; i++)
			MPI_File_write_all(file, data, 8, MPI_INT, MPI_STATUS_IGNORE);
		if (last)
			raise(SIGKILL);
		MPI_File_write_all(file, data, 8, MPI_INT, MPI_STATUS_IGNORE);
		MPI_File_close(&file);
	} else if (!strcmp(how, "group")) {
		MPI_Comm_create_group(MPI_COMM_WORLD, all, 1, &both);
		if (last)
			raise(SIGKILL);
		MPI_Comm_create_group(MPI_COMM_WORLD, all, 2, &half);
	} else { /* inter */
		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &both);
		MPI_Barrier(both);
		if (last)
			raise(SIGKILL);
		MPI_Comm_free(&both);
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 4, &both);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* ends normal|exit3|abort|segv|nofinalize|loud|empty|nompi|fork, or kill fence|post|lock|file|group|inter PATH */
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
	if (!strcmp(how, "kill") && argc == 4)
		killed(argv[2], argv[3], rank, size);
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
			fprintf(i % 10 ? stdout : stderr, "line %d of what a program says: \001 \t \xc3\xa9 %d\n", i,
			        sum);
	if (rank == 0)
		printf("sum %d\n", sum);
	fflush(stdout); /* mpirun may kill the others once the first has ended with 3 */
	MPI_Finalize();
	return strcmp(how, "exit3") ? 0 : 3;
}
