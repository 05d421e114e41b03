/* SPDX-License-Identifier: BSD-3-Clause
 * stepper - takes a program through its instructions, and raises a signal at them: stepper EVERY[+] FIRST PROGRAM...
 *
 * Between two breakpoints of the program (instants.c) it executes one instruction after the other. At each EVERYth one,
 * FIRST of them later, it gets SIGUSR1, whose handler runs as fast as any. With + it counts from the breakpoint, and
 * one more for each signal that there was: a handler that jumps out leaves each instant in turn. How many handlers came
 * to their end is said at the end, on stderr; the exit status is the program's, 99 if it did not go on for 20 seconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEGIN = 0x5000, END, HANDLED, PATIENCE = 20 };

static pid_t child;
static unsigned long long place;

static volatile sig_atomic_t stopped; /* since the last second began */

/* Each second: a call for each stop would cost as much as the stop. */
static void look_at_watch(int number)
{
	static int idle;

	(void)number;
	idle = stopped ? 0 : idle + 1;
	stopped = false;
	if (idle == PATIENCE)
		kill(child, SIGKILL);
}

/* The next stop; false: the program ended, and *status says how. */
static bool wait_for_stop(int *status)
{
	while (waitpid(child, status, __WALL) < 0)
		if (errno != EINTR)
			exit(98);
	stopped = true;
	return WIFSTOPPED(*status);
}

enum state { FREE, STEPPING, IN_HANDLER, RETURNING, TRAPPED, PASSING };

static struct {
	enum state state;
	bool pending;                       /* the signal is on its way */
	unsigned long long handler, pc, sp; /* where it interrupted */
	unsigned long long saved;           /* the frame of the handler */
	long every, count, instants;
	bool in_turn;
} it;

/* What the kernel saved for the handler, whose first instruction is next: a ucontext above the return address. */
enum { SAVED = 8 + 40, SP = 15, PC = 16, FLAGS = 17, TRAP = 1 << 8 };

static unsigned long long peek(unsigned long long at)
{
	return (unsigned long long)ptrace(PTRACE_PEEKDATA, child, (void *)at, NULL);
}

static void enter_handler(unsigned long long sp)
{
	it.state = IN_HANDLER;
	it.pending = false;
	it.saved = sp + SAVED;
	it.sp = peek(it.saved + 8 * SP);
	it.pc = peek(it.saved + 8 * PC);
}

/* The handler is done. It returns at full speed if the flags that it returns to have a trap behind the next
 * instruction; not if that is a system call, which may make a process with these flags, or one that stores them. */
static void leave_handler(void)
{
	enum { SYSCALL = 0x050f, PUSHF = 0x9c };
	unsigned long long next = peek(it.pc), flags = peek(it.saved + 8 * FLAGS);

	it.instants++;
	it.state = (next & 0xffff) == SYSCALL || (next & 0xff) == PUSHF ? RETURNING : TRAPPED;
	if (it.state == TRAPPED)
		ptrace(PTRACE_POKEDATA, child, (void *)(it.saved + 8 * FLAGS), (void *)(flags | TRAP));
}

/* The trap is over, and counts as a step. */
static void end_trap(const struct user_regs_struct *r)
{
	ptrace(PTRACE_POKEUSER, child, (void *)offsetof(struct user_regs_struct, eflags), (void *)(r->eflags & ~TRAP));
	it.state = STEPPING;
}

static struct {
	unsigned long long begin, end;
} vdso;

static void find_vdso(void)
{
	char path[64], line[512];
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)child);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, "[vdso]"))
			sscanf(line, "%llx-%llx", &vdso.begin, &vdso.end);
	if (maps)
		fclose(maps);
}

static void set_debug_register(int n, unsigned long long value)
{
	ptrace(PTRACE_POKEUSER, child, (void *)(offsetof(struct user, u_debugreg) + 8 * n), (void *)value);
}

/* It was called, and runs to its return address: the kernel's clock is read again and again until it has not changed
 * meanwhile, which never is if there is a signal at each instruction. */
static void pass(unsigned long long sp)
{
	set_debug_register(0, peek(sp));
	set_debug_register(7, 1);
	it.state = PASSING;
}

/* The program stopped at a breakpoint, or after an instruction. Returns the signal that it gets. */
static int take_stop(const struct user_regs_struct *r)
{
	place = r->rip;
	if (it.state == TRAPPED)
		end_trap(r);
	if (it.state == PASSING) {
		set_debug_register(7, 0);
		it.state = STEPPING;
	}
	if (it.state == FREE && r->rax == BEGIN) {
		it.state = STEPPING;
		it.handler = r->rbx;
		find_vdso();
		it.count = it.in_turn ? 0 : it.count;
	} else if (it.state == STEPPING && r->rip == it.handler) {
		enter_handler(r->rsp);
	} else if (it.state == IN_HANDLER && r->rax == HANDLED) {
		leave_handler();
	} else if (it.state == RETURNING && r->rip == it.pc && r->rsp == it.sp) {
		it.state = STEPPING;
	} else if (it.state != FREE && r->rax == END && r->rbx == it.handler) {
		it.instants += it.state == IN_HANDLER; /* which jumped out */
		it.state = FREE;
	} else if (it.state == STEPPING && !it.pending && r->rip >= vdso.begin && r->rip < vdso.end) {
		pass(r->rsp);
	} else if (it.state == STEPPING && !it.pending && ++it.count % it.every == 0) {
		it.pending = true;
		it.every += it.in_turn;
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
	it.in_turn = strchr(argv[1], '+');
	it.count = -atol(argv[2]);
	if (!(child = fork())) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[3], argv + 3);
		_exit(97);
	}
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = look_at_watch, .sa_flags = SA_RESTART}, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){{1, 0}, {1, 0}}, NULL);
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
