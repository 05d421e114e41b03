/* SPDX-License-Identifier: BSD-3-Clause
 * filter - runs a command under a seccomp filter that refuses, or kills for, calls that few programs make, or without
 * the right to make memory executable
 *
 *     filter refuse|kill|deny NUMBER... -- COMMAND...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter code[256] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
	struct sock_fprog program = {.filter = code};
	unsigned n = 1,
		 action = argc > 1 && !strcmp(argv[1], "kill") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
	int i = 2;

	for (; i < argc && strcmp(argv[i], "--") && n < 250; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(argv[i]), 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	if (argc > 1 && !strcmp(argv[1], "deny") &&
	    prctl(65, 1, 0, 0, 0)) /* PR_SET_MDWE, of Linux 6.3; PR_MDWE_REFUSE_EXEC_GAIN */
		fprintf(stderr, "not with this kernel\n");
	if (i + 1 >= argc || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("filter");
		return 125;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
