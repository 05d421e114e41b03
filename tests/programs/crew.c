/* SPDX-License-Identifier: BSD-3-Clause
 * crew - MPI_THREAD_MULTIPLE: threads that share requests and communicators, that come and go, and that work at the
 * same time
 *
 *     crew [ROUNDS]          all of it; ROUNDS messages of each thread at the same time (default 200)
 *     crew ROUNDS die        rank 0 kills itself while all threads of all ranks are at work
 *
 * Threads make their first call one after the other, so that they have the same numbers in every run; what they do at
 * the same time uses only their own requests.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, GENERATIONS = 50 };

static int rank, size, rounds = 200, die;
static MPI_Comm comm[THREADS];
static pthread_barrier_t barrier;
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn;

/* Returns when the turns before it are over. */
static void wait_for(int mine)
{
	pthread_mutex_lock(&turn_lock);
	while (turn != mine)
		pthread_cond_wait(&turn_changed, &turn_lock);
	pthread_mutex_unlock(&turn_lock);
}

static void pass_on(void)
{
	pthread_mutex_lock(&turn_lock);
	turn++;
	pthread_cond_broadcast(&turn_changed);
	pthread_mutex_unlock(&turn_lock);
}

static int right(void)
{
	return (rank + 1) % size;
}

static int left(void)
{
	return (rank + size - 1) % size;
}

/* Many messages of each thread, at the same time as the others'. */
static void *ring(void *arg)
{
	int me = (int)(long)arg, r, x = me;
	char buffer[16];

	wait_for(me);
	MPI_Comm_rank(comm[me], &r);
	pass_on();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < rounds; i++) {
		MPI_Request q[2];
		int y;

		MPI_Irecv(&y, 1, MPI_INT, left(), i % 7, comm[me], &q[0]);
		MPI_Isend(&x, 1, MPI_INT, right(), i % 7, comm[me], &q[1]);
		if (me % 2)
			MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		else
			for (int k = 0; k < 2; k++)
				MPI_Wait(&q[k], MPI_STATUS_IGNORE);
		if (i % 5 == me)
			MPI_Sendrecv(&x, 1, MPI_INT, right(), 99, buffer, 16, MPI_BYTE, left(), 99, comm[me],
			             MPI_STATUS_IGNORE);
		if (die && rank == 0 && me == 2 && i == rounds / 2)
			kill(getpid(), SIGKILL);
		x = y + 1;
	}
	return NULL;
}

/* The requests that main made are completed by two other threads; one of them makes one that main completes. */
static MPI_Request shared[6], theirs[2];
static int values[8];

static void *complete(void *arg)
{
	int me = (int)(long)arg, index, flag, count, indices[6], r;
	MPI_Status s[6];

	wait_for(me);
	if (me == 0) {
		MPI_Wait(&shared[0], s);
		MPI_Waitall(2, shared + 1, s);
	} else {
		MPI_Comm_rank(MPI_COMM_WORLD, &r);
		MPI_Irecv(&values[6], 1, MPI_INT, left(), 26, MPI_COMM_WORLD, &theirs[0]);
		MPI_Isend(&values[7], 1, MPI_INT, right(), 26, MPI_COMM_WORLD, &theirs[1]);
		MPI_Waitany(3, shared + 3, &index, s);
		do
			MPI_Testsome(3, shared + 3, &count, indices, s);
		while (count != MPI_UNDEFINED);
		MPI_Testall(3, shared + 3, &flag, s);
	}
	pass_on();
	wait_for(2); /* the other one must not get this one's number */
	return NULL;
}

static void hand_over(void)
{
	pthread_t t[2];

	turn = 0;
	for (int i = 0; i < 3; i++) {
		MPI_Irecv(&values[i], 1, MPI_INT, left(), 20 + i, MPI_COMM_WORLD, &shared[2 * i]);
		MPI_Isend(&values[i + 3], 1, MPI_INT, right(), 20 + i, MPI_COMM_WORLD, &shared[2 * i + 1]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, complete, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	MPI_Waitall(2, theirs, MPI_STATUSES_IGNORE);
}

/* A thread that makes one communicator and frees the one before: their numbers go up in all threads together. */
static MPI_Comm passed;

static void *come_and_go(void *arg)
{
	MPI_Comm mine;
	int n = *(int *)arg, sum;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &mine);
	MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, mine);
	if (passed != MPI_COMM_NULL) {
		MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, passed);
		MPI_Comm_free(&passed);
	}
	passed = mine;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	int provided;

	if (argc > 1)
		rounds = atoi(argv[1]);
	die = argc > 2 && !strcmp(argv[2], "die");
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (provided == MPI_THREAD_MULTIPLE) {
		for (int i = 0; i < THREADS; i++)
			MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
		hand_over();
		passed = MPI_COMM_NULL;
		for (int i = 0; i < GENERATIONS; i++) {
			pthread_create(&t[0], NULL, come_and_go, &i);
			pthread_join(t[0], NULL);
		}
		MPI_Comm_free(&passed);
		turn = 0;
		pthread_barrier_init(&barrier, NULL, THREADS);
		for (long i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, ring, (void *)i);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		for (int i = 0; i < THREADS; i++)
			MPI_Comm_free(&comm[i]);
	}
	if (rank == 0)
		printf("crew: %d\n", provided == MPI_THREAD_MULTIPLE);
	MPI_Finalize();
	return 0;
}
