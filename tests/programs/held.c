/* SPDX-License-Identifier: BSD-3-Clause
 * held - two threads make calls, one of which tests/programs/holder stops inside of the tracer: held ROUNDS
 *
 * The other one's calls are about objects of its own, about new ones, and about requests that the stopped one made. At
 * the end it says how much of its own processor time the longest call took, and the number of calls.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BEGIN = 0x5000, END, READY, DONE };

/* A breakpoint: rax says which. */
static inline void tell(long what)
{
	__asm__ volatile("int3" : : "a"(what) : "memory");
}

static MPI_Request left[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
static long longest, calls;
static bool ends;

static long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

#define TIMED(call)                                               \
	do {                                                      \
		long before_ = now(CLOCK_THREAD_CPUTIME_ID);      \
		call;                                             \
		before_ = now(CLOCK_THREAD_CPUTIME_ID) - before_; \
		longest = before_ > longest ? before_ : longest;  \
		calls++;                                          \
	} while (0)

static void other_calls(void)
{
	int rank, out = 1, in = 0, size;
	MPI_Request r[2];
	MPI_Datatype type;
	MPI_Comm comm;

	TIMED(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	TIMED(MPI_Irecv(&in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r[0]));
	TIMED(MPI_Isend(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r[1]));
	TIMED(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	TIMED(MPI_Type_contiguous(3, MPI_INT, &type));
	TIMED(MPI_Type_size(type, &size));
	TIMED(MPI_Type_free(&type));
	TIMED(MPI_Comm_dup(MPI_COMM_SELF, &comm));
	TIMED(MPI_Comm_free(&comm));
	TIMED(MPI_Waitall(2, left, MPI_STATUSES_IGNORE));
}

static void *other(void *p)
{
	while (tell(READY), !ends) {
		other_calls();
		tell(DONE);
	}
	return p;
}

static void own_calls(void)
{
	static int out = 1, in[2];
	MPI_Datatype type;
	MPI_Request r[2];
	int size;

	MPI_Irecv(&in[1], 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[0]);
	MPI_Isend(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[1]);
	MPI_Type_contiguous(5, MPI_INT, &type);
	MPI_Type_size(type, &size);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Type_free(&type);
}

/* What the other one completes. */
static void leave_requests(void)
{
	static int out = 1, in;

	MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &left[0]);
	MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &left[1]);
}

int main(int argc, char **argv)
{
	int provided, rounds = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t t;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	pthread_create(&t, NULL, other, NULL);
	for (int i = 0; i < rounds; i++) {
		leave_requests();
		tell(BEGIN);
		own_calls();
		tell(END);
		MPI_Waitall(2, left, MPI_STATUSES_IGNORE); /* if it was not held */
	}
	ends = true;
	tell(DONE);
	pthread_join(t, NULL);
	MPI_Finalize();
	printf("%ld us, %ld calls\n", longest / 1000, calls);
	return 0;
}
