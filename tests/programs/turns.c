/* SPDX-License-Identifier: BSD-3-Clause
 * turns - MPI_THREAD_MULTIPLE: threads that take turns, so that the true order of all calls of a rank is known
 *
 *     turns [TURNS]
 *
 * Under a lock a thread takes the next number of a counter that all share, and makes a call with it as its tag: the
 * tags of a rank's MPI_Iprobe, in the order in which they were made, are 0, 1, 2, ... Now and then a thread makes a
 * communicator, a datatype or a request in its turn that another one uses and ends in a later turn: also without times
 * some of the order follows from that.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { THREADS = 4 };

static int turns = 400, counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm passed = MPI_COMM_NULL;
static MPI_Datatype type = MPI_DATATYPE_NULL;
static MPI_Request request = MPI_REQUEST_NULL;
static int in, out;

/* One turn: the calls of a turn are made one after the other, by one thread. */
static void turn(int me, int n)
{
	int flag, x = n;

	MPI_Iprobe(MPI_PROC_NULL, n, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	if (n % 7 == 3) {
		if (passed == MPI_COMM_NULL)
			MPI_Comm_dup(MPI_COMM_SELF, &passed);
		else
			MPI_Comm_free(&passed);
	} else if (n % 7 == 4 && passed != MPI_COMM_NULL) {
		MPI_Bcast(&x, 1, MPI_INT, 0, passed);
	}
	if (n % 11 == 5) {
		if (type == MPI_DATATYPE_NULL) {
			MPI_Type_contiguous(1 + me, MPI_INT, &type);
			MPI_Type_commit(&type);
		} else {
			MPI_Type_free(&type);
		}
	}
	if (n % 5 == 1) {
		if (request == MPI_REQUEST_NULL) {
			MPI_Irecv(&in, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request);
		} else {
			MPI_Send(&out, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	}
}

static void *work(void *arg)
{
	int me = (int)(long)arg, last = 0;

	while (!last) {
		pthread_mutex_lock(&lock);
		last = counter >= turns;
		if (!last && (counter >= THREADS ||
		              counter == me)) /* the first turns in order, so that the threads' numbers are known */
			turn(me, counter++);
		pthread_mutex_unlock(&lock);
		sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	int provided;

	if (argc > 1)
		turns = atoi(argv[1]);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided == MPI_THREAD_MULTIPLE) {
		for (long i = 1; i < THREADS; i++)
			pthread_create(&t[i], NULL, work, (void *)i);
		work((void *)0);
		for (int i = 1; i < THREADS; i++)
			pthread_join(t[i], NULL);
	}
	if (passed != MPI_COMM_NULL)
		MPI_Comm_free(&passed);
	if (type != MPI_DATATYPE_NULL)
		MPI_Type_free(&type);
	if (request != MPI_REQUEST_NULL) {
		MPI_Send(&out, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
