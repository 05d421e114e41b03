/* SPDX-License-Identifier: BSD-3-Clause
 * extremes - MPI at places, on threads and stacks, and under conditions that few programs have: extremes WHAT
 *
 * What is said does not depend on time, and each way ends by itself.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "extremes.h"

extern char **environ;
static const char *self;

/* ---- what is called ---- */

void init(void)
{
	MPI_Init(NULL, NULL);
}

void init_threads(void)
{
	int provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	printf("multiple %d\n", provided == MPI_THREAD_MULTIPLE);
}

int ask(void)
{
	int rank = -1, size = -1, flag = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Initialized(&flag);
	return rank == 0 && size == 1 && flag;
}

int talk(void)
{
	int out = 7, in = 0, sum = 0;
	MPI_Request r[2];

	MPI_Irecv(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[0]);
	MPI_Isend(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	return sum == 7;
}

void end(void)
{
	MPI_Finalize();
}

void all(void)
{
	init();
	printf("%d %d\n", ask(), talk());
	end();
}

/* ---- memory ---- */

static volatile int handled;
static char *lazy;
static size_t page;

static void make_readable(int number, siginfo_t *info, void *context)
{
	char *at = (char *)((uintptr_t)info->si_addr & -page);

	(void)number;
	(void)context;
	if (at < lazy || at >= lazy + 8 * page)
		_exit(99);
	mprotect(at, page, PROT_READ | PROT_WRITE);
	handled = 1;
}

/* Buffers and arrays come to be at the first touch, as in a system of shared memory by page faults. */
static void lazy_pages(void)
{
	struct sigaction a = {.sa_sigaction = make_readable, .sa_flags = SA_SIGINFO};
	int in = 0;

	page = (size_t)sysconf(_SC_PAGESIZE);
	lazy = mmap(NULL, 8 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	init();
	sigaction(SIGSEGV, &a, NULL);
	for (int i = 0; i < 8; i += 4) {
		int *counts = (int *)(lazy + i * page), *places = (int *)(lazy + (i + 1) * page),
		    *to = (int *)(lazy + (i + 2) * page);

		MPI_Gatherv(&in, 0, MPI_INT, to, counts, places, MPI_INT, 0, MPI_COMM_SELF);
		printf("%d %d\n", counts[0], places[0]);
	}
	end();
}

/* What ends where its page ends. */
static void page_ends(void)
{
	char *at, value[8];
	int flag = 0, *numbers;
	MPI_Info info;
	MPI_Datatype type;

	page = (size_t)sysconf(_SC_PAGESIZE);
	at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(at + page, page, PROT_NONE);
	at += page;
	init();
	MPI_Info_create(&info);
	memcpy(at - 4, "key", 4);
	MPI_Info_set(info, at - 4, at - 2);
	MPI_Info_get(info, at - 4, 7, value, &flag);
	MPI_Comm_set_name(MPI_COMM_SELF, at - 4);
	numbers = (int *)(void *)at - 2;
	numbers[0] = 1;
	numbers[1] = 2;
	MPI_Type_indexed(2, numbers, numbers, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Type_size(type, &flag);
	printf("%s %d\n", value, flag);
	MPI_Type_free(&type);
	MPI_Info_free(&info);
	end();
}

/* ---- the beginning and the end ---- */

static void finalized_at_exit(void)
{
	init();
	printf("%d\n", talk());
	atexit(end);
}

static bool finalizes_last;
static __attribute__((destructor)) void last(void)
{
	if (finalizes_last)
		end();
}

static void finalized_by_destructor(void)
{
	init();
	printf("%d\n", talk());
	finalizes_last = true;
}

static void never_finalized(void)
{
	init();
	printf("%d\n", talk());
	fflush(stdout);
	_exit(3);
}

static void killed(void)
{
	init();
	printf("%d\n", talk());
	fflush(stdout);
	raise(SIGKILL);
}

/* main has replaced it by what MPI needs. */
static void no_environment(void)
{
	static char *few[] = {(char *)"PATH=/usr/bin:/bin", (char *)"OMPI_ALLOW_RUN_AS_ROOT=1",
	                      (char *)"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", (char *)"OMPI_MCA_ess_singleton_isolated=1",
	                      NULL};

	environ = few;
	all();
}

static void again(void)
{
	all();
	fflush(stdout);
	execl(self, self, "all", (char *)NULL);
}

/* The tracer saw a call; the child is the one that initialises MPI. */
static void child_initializes(void)
{
	int flag, status = -1;

	MPI_Initialized(&flag);
	fflush(stdout);
	if (!fork()) {
		all();
		exit(4);
	}
	wait(&status);
	printf("%d\n", WEXITSTATUS(status));
	all();
}

static ucontext_t here, there;

static void on_small_stack(void)
{
	enum { SIZE = 1 << 20 };
	char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = SIZE;
	there.uc_link = &here;
	makecontext(&there, init, 0);
	swapcontext(&here, &there);
	munmap(stack, SIZE);
	printf("%d %d\n", ask(), talk());
	end();
}

static const struct way ways[] = {{"all", all},
                                  {"lazy-pages", lazy_pages},
                                  {"page-ends", page_ends},
                                  {"at-exit", finalized_at_exit},
                                  {"destructor", finalized_by_destructor},
                                  {"never-finalized", never_finalized},
                                  {"killed", killed},
                                  {"no-environment", no_environment},
                                  {"again", again},
                                  {"child-initializes", child_initializes},
                                  {"coroutine", on_small_stack},
                                  {0}};

int main(int argc, char **argv)
{
	const struct way *const all_ways[] = {ways, thread_ways, handler_ways};

	self = argv[0];
	for (size_t i = 0; argc > 1 && i < sizeof all_ways / sizeof *all_ways; i++)
		for (const struct way *w = all_ways[i]; w->name; w++)
			if (!strcmp(argv[1], w->name)) {
				w->f();
				return 0;
			}
	return 2;
}
