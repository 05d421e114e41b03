/* SPDX-License-Identifier: BSD-3-Clause
 * many - much of everything: live requests, objects, strings, call paths from recursion, signal-like jumps and other
 * stacks
 */
#include <alloca.h>
#include <errno.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { LIVE = 400, OBJECTS = 200, DEEP = 300, STACK = 256 * 1024 };

static int rank, size, left, right, sum;

/* Many requests at once, completed out of order. */
static void requests(void)
{
	static int in[LIVE], out[LIVE], done[LIVE];
	static MPI_Request q[2 * LIVE];
	static MPI_Status s[2 * LIVE];
	int n;

	for (int i = 0; i < LIVE; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &q[i]);
	for (int i = LIVE - 1; i >= 0; i--)
		MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &q[LIVE + i]);
	for (int i = 0; i < LIVE; i += 7)
		MPI_Wait(&q[i], &s[i]);
	MPI_Waitsome(LIVE, q, &n, done, s);
	/* the free numbers are taken again */
	for (int i = 0; i < LIVE; i++)
		if (q[i] == MPI_REQUEST_NULL)
			MPI_Irecv(&in[i], 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &q[i]);
	MPI_Waitall(2 * LIVE, q, s);
}

static void objects(void)
{
	static MPI_Comm c[OBJECTS];
	static MPI_Datatype t[OBJECTS], u;
	static char text[4000];
	MPI_Info info;
	int flag, lengths[OBJECTS], displs[OBJECTS];

	for (int i = 0; i < OBJECTS; i++) {
		MPI_Type_vector(i + 1, 1, 2, MPI_INT, &t[i]);
		lengths[i] = i % 5;
		displs[i] = 10 * i;
	}
	for (int i = 0; i < OBJECTS; i += 3)
		MPI_Type_free(&t[i]);
	for (int i = 0; i < OBJECTS; i += 3)
		MPI_Type_dup(MPI_DOUBLE, &t[i]);
	for (int i = OBJECTS - 1; i >= 0; i--)
		MPI_Type_free(&t[i]);
	MPI_Type_indexed(OBJECTS, lengths, displs, MPI_DOUBLE, &u);
	MPI_Type_free(&u);
	for (int i = 0; i < OBJECTS / 4; i++)
		MPI_Comm_split(MPI_COMM_WORLD, i % 3 ? rank % 2 : MPI_UNDEFINED, i, &c[i]);
	for (int i = 0; i < OBJECTS / 4; i++) {
		if (c[i] != MPI_COMM_NULL) {
			MPI_Barrier(c[i]);
			MPI_Comm_free(&c[i]);
		}
	}
	MPI_Info_create(&info);
	for (int i = 1; i < 50; i++) {
		memset(text, 'a' + i % 26, 5 * i);
		text[5 * i] = 0;
		MPI_Info_set(info, "a key", text);
		MPI_Info_get(info, "a key", sizeof(text) - 1, text, &flag);
	}
	MPI_Info_free(&info);
	if (MPI_Comm_set_name(MPI_COMM_WORLD, ""))
		abort();
}

/* The same call from many depths, with stack frames of many sizes. */
static int __attribute__((noinline)) down(int depth)
{
	volatile char *room = alloca(16 * (1 + depth % 5));
	int value = depth;

	room[0] = 1;
	if (depth % 10 == 0)
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return depth ? down(depth - 1) + room[0] : 0;
}

static jmp_buf back;
static int tries;

static void __attribute__((noinline)) jump(int depth)
{
	if (depth > 0) {
		jump(depth - 1);
		sum++;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (sum >= 0)
		longjmp(back, 1);
}

static ucontext_t main_context, other_context;

static void elsewhere(void)
{
	for (int i = 0; i < 3; i++) {
		MPI_Bcast(&sum, 1, MPI_INT, i % size, MPI_COMM_WORLD);
		swapcontext(&other_context, &main_context);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static void stacks(void)
{
	char *stack = malloc(STACK);

	for (tries = 0; tries < 8; tries++)
		if (setjmp(back) == 0)
			jump(tries);
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = STACK;
	other_context.uc_link = &main_context;
	makecontext(&other_context, elsewhere, 0);
	for (int i = 0; i < 4; i++) {
		swapcontext(&main_context, &other_context);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	free(stack);
}

/* A request of the program's own: the library calls back, the callbacks call the library. */
static int query(void *state, MPI_Status *s)
{
	(void)state;
	MPI_Status_set_elements(s, MPI_INT, 3);
	MPI_Status_set_elements_x(s, MPI_INT, 2);
	MPI_Status_set_cancelled(s, 0);
	s->MPI_SOURCE = MPI_UNDEFINED;
	s->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
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

static void generalized(void)
{
	MPI_Request q;
	MPI_Status s;
	int flag;

	MPI_Grequest_start(query, release, cancel, NULL, &q);
	MPI_Test(&q, &flag, &s);
	MPI_Grequest_complete(q);
	MPI_Wait(&q, &s);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	requests();
	objects();
	errno = 77;
	for (int i = 0; i < 3; i++)
		down(DEEP);
	if (errno != 77)
		abort();
	stacks();
	generalized();
	/* tags and sizes that never come back */
	for (int i = 0; i < 500; i++)
		MPI_Sendrecv(&sum, 1, MPI_INT, right, i * i % 30011, &sum, 1, MPI_INT, left, i * i % 30011,
		             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 0)
		printf("many: done\n");
	MPI_Finalize();
	return 0;
}
