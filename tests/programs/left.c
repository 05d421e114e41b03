/* SPDX-License-Identifier: BSD-3-Clause
 * left - MPI calls that do not return: error handlers and operations that call longjmp
 *
 *     left             in one thread, at all depths
 *     left threads     in several, which end, or are cancelled, in the middle of a call, too
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#define APART __attribute__((noinline, noclone, noipa))

static _Thread_local jmp_buf back, inner;
static _Thread_local enum { SAY, JUMP, JUMP_INNER, END, CANCELLED } what;

static void on_error(MPI_Comm *comm, int *code, ...)
{
	char text[MPI_MAX_ERROR_STRING];
	int n;
	if (what == SAY) { /* an MPI call inside of one that returns */
		MPI_Error_string(*code, text, &n);
		return;
	}
	if (what == JUMP)
		longjmp(back, *comm == MPI_COMM_NULL ? 2 : 1);
	if (what == JUMP_INNER)
		longjmp(inner, 1);
	if (what == CANCELLED) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	pthread_exit(NULL);
}

static APART void barrier(int depth)
{
	volatile char room[128];
	room[0] = (char)depth;
	if (depth > 0)
		barrier(depth - 1);
	else
		MPI_Barrier(MPI_COMM_SELF);
	room[1] = room[0];
}

static APART void fail(int depth)
{
	volatile char room[128];
	room[0] = (char)depth;
	if (depth > 0)
		fail(depth - 1);
	else
		MPI_Send(NULL, 1, MPI_INT, 1000000, 7, MPI_COMM_SELF);
	room[1] = room[0];
}

/* A call is left from some depth; the next one comes from another. */
static APART void at_depths(void)
{
	for (volatile int from = 0; from < 4; from++)
		for (volatile int to = 0; to < 8; to += 2) {
			what = JUMP;
			if (setjmp(back) == 0)
				fail(from);
			barrier(to);
			what = SAY;
			fail(to);
		}
}

static MPI_Op op;
static enum { CALLS, JUMPS, FAILS, FAILS_ALL } in_op;

static void operate(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int size;
	(void)in, (void)inout, (void)n;
	MPI_Type_size(*type, &size);
	if (in_op == JUMPS)
		longjmp(back, 1);
	what = in_op == FAILS_ALL ? JUMP : JUMP_INNER;
	if (in_op == FAILS_ALL || (in_op == FAILS && setjmp(inner) == 0))
		fail(0);
	MPI_Type_size(*type, &size);
}

/* Calls inside of a call, which returns, or is left; or only the inner one is. */
static APART void inside(void)
{
	int x = 1, y = 2;
	for (volatile int i = 0; i < 12; i++) {
		in_op = i % 4;
		if (setjmp(back) == 0)
			MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
		barrier(i % 3);
	}
}

/* Arrays that are gone when it is found. */
static APART void arrays(void)
{
	for (volatile int i = 0; i < 3; i++) {
		MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
		int n[2] = {1, -1}, at[2] = {0, 1}, value[2] = {0, 0};
		what = JUMP;
		if (setjmp(back) == 0)
			MPI_Waitall(-1, requests, MPI_STATUSES_IGNORE);
		if (setjmp(back) == 0)
			MPI_Alltoallv(MPI_IN_PLACE, n, at, MPI_INT, value, n, at, MPI_DATATYPE_NULL, MPI_COMM_SELF);
		if (setjmp(back) == 0)
			MPI_Recv(value, 1, MPI_INT, 5000, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	}
}

static void all(void)
{
	at_depths();
	inside();
	arrays();
}

static void *in_thread(void *argument)
{
	at_depths();
	inside();
	if (argument) { /* the last call does not return, and there is no next one */
		what = *(int *)argument;
		fail(2);
	}
	return NULL;
}

static void in_threads(void)
{
	int end = END, cancelled = CANCELLED;
	pthread_t threads[4];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, in_thread, i % 2 == 0 ? NULL : i == 1 ? &end : &cancelled);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
}

int main(int argc, char **argv)
{
	int several = argc > 1 && !strcmp(argv[1], "threads"), provided;
	MPI_Errhandler handler;
	MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
	MPI_Comm_create_errhandler(on_error, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Op_create(operate, 1, &op);
	all();
	if (several)
		in_threads();
	what = JUMP;
	if (setjmp(back) == 0) /* found in MPI_Finalize */
		fail(1);
	MPI_Finalize();
	return 0;
}
