/* SPDX-License-Identifier: BSD-3-Clause
 * witness - a debugger that says where a program is at each of its breakpoints: witness OUT PROGRAM...
 *
 * The paths are those of libdw, which reads the process from outside. For each breakpoint (int3 with LOOK in rax) a
 * line is added to OUT: a word for each frame, innermost first, which is the build ID and the address in that file; "?"
 * where that has no unwind information, so that what follows is a guess; "." where the stack ends. The exit status is
 * the program's.
 */
#define _GNU_SOURCE
#include <elfutils/libdwfl.h>
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

enum { LOOK = 0x5003, FRAMES = 200 };

static FILE *out;

static bool has_rules(Dwfl_Module *m, Dwarf_Addr pc)
{
	Dwarf_Addr bias;
	Dwarf_Frame *f = NULL;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(m, &bias);
	bool found = cfi && dwarf_cfi_addrframe(cfi, pc - bias, &f) == 0;

	free(f);
	return found;
}

struct place {
	Dwfl *dwfl;
	int frames;
};

static int on_frame(Dwfl_Frame *frame, void *place)
{
	struct place *p = place;
	Dwarf_Addr pc, bias, id_at;
	bool activation;
	const unsigned char *id;

	if (!dwfl_frame_pc(frame, &pc, &activation) || p->frames++ == FRAMES)
		return DWARF_CB_ABORT;
	if (pc == 0)
		return DWARF_CB_OK;
	Dwfl_Module *m = dwfl_addrmodule(p->dwfl, pc - !activation);
	int n = m && has_rules(m, pc - !activation) && dwfl_module_getelf(m, &bias)
	                ? dwfl_module_build_id(m, &id, &id_at)
	                : 0;
	for (int i = 0; i < n; i++)
		fprintf(out, "%02x", id[i]);
	if (n > 0)
		fprintf(out, "+%llx ", (unsigned long long)(pc - bias));
	else
		fputs("? ", out);
	return DWARF_CB_OK;
}

static void tell_path(pid_t thread)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
	                                         .find_debuginfo = dwfl_standard_find_debuginfo};
	struct place p = {.dwfl = dwfl_begin(&callbacks)};

	if (!p.dwfl || dwfl_linux_proc_report(p.dwfl, thread) || dwfl_report_end(p.dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(p.dwfl, thread, true)) {
		fprintf(stderr, "witness: %s\n", dwfl_errmsg(-1));
		exit(98);
	}
	fputs(dwfl_getthread_frames(p.dwfl, thread, on_frame, &p) == 0 ? ".\n" : "\n", out);
	dwfl_end(p.dwfl);
}

/* A stop that is no end. Returns the signal that the thread gets. */
static int take_stop(pid_t thread, int status)
{
	struct user_regs_struct regs;
	int number = WSTOPSIG(status);

	if (number == SIGSTOP || status >> 16)
		return 0;
	if (number != SIGTRAP || ptrace(PTRACE_GETREGS, thread, NULL, &regs) || regs.rax != LOOK)
		return number;
	tell_path(thread);
	return 0;
}

int main(int argc, char **argv)
{
	int status;
	pid_t child, thread;
	long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;

	if (argc < 3 || !(out = fopen(argv[1], "a")))
		return 2;
	if (!(child = fork())) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[2], argv + 2);
		_exit(97);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, options);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	while ((thread = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, thread, NULL, (void *)(long)take_stop(thread, status));
		else if (thread == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
	}
	return 98;
}
