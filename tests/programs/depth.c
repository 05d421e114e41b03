/* SPDX-License-Identifier: BSD-3-Clause
 * depth - how many bytes of its stack a signal's handler takes that calls MPI: those below the handler's own frame
 *
 * Linked with -z now: else what the loader takes to find a function at its first call is more than all the rest.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 65536, VISITS = 300 };

static volatile int which;
static char *frame;

static void handler(int number)
{
	int n;

	(void)number;
	frame = __builtin_frame_address(0);
	if (which == 0)
		MPI_Comm_rank(MPI_COMM_WORLD, &n);
	else if (which == 1)
		MPI_Comm_size(MPI_COMM_SELF, &n);
	else
		MPI_Initialized(&n);
}

int main(int argc, char **argv)
{
	char *stack = aligned_alloc(4096, SIZE);
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	long most = 0;

	MPI_Init(&argc, &argv);
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = SIZE}, NULL);
	sigaction(SIGUSR1, &a, NULL);
	for (which = 0; which < 3; which++)
		for (volatile int i = 0; i < VISITS; i++) {
			long untouched = 0;

			memset(stack, 0xa5, SIZE);
			raise(SIGUSR1);
			while (stack[untouched] == (char)0xa5)
				untouched++;
			if (frame - (stack + untouched) > most)
				most = frame - (stack + untouched);
		}
	printf("%ld\n", most);
	MPI_Finalize();
	return 0;
}
