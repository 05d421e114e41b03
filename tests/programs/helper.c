/* SPDX-License-Identifier: BSD-3-Clause
 * helper - MPI_THREAD_MULTIPLE: generalised requests that one thread starts and waits for, and another one completes
 *
 *     helper [TIMES]
 */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static MPI_Request request;
static sem_t started, seen;
static int times = 50;

static int query(void *state, MPI_Status *status)
{
	(void)state;
	status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
	MPI_Status_set_elements(status, MPI_INT, 3);
	return MPI_Status_set_cancelled(status, 0);
}

static int release(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

static void *help(void *unused)
{
	for (int i = 0; i < times; i++) {
		sem_wait(&started);
		MPI_Grequest_complete(request);
		sem_post(&seen);
	}
	return unused;
}

int main(int argc, char **argv)
{
	int provided, n;
	MPI_Status status;
	MPI_Request waited;
	pthread_t helper;

	times = argc > 1 ? atoi(argv[1]) : times;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	sem_init(&started, 0, 0);
	sem_init(&seen, 0, 0);
	pthread_create(&helper, NULL, help, NULL);
	for (int i = 0; i < times; i++) {
		MPI_Grequest_start(query, release, cancel, NULL, &request);
		waited = request; /* MPI_Wait sets its own, which the helper must not read */
		sem_post(&started);
		MPI_Wait(&waited, &status);
		MPI_Get_count(&status, MPI_INT, &n);
		sem_wait(&seen);
	}
	pthread_join(helper, NULL);
	return MPI_Finalize();
}
