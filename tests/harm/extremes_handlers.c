/* SPDX-License-Identifier: BSD-3-Clause
 * extremes_handlers - handlers of signals
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "extremes.h"

extern char **environ;

static volatile int handled;
static sigjmp_buf out;

static void take(int number, void (*handler)(int), int flags)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags | SA_RESTART};

	sigaction(number, &a, NULL);
}

static void every(int us, int which)
{
	struct itimerval t = {{0, us}, {0, us}};

	setitimer(which, &t, NULL);
}

static void asks_what_may_be_asked(int number)
{
	int flag, version, sub;

	(void)number;
	MPI_Initialized(&flag);
	MPI_Finalized(&flag);
	MPI_Get_version(&version, &sub);
	handled = 1;
}

/* From before MPI_Init to after MPI_Finalize. */
static void interrupted_all_along(void)
{
	take(SIGALRM, asks_what_may_be_asked, 0);
	every(500, ITIMER_REAL);
	all();
	while (!handled)
		;
	every(0, ITIMER_REAL);
	asks_what_may_be_asked(0);
	printf("%d\n", handled);
}

static void init_in_handler(int number)
{
	(void)number;
	init();
}

static void from_handler(void)
{
	take(SIGUSR1, init_in_handler, 0);
	raise(SIGUSR1);
	printf("%d %d\n", ask(), talk());
	end();
}

static int depth;

static void nested(int number)
{
	if (++depth < 40)
		raise(number);
	handled += ask();
}

static void nested_handlers(void)
{
	take(SIGUSR1, nested, SA_NODEFER);
	init();
	raise(SIGUSR1);
	printf("%d\n", handled);
	end();
}

static void asks(int number)
{
	(void)number;
	handled += ask();
}

/* As Go's and Rust's runtimes have them. */
static void small_stack(void)
{
	static char room[8192];
	stack_t s = {.ss_sp = room, .ss_size = sizeof room};

	sigaltstack(&s, NULL);
	take(SIGUSR1, asks, SA_ONSTACK);
	init();
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	printf("%d\n", handled);
	end();
}

static void spawns(int number)
{
	pid_t pid;
	int status = -1;
	char *const words[] = {(char *)"true", NULL};

	(void)number;
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) == 0 && waitpid(pid, &status, 0) == pid)
		handled += status == 0;
}

static void spawning_handler(void)
{
	int right = 1;

	take(SIGALRM, spawns, 0);
	init();
	every(2000, ITIMER_REAL);
	while (handled < 20)
		right &= ask();
	every(0, ITIMER_REAL);
	printf("%d\n", right);
	end();
}

static void jumps(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

/* A receive that nobody sends to, left after a while. */
static void left_receive(void)
{
	static volatile int left;
	int in;

	take(SIGALRM, jumps, 0);
	init();
	for (int i = 0; i < 3; i++) {
		if (!sigsetjmp(out, 1)) {
			every(20000, ITIMER_REAL);
			MPI_Recv(&in, 1, MPI_INT, 0, 100 + i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		}
		every(0, ITIMER_REAL);
		left++;
		printf("left %d, %d\n", left, ask());
	}
	fflush(stdout);
	_exit(ask() ? 0 : 1);
}

static void stopped(void)
{
	int right = 1;
	pid_t parent = getpid(), pid;

	init();
	if (!(pid = fork())) {
		for (int i = 0; i < 20; i++) {
			kill(parent, SIGSTOP);
			usleep(2000);
			kill(parent, SIGCONT);
			usleep(2000);
		}
		_exit(0);
	}
	while (waitpid(pid, NULL, WNOHANG) == 0)
		right &= ask() && talk();
	printf("%d\n", right);
	end();
}

const struct way handler_ways[] = {{"interrupted", interrupted_all_along},
                                   {"from-handler", from_handler},
                                   {"nested-handlers", nested_handlers},
                                   {"small-stack", small_stack},
                                   {"spawning-handler", spawning_handler},
                                   {"left-receive", left_receive},
                                   {"stopped", stopped},
                                   {0}};
