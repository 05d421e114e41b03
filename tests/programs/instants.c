/* SPDX-License-Identifier: BSD-3-Clause
 * instants - functions that tests/programs/stepper takes through one instruction after the other: instants WHAT TIMES
 *
 * A signal's handler calls MPI. Breakpoints say where the driver begins, where it ends, and where the handler does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEGIN = 0x5000, END, HANDLED };

static volatile long handled, wrong;
static void handler(int number);

/* rax says which, rbx is the handler. */
static inline void tell(long what)
{
	__asm__ volatile("int3" : : "a"(what), "b"(handler) : "memory");
}

static void handler(int number)
{
	int rank = -1, size = -1, flag = 0;

	(void)number;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Initialized(&flag);
	wrong += rank < 0 || size < 1 || !flag;
	handled++;
	tell(HANDLED);
}

static void *nothing(void *p)
{
	return p;
}

static void *library;

static void do_malloc(void)
{
	void *volatile p = malloc(100000), *volatile q = malloc(40);
	free(p);
	free(q);
}

static void do_close(void)
{
	if (library)
		dlclose(library);
	library = NULL;
}

static void do_both(void)
{
	library = dlopen("libnss_files.so.2", RTLD_NOW | RTLD_LOCAL);
	do_close();
	library = dlopen("libanl.so.1", RTLD_NOW | RTLD_LOCAL);
	do_close();
}

static void do_thread(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, nothing, NULL))
		pthread_join(t, NULL);
}

static void do_print(void)
{
	static FILE *out;

	if (!out)
		out = fopen("/dev/null", "w");
	fprintf(out, "%d %s %f\n", 42, "text", 1.5);
	fflush(out);
}

static void do_query(void)
{
	int n;

	MPI_Comm_size(MPI_COMM_SELF, &n);
	MPI_Comm_rank(MPI_COMM_SELF, &n);
}

static void do_message(void)
{
	static int tag;
	int out = 1, in = 0;
	MPI_Request r[2];

	tag = tag * 5 % 97 + 1; /* values that are new, too */
	MPI_Irecv(&in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &r[0]);
	MPI_Isend(&out, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static const struct {
	const char *name;
	void (*f)(void);
} functions[] = {{"malloc", do_malloc}, {"dlopen", do_both}, {"pthread_create", do_thread},
                 {"printf", do_print},  {"query", do_query}, {"message", do_message}};

int main(int argc, char **argv)
{
	struct sigaction a = {.sa_handler = handler};
	int times = argc > 2 ? atoi(argv[2]) : 1;

	sigaction(SIGUSR1, &a, NULL);
	MPI_Init(&argc, &argv);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		for (int n = 0; argc > 1 && !strcmp(argv[1], functions[i].name) && n < times; n++) {
			tell(BEGIN);
			functions[i].f();
			tell(END);
		}
	MPI_Finalize();
	printf("%ld wrong\n", wrong);
	return wrong != 0;
}
