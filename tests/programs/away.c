/* SPDX-License-Identifier: BSD-3-Clause
 * away - ranks that are off the processor, or only look so: `away WHAT` prints nothing
 *
 *     sleep    the last rank sleeps for 20 ms in each of 20 steps
 *     workers  a thread of it uses the processor for 20 ms, and its first thread waits for that
 *     work     it uses the processor itself
 *     late     it comes to MPI_Init 1.5 s later than the others
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void rest(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&t, NULL);
}

static long used_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *work(void *ms)
{
	const long end = used_ms() + *(const long *)ms;
	while (used_ms() < end)
		;
	return NULL;
}

static void step(const char *what)
{
	long ms = 20;
	pthread_t worker;
	if (!strcmp(what, "workers") && pthread_create(&worker, NULL, work, &ms) == 0)
		pthread_join(worker, NULL);
	else if (!strcmp(what, "work"))
		work(&ms);
	else
		rest(ms);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *number = getenv("OMPI_COMM_WORLD_RANK");
	int rank, size, one = 1, all;
	number = number ? number : getenv("PMI_RANK");
	if (!strcmp(what, "late") && number && !strcmp(number, "1"))
		rest(1500);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 20; i++) {
		MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (rank == size - 1 && strcmp(what, "late") != 0)
			step(what);
		MPI_Wtime();
		MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* no call that waits: what was before it is known, too */
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
