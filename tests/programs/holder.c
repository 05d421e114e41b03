/* SPDX-License-Identifier: BSD-3-Clause
 * holder - stops a thread inside of a library, and lets another one go on: holder EVERY FILE PROGRAM...
 *
 * The program is tests/programs/held. Its first thread goes from BEGIN on one instruction after the other. At one of
 * those in FILE (a part of its name), in each round EVERY further, it stays where it is until the second thread has
 * done its calls; in the first round they are counted. The exit status is the program's, 99 if nothing happened for 20
 * seconds. How often the thread was held is said on stderr.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEGIN = 0x5000, END, READY, DONE, PATIENCE = 20 };

static pid_t first, second;
static unsigned long long low, high;
static long every, passed, most, held;
static bool is_ready, is_held;

static void give_up(int number)
{
	(void)number;
	kill(first, SIGKILL);
}

static pid_t next_stop(int *status)
{
	pid_t pid;

	alarm(PATIENCE);
	while ((pid = waitpid(-1, status, __WALL)) < 0)
		if (errno != EINTR)
			exit(98);
	alarm(0);
	return pid;
}

/* Where the file's instructions are. */
static void find_file(const char *name)
{
	char path[64], line[4096];
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)first);
	if (!(maps = fopen(path, "r")))
		return;
	while (fgets(line, sizeof line, maps)) {
		unsigned long long from, to;
		char rights[5];

		if (sscanf(line, "%llx-%llx %4s", &from, &to, rights) == 3 && rights[2] == 'x' && strstr(line, name)) {
			low = low ? low : from;
			high = to;
		}
	}
	fclose(maps);
}

static void go(pid_t pid, bool step, int number)
{
	ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL, (void *)(long)number);
}

/* The second thread stopped at READY or DONE. */
static void take_second(void)
{
	is_ready = true;
	if (is_held) {
		is_held = false;
		go(first, false, 0);
	}
}

/* The first one stopped at a breakpoint, or after an instruction. */
static void take_first(const struct user_regs_struct *r, const char *file, bool *steps)
{
	if (r->rax == BEGIN && !*steps) {
		*steps = true;
		passed = 0;
		if (!low)
			find_file(file);
	} else if (r->rax == END && *steps) {
		*steps = false;
		most = most ? most : passed;
	} else if (*steps && r->rip - low < high - low && passed++ == held * every % (most ? most : 1) && most &&
	           is_ready) {
		is_held = true;
		is_ready = *steps = false;
		held++;
		go(second, false, 0); /* from READY to DONE */
		return;
	}
	go(first, *steps, 0);
}

int main(int argc, char **argv)
{
	int status;
	bool steps = false;
	struct user_regs_struct regs;

	every = argc > 3 ? atol(argv[1]) : 0;
	if (every < 1)
		return 2;
	if (!(first = fork())) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[3], argv + 3);
		_exit(97);
	}
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = give_up}, NULL);
	waitpid(first, &status, 0);
	ptrace(PTRACE_SETOPTIONS, first, NULL, (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE));
	go(first, false, 0);
	for (;;) {
		pid_t pid = next_stop(&status);

		if (pid == first && !WIFSTOPPED(status))
			break;
		if (!WIFSTOPPED(status))
			continue;
		int number = WSTOPSIG(status);
		ptrace(PTRACE_GETREGS, pid, NULL, &regs);
		if (number != SIGTRAP) {
			go(pid, pid == first && steps, number == SIGSTOP ? 0 : number);
		} else if (pid != first && regs.rax == READY) {
			second = pid;
			take_second();
		} else if (pid != first) { /* at DONE it comes to READY, where it waits */
			go(pid, false, 0);
		} else if (regs.rax == DONE && !steps) {
			go(second, false, 0);
			go(first, false, 0);
		} else {
			take_first(&regs, argv[2], &steps);
		}
	}
	fprintf(stderr, "held %ld times\n", held);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
