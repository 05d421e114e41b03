/* SPDX-License-Identifier: BSD-3-Clause
 * stepper - takes a program through its instructions, and raises a signal at them: stepper EVERY FIRST PROGRAM...
 *
 * Between two breakpoints of the program (instants.c) it executes one instruction after the other. At each EVERYth one,
 * FIRST of them later, it gets SIGUSR1, whose handler runs as fast as any. How many handlers came to their end is said
 * at the end, on stderr; the exit status is the program's, 99 if it did not go on for 20 seconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEGIN = 0x5000, END, HANDLED, PATIENCE = 20 };

static pid_t child;
static unsigned long long place;

static void give_up(int number)
{
	(void)number;
	kill(child, SIGKILL);
}

/* The next stop; false: the program ended, and *status says how. */
static bool wait_for_stop(int *status)
{
	alarm(PATIENCE);
	while (waitpid(child, status, __WALL) < 0)
		if (errno != EINTR)
			exit(98);
	alarm(0);
	return WIFSTOPPED(*status);
}

enum state { FREE, STEPPING, IN_HANDLER, RETURNING };

static struct {
	enum state state;
	bool pending;                       /* the signal is on its way */
	unsigned long long handler, pc, sp; /* where it interrupted */
	long every, count, instants;
} it;

/* What the kernel saved for the handler, whose first instruction is next: a ucontext above the return address. */
static void enter_handler(unsigned long long sp)
{
	enum { SAVED = 8 + 40, SP = 15, PC = 16 };
	it.state = IN_HANDLER;
	it.pending = false;
	it.sp = (unsigned long long)ptrace(PTRACE_PEEKDATA, child, (void *)(sp + SAVED + 8 * SP), NULL);
	it.pc = (unsigned long long)ptrace(PTRACE_PEEKDATA, child, (void *)(sp + SAVED + 8 * PC), NULL);
}

/* The program stopped at a breakpoint, or after an instruction. Returns the signal that it gets. */
static int take_stop(const struct user_regs_struct *r)
{
	place = r->rip;
	if (it.state == FREE && r->rax == BEGIN) {
		it.state = STEPPING;
		it.handler = r->rbx;
	} else if (it.state == STEPPING && r->rip == it.handler) {
		enter_handler(r->rsp);
	} else if (it.state == IN_HANDLER && r->rax == HANDLED) {
		it.state = RETURNING;
		it.instants++;
	} else if (it.state == RETURNING && r->rip == it.pc && r->rsp == it.sp) {
		it.state = STEPPING;
	} else if (it.state != FREE && r->rax == END && r->rbx == it.handler) {
		it.instants += it.state == IN_HANDLER; /* which jumped out */
		it.state = FREE;
	} else if (it.state == STEPPING && !it.pending && ++it.count % it.every == 0) {
		it.pending = true;
		return SIGUSR1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status, deliver = 0;
	struct user_regs_struct regs;

	it.every = argc > 3 ? atol(argv[1]) : 0;
	if (it.every < 1)
		return 2;
	it.count = -atol(argv[2]);
	if (!(child = fork())) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[3], argv + 3);
		_exit(97);
	}
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = give_up}, NULL);
	wait_for_stop(&status); /* the program begins */
	ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL);
	for (;;) {
		bool steps = it.state == STEPPING || it.state == RETURNING;
		ptrace(steps ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, (void *)(long)deliver);
		if (!wait_for_stop(&status))
			break;
		deliver = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		ptrace(PTRACE_GETREGS, child, NULL, &regs);
		if (!deliver)
			deliver = take_stop(&regs);
	}
	fprintf(stderr, "%ld instants\n", it.instants);
	if (WIFSIGNALED(status))
		fprintf(stderr, "signal %d at %#llx, in state %d\n", WTERMSIG(status), place, (int)it.state);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
