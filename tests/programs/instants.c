/* SPDX-License-Identifier: BSD-3-Clause
 * instants - functions that tests/programs/stepper takes through one instruction after the other: instants WHAT TIMES
 * [HOW]
 *
 * A signal's handler calls MPI. HOW: in a child that it makes, in one of three ways; or it makes one that goes on with
 * what was interrupted ("stay"); or it jumps out. Breakpoints say where the driver begins, where it ends, and where the
 * handler does. At the end it says how many calls of this process there were in all.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEGIN = 0x5000, END, HANDLED };

static volatile long wrong, calls, jumped;
static volatile sig_atomic_t is_child;
static void handler(int number);

/* rax says which, rbx is the handler. In a child, of which the driver knows nothing, the breakpoint is a signal that is
 * ignored: no test before it would do, as the child may be made between the test and the breakpoint. */
static inline void tell(long what)
{
	__asm__ volatile("int3" : : "a"(what), "b"(handler) : "memory");
}

static void go_on(int number)
{
	(void)number;
}

/* The handler may come in between. */
static void count_calls(int n)
{
	__atomic_fetch_add(&calls, n, __ATOMIC_RELAXED);
}

/* MPI's answers are right. */
static int ask(void)
{
	int rank = -1, size = -1, flag = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Initialized(&flag);
	return rank == 0 && size == 1 && flag;
}

static pid_t by_system_call(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static bool jumps, stays;

/* The child asks MPI as well, and ends. */
static void make_child(pid_t (*make)(void))
{
	int status = 0;
	pid_t pid = make();

	if (!pid && stays) {
		is_child = 1;
		return;
	}
	if (!pid)
		_exit(ask() ? 0 : 9);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		;
	wrong += pid < 0 || status != 0;
}

static pid_t (*makes_children)(void);
static sigjmp_buf out;

static void handler(int number)
{
	(void)number;
	if (makes_children)
		make_child(makes_children);
	else
		wrong += !ask();
	count_calls(makes_children ? 0 : 3);
	if (jumps) {
		jumped++;
		siglongjmp(out, 1);
	}
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

	count_calls(1);
	MPI_Comm_size(MPI_COMM_SELF, &n);
	count_calls(1);
	MPI_Comm_rank(MPI_COMM_SELF, &n);
}

/* From another depth each time, so that the call path is new. */
static __attribute__((noinline)) void go_down(int n)
{
	volatile char room[16];
	int size;

	room[0] = (char)n;
	if (n > 0)
		go_down(n - 1);
	else
		MPI_Comm_size(MPI_COMM_SELF, &size);
	room[1] = room[0];
}

static void do_path(void)
{
	static int depth;

	count_calls(1);
	go_down(depth++ % 100);
}

static void do_fork(void)
{
	make_child(fork);
}

static void do_raw_fork(void)
{
	make_child(_Fork);
}

static void do_clone(void)
{
	make_child(by_system_call);
}

/* Its child may call nothing but _exit. */
static void do_vfork(void)
{
	int status = 0;
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	wrong += pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
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
	count_calls(3);
}

static void do_collective(void)
{
	int one = 1, all = 0;
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
	MPI_Comm_free(&comm);
	count_calls(3);
}

static const struct {
	const char *name;
	void (*f)(void);
} functions[] = {{"malloc", do_malloc},   {"dlopen", do_both},           {"pthread_create", do_thread},
                 {"printf", do_print},    {"query", do_query},           {"path", do_path},
                 {"message", do_message}, {"collective", do_collective}, {"fork", do_fork},
                 {"_Fork", do_raw_fork},  {"clone", do_clone},           {"vfork", do_vfork}};

static void set_how(const char *how)
{
	jumps = !strcmp(how, "jump");
	stays = !strcmp(how, "stay");
	makes_children = !strcmp(how, "fork") || stays ? fork
	                 : !strcmp(how, "_Fork")       ? _Fork
	                 : !strcmp(how, "clone")       ? by_system_call
	                                               : NULL;
}

int main(int argc, char **argv)
{
	struct sigaction a = {.sa_handler = handler};
	int times = argc > 2 ? atoi(argv[2]) : 1;

	set_how(argc > 3 ? argv[3] : "");
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGTRAP, &(struct sigaction){.sa_handler = go_on}, NULL);
	MPI_Init(&argc, &argv);
	for (volatile size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		for (volatile int n = 0; argc > 1 && !strcmp(argv[1], functions[i].name) && n < times; n++) {
			if (!sigsetjmp(out, 1)) {
				tell(BEGIN);
				functions[i].f();
			}
			tell(END);
			if (is_child)
				_exit(ask() ? 0 : 9);
		}
	MPI_Finalize();
	printf("%ld wrong, %ld calls, %ld left\n", wrong, calls + 2, jumped);
	return wrong != 0;
}
