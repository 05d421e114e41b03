/* SPDX-License-Identifier: BSD-3-Clause
 * strangers - two threads call MPI below MPI_THREAD_MULTIPLE
 *
 *     strangers meanwhile [CALLS]   one calls what any thread may call at any time, while the other communicates
 *     strangers early [CALLS]       one asks for the version from within the other's MPI_Init on
 *     strangers turns [CALLS]       both communicate, one after the other, and threads end
 *     strangers wrong [CALLS]       both call at the same time what happens to do no harm
 *
 * The first two are right by the standard (MPI 4.0, 11.6), the third with MPI_THREAD_SERIALIZED, the last never.
 */
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone, noipa))

static volatile int stop, tasks_before;
static int calls = 2000, counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* From other call paths each time, so that there are new sites. */
static APART void ask(int depth, int how)
{
	int flag;

	if (depth > 0) {
		ask(depth - 1, how / 2);
		__asm__ volatile(""); /* no tail call */
		return;
	}
	if (how % 2)
		MPI_Initialized(&flag);
	else
		MPI_Finalized(&flag);
}

static void *stranger(void *arg)
{
	for (int i = 0; !stop; i++)
		ask(i % 7, i);
	return arg;
}

/* Threads of this process, and two more. */
static int tasks(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/task");

	while (d && readdir(d))
		n++;
	closedir(d);
	return n;
}

/* MPI_Init makes threads. */
static void *early(void *arg)
{
	int version, subversion;

	while (!stop && (!tasks_before || tasks() <= tasks_before))
		;
	while (!stop)
		MPI_Get_version(&version, &subversion);
	return arg;
}

static APART void communicate(int depth, int i)
{
	int in, out = i, size;
	MPI_Request q[2];

	if (depth > 0) {
		communicate(depth - 1, i);
		__asm__ volatile("");
		return;
	}
	MPI_Irecv(&in, 1, MPI_INT, 0, i % 11, MPI_COMM_SELF, &q[0]);
	MPI_Isend(&out, 1, MPI_INT, 0, i % 11, MPI_COMM_SELF, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_Comm_size(MPI_COMM_SELF, &size);
	if (in != out || size != 1)
		MPI_Abort(MPI_COMM_WORLD, 3);
}

static void *wrong(void *arg)
{
	int x;

	for (int i = 0; i < calls; i++) {
		MPI_Comm_rank(MPI_COMM_SELF, &x);
		if (i % 3)
			MPI_Type_size(i % 7 ? MPI_INT : MPI_DOUBLE, &x);
	}
	return arg;
}

static void *in_turns(void *arg)
{
	for (int last = 0; !last;) {
		pthread_mutex_lock(&lock);
		last = counter >= calls;
		for (int n = counter % 3; n >= 0 && !last; n--)
			communicate(counter % 5, counter);
		counter++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "turns";
	const int from_init = !strcmp(how, "early"), meanwhile = from_init || !strcmp(how, "meanwhile");
	void *(*both)(void *) = strcmp(how, "wrong") ? in_turns : wrong;
	int provided, rank;
	pthread_t other;

	if (argc > 2)
		calls = atoi(argv[2]);
	if (from_init) {
		pthread_create(&other, NULL, early, NULL);
		tasks_before = tasks();
	}
	MPI_Init_thread(&argc, &argv, meanwhile ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int generation = 0; generation < (from_init ? 1 : 3); generation++) {
		stop = counter = 0;
		if (!from_init)
			pthread_create(&other, NULL, meanwhile ? stranger : both, NULL);
		if (meanwhile)
			for (int i = 0; i < calls; i++)
				communicate(i % 5, i);
		else
			both(NULL);
		stop = 1;
		pthread_join(other, NULL);
	}
	if (rank == 0)
		printf("strangers: done\n");
	MPI_Finalize();
	return 0;
}
