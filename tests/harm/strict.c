/* SPDX-License-Identifier: BSD-3-Clause
 * strict - a program that makes no system call once MPI is initialised, and is killed for any but write and exit
 *
 * Calls of many call paths, whose record needs more memory than there was at first.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEEP = 3000 };

static __attribute__((noinline)) void go_down(int n)
{
	volatile char room[16];
	int size, rank;

	room[0] = (char)n;
	if (n > 0) {
		go_down(n - 1);
	} else {
		MPI_Comm_size(MPI_COMM_SELF, &size);
		MPI_Comm_rank(MPI_COMM_SELF, &rank);
	}
	room[1] = room[0];
}

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};

	MPI_Init(&argc, &argv);
	go_down(DEEP); /* the stack is there */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 3;
	for (int i = 0; i < DEEP; i++)
		go_down(i);
	_exit(write(1, "done\n", 5) != 5);
}
