/* SPDX-License-Identifier: BSD-3-Clause
 * stacks - MPI calls from stacks that are not the program's first one: coroutines, a signal's own, a thread's smallest;
 * and calls that are left by longjmp
 */
#define _GNU_SOURCE
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { COROUTINES = 3, ROUNDS = 40, SIZE = 32768 };

static int total;

static void add(void)
{
	int one = 1, sum = 0;

	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	total += sum;
}

static ucontext_t scheduler, coroutines[COROUTINES];

static void coroutine(int number)
{
	for (int i = 0; i < ROUNDS; i++) {
		add();
		swapcontext(&coroutines[number], &scheduler);
	}
}

static void in_coroutines(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = malloc(SIZE);
		coroutines[i].uc_stack.ss_size = SIZE;
		coroutines[i].uc_link = &scheduler;
		makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
	}
	for (int i = 0; i < ROUNDS; i++)
		for (int n = 0; n < COROUTINES; n++)
			swapcontext(&scheduler, &coroutines[n]);
}

static void handler(int number)
{
	if (number == SIGUSR1)
		add();
}

static void on_signal_stack(void)
{
	stack_t stack = {.ss_sp = malloc(SIZE), .ss_size = SIZE};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < ROUNDS; i++)
		raise(SIGUSR1);
}

static void *thread(void *argument)
{
	for (int i = 0; i < ROUNDS; i++)
		add();
	return argument;
}

static void in_small_thread(void)
{
	pthread_attr_t attributes;
	pthread_t id;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 2 * (size_t)PTHREAD_STACK_MIN);
	if (!pthread_create(&id, &attributes, thread, NULL))
		pthread_join(id, NULL);
}

static jmp_buf back;

static void jump(MPI_Comm *comm, int *code, ...)
{
	longjmp(back, comm && code ? 1 : 2);
}

static void over_error_handler(void)
{
	MPI_Errhandler errhandler;
	int x = 0;

	MPI_Comm_create_errhandler(jump, &errhandler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
	for (volatile int i = 0; i < ROUNDS; i++) {
		if (!setjmp(back))
			MPI_Send(&x, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
		else
			total++;
		add();
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&errhandler);
}

int main(int argc, char **argv)
{
	int provided;

	if (argc != 2)
		return 1;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	if (!strcmp(argv[1], "coroutines"))
		in_coroutines();
	if (!strcmp(argv[1], "signal"))
		on_signal_stack();
	if (!strcmp(argv[1], "thread"))
		in_small_thread();
	if (!strcmp(argv[1], "longjmp"))
		over_error_handler();
	MPI_Finalize();
	printf("%s: total %d\n", argv[1], total);
	return 0;
}
