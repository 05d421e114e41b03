/* SPDX-License-Identifier: BSD-3-Clause
 * threads - what an event costs in threads that call MPI at the same time
 *
 *     threads THREADS CALLS [LOOP]
 *
 * Each thread makes about CALLS calls (after a tenth of them to get warm) with a communicator of its own, LOOP is one
 * of
 *
 *     self        MPI_Irecv, MPI_Isend to itself, MPI_Waitall (the default)
 *     comm-rank   MPI_Comm_rank
 *
 * Prints the mean over threads of the CPU time of a call in ns: run it with and without the tracer, with one thread and
 * with several. MPI provides MPI_THREAD_MULTIPLE in any case, so that the library costs the same. CPU time, as there
 * may be fewer processors than threads. Threads make their first call one after the other, so that they have the same
 * numbers in every run.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64 };

static pthread_barrier_t barrier, first;
static long calls;
static int plain;

static struct worker {
	pthread_t thread;
	MPI_Comm comm;
	double ns;
} workers[MOST];

static double cpu_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void __attribute__((noinline)) loop(MPI_Comm comm, long n)
{
	char in[8], out[8] = "";
	MPI_Request q[2];
	int rank;

	for (long i = 0; plain && i < n; i++)
		MPI_Comm_rank(comm, &rank);
	for (long i = 0; !plain && i < n; i += 3) {
		MPI_Irecv(in, 8, MPI_BYTE, 0, 1, comm, &q[0]);
		MPI_Isend(out, 8, MPI_BYTE, 0, 1, comm, &q[1]);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int rank;

	MPI_Comm_rank(w->comm, &rank);
	pthread_barrier_wait(&first);
	pthread_barrier_wait(&barrier);
	loop(w->comm, calls / 10);
	double start = cpu_time();
	loop(w->comm, calls);
	w->ns = (cpu_time() - start) / (double)calls;
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, provided;
	double sum = 0;

	calls = argc > 2 ? atol(argv[2]) : 0;
	plain = argc > 3 && !strcmp(argv[3], "comm-rank");
	if (n < 1 || n > MOST || calls < 10) {
		fprintf(stderr, "usage: threads THREADS CALLS [self|comm-rank], 1 to %d THREADS\n", MOST);
		return 2;
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	pthread_barrier_init(&first, NULL, 2);
	for (int i = 0; i < n; i++)
		MPI_Comm_dup(MPI_COMM_SELF, &workers[i].comm);
	for (int i = 0; i < n; i++) {
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		pthread_barrier_wait(&first);
	}
	for (int i = 0; i < n; i++) {
		pthread_join(workers[i].thread, NULL);
		sum += workers[i].ns;
	}
	printf("%d threads, %ld calls each: %.1f ns a call%s\n", n, calls, sum / n,
	       provided == MPI_THREAD_MULTIPLE ? "" : " (no MPI_THREAD_MULTIPLE)");
	MPI_Finalize();
	return 0;
}
