/* SPDX-License-Identifier: BSD-3-Clause
 * endless - call paths and strings without end: endless [PATHS [DEPTH [STRINGS [AFTER]]]]
 *
 * Each of PATHS calls comes along another path of DEPTH frames. Then come STRINGS long strings, until memory is used
 * up, and at last functions that it has not called before, AFTER times each: there cannot even be a place for them. Any
 * number of ranks.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state = UINT64_C(88172645463325252);
static int calls;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * UINT64_C(0x2545f4914f6cdd1d) >> 33;
}

static __attribute__((noinline)) void left(int depth);

static __attribute__((noinline)) void right(int depth)
{
	int flag, n;
	if (depth > 0 && draw() & 1)
		left(depth - 1);
	else if (depth > 0)
		right(depth - 1);
	else if (draw() & 1)
		MPI_Comm_rank(MPI_COMM_WORLD, &n);
	else
		MPI_Iprobe(MPI_ANY_SOURCE, (int)draw() & 1023, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	__asm__ volatile("" ::: "memory"); /* no jump in place of the call */
}

static void left(int depth)
{
	int n;
	if (depth > 0 && draw() & 1)
		left(depth - 1);
	else if (depth > 0)
		right(depth - 1);
	else
		MPI_Type_size(MPI_INT, &n);
	__asm__ volatile("" ::: "memory");
}

static void strings(int n)
{
	char value[250];
	MPI_Info info;
	MPI_Info_create(&info);
	for (int i = 0; i < n; i++) {
		for (size_t k = 0; k + 1 < sizeof value; k++)
			value[k] = (char)('a' + draw() % 26);
		value[sizeof value - 1] = '\0';
		MPI_Info_set(info, "key", value);
	}
	MPI_Info_free(&info);
}

static void others(void)
{
	MPI_Request request[2];
	MPI_Status status[2];
	int out[4] = {1, 2, 3, 4}, in[4], n, flag;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Initialized(&flag);
	MPI_Irecv(in, 4, MPI_INT, 0, 7, MPI_COMM_SELF, &request[0]);
	MPI_Isend(out, 1 + calls % 4, MPI_INT, 0, 7, MPI_COMM_SELF, &request[1]);
	MPI_Waitall(2, request, status);
	MPI_Get_count(&status[0], MPI_INT, &n);
	MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	calls++;
}

int main(int argc, char **argv)
{
	int paths = argc > 1 ? atoi(argv[1]) : 3000, depth = argc > 2 ? atoi(argv[2]) : 240,
	    n = argc > 3 ? atoi(argv[3]) : 6000;
	int after = argc > 4 ? atoi(argv[4]) : 1000;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < paths; i++)
		left(depth);
	strings(n);
	for (int i = 0; i < after; i++)
		others();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	printf("%d calls\n", calls);
	return 0;
}
